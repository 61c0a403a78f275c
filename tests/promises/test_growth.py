"""What each further note costs a command where nothing has changed: a look from outside, and little that is interpreted."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.commands import light_commands, settled
from bench.engines import SETTLED_SECONDS
from bench.measure import Took
from bench.populated_home import PopulatedHome

from counted_steps import CountedMemory

FEW, MANY = 300, 1_200
MEMORY = str(Path(sys.executable).with_name("memory"))
MOST_STEPS = {
    "capture --hook": 1,
    "inject --hook, SessionStart": 40,
    "inject --hook, a prompt": 120,
    "search --mode bm25": 120,
    "search, by meaning too": 500,
    "list": 250,
    "read ID": 20,
    "status": 70,
    "generate-agents-md": 70,
    "doctor": 330,
    "defrag": 150,
}
"""For each further note. To parse one takes some thousands, to look at one from outside some forty, to print its line a hundred."""


def counted(directory: Path, notes: int) -> Mapping[str, int]:
    """Steps by command, in a store of so many notes."""
    directory.mkdir()
    home = PopulatedHome(directory / "home", MEMORY, notes)
    settled(home)
    (home.root / ".cache" / "listing-topics").unlink()  # written anew, it has all that was written meanwhile
    time.sleep(SETTLED_SECONDS)
    memory = CountedMemory(directory)
    steps: dict[str, int] = {}
    commands: Mapping[str, Callable[[], Took]] = {
        **light_commands(home),
        "generate-agents-md": lambda: home.call("generate-agents-md"),
        "doctor": home.examine,
        "defrag": lambda: home.call("defrag"),
    }
    for name, command in commands.items():
        home.memory = MEMORY
        command()  # takes in whatever it had not seen
        home.memory = str(memory.program)
        command()
        steps[name] = memory.steps()
    return steps


def test_what_a_further_note_costs(tmp_path: Path) -> None:
    few, many = (counted(tmp_path / str(notes), notes) for notes in (FEW, MANY))
    assert few.keys() == MOST_STEPS.keys()
    steps_a_note = {name: (many[name] - few[name]) / (MANY - FEW) for name in few}
    assert {name: steps for name, steps in steps_a_note.items() if steps > MOST_STEPS[name]} == {}


def test_what_is_done_with_each_note_is_seen(tmp_path: Path) -> None:
    """Positive control: to read each note anew is far beyond all of these."""
    few, many = (reading_all(tmp_path / str(notes), notes) for notes in (10, 40))
    assert (many - few) / 30 > max(MOST_STEPS.values())


def reading_all(directory: Path, notes: int) -> int:
    directory.mkdir()
    memory = CountedMemory(directory)
    PopulatedHome(directory / "home", str(memory.program), notes).call("list")
    return memory.steps()
