"""P3: the process is killed at its n-th call that changes the disk; the next run leaves what no crash would have left."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from attrs import frozen

from claude_transcripts import Conversation
from memory_process import Done, Memory

pytestmark = pytest.mark.faults

ANSWERS = Path(__file__).parents[1] / "fixtures" / "agents" / "answers.py"

KILLER = """
import os
calls = 0
def counted(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        with open(os.environ["CALLS"], "w") as file:
            file.write(str(calls))
        if calls == int(os.environ["KILL_AT"]):
            os.kill(os.getpid(), 9)
        return function(*args, **kwargs)
    return call
for name in ("fsync", "replace", "rename", "link", "unlink", "mkdir"):
    setattr(os, name, counted(getattr(os, name)))
"""
"""A `sitecustomize`: it is in `memory` alone, since the agent command gets no PYTHONPATH and git is no Python."""

REPLIES = [
    {
        "when": "Ruff before commits.",
        "entries": [{"title": "Linters", "body": "Ruff runs first.", "kind": "convention", "tags": [], "turns": [1]}],
    },
    {
        "when": "Deploys run from main, and",
        "entries": [
            {"title": "Deploys", "body": "From main, see [[ref:p]].", "kind": "lesson", "tags": ["ci"], "turns": [1]},
            {"ref": "p", "title": "Ports", "body": "The api has 9090.", "kind": "fact", "tags": ["api"], "turns": [1]},
        ],
    },
]
"""What is kept of each session, whenever it is asked."""


@frozen
class Mortal:
    """A home in which a call of `memory` can be killed."""

    memory: Memory
    killer: Path

    def killed_at(self, number: int, *words: str) -> Done:
        environ = {"PYTHONPATH": str(self.killer), "KILL_AT": str(number), "CALLS": str(self.memory.home / "calls")}
        return self.memory(*words, environ=environ)

    def calls(self) -> int:
        return int((self.memory.home / "calls").read_text())


def mortal(parent: Path, number: int) -> Mortal:
    """A home with two captured sessions, the same but for its place."""
    home = parent / f"home{number}"
    shutil.copytree(parent / "template", home)
    killer = home / "killer"
    killer.mkdir()
    (killer / "sitecustomize.py").write_text(KILLER)
    memory = Memory(home)
    # Relative to the directory in which agent commands run, so that the command is the same in every home.
    agent = home / "agent"
    agent.mkdir()
    for place, reply in enumerate(REPLIES, 1):
        (agent / f"{place}.json").write_text(json.dumps(reply))
    memory.configure(
        llm={"command": shlex.join([sys.executable, str(ANSWERS), "../../../../agent"])},
        capture={"transcriptRoots": [str(parent)]},
    )
    return Mortal(memory, killer)


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    template = Memory(tmp_path / "template")
    template.home.mkdir()
    for session, said in (
        ("s1", "Deploys run from main, and the api listens on 9090."),
        ("s2", "Ruff before commits."),
    ):
        talk = Conversation(session)
        talk.user(said)
        talk.agent("Understood.")
        path = tmp_path / f"{session}.jsonl"
        path.write_bytes(b"\n".join(talk.lines) + b"\n")
        template.capture_session(session, path)
    return tmp_path


def left(memory: Memory) -> object:
    """All that a run leaves, but for the times at which it ran and the temporary files of a crash (`doctor --fix`)."""
    files = {
        str(path.relative_to(memory.root)): re.sub(r"(?m)^updatedAt: .*$", "updatedAt: *", path.read_text())
        for tree in ("topics", "archive", "state")
        for path in sorted((memory.root / tree).rglob("*"))
        if path.is_file() and not path.name.startswith(".tmp-")
    }
    kept = {path.name: path.read_bytes() for path in (memory.root / "histories").glob("[!.]*")}
    return files, kept, memory.pending(), sorted(memory.log()), memory.git("log", "--format=%(trailers:key=Thread-Id)")


def test_the_killer_kills(parent: Path) -> None:
    crashed = mortal(parent, 1)
    assert crashed.killed_at(1, "consolidate").code == -9
    assert crashed.calls() == 1


@pytest.mark.parametrize("part", range(2))
def test_a_killed_consolidate_is_finished_by_the_next(parent: Path, part: int) -> None:
    sweep(parent, part * 21 + 3, 42)


@pytest.mark.slow
def test_a_consolidate_killed_anywhere_is_finished_by_the_next(parent: Path) -> None:
    sweep(parent, 1, 1)


def sweep(parent: Path, first: int, step: int) -> None:
    straight = mortal(parent, 0)
    assert straight.killed_at(0, "consolidate").out.startswith("2 sessions processed, 3 notes written\n")
    expected = left(straight.memory)
    assert len(list((straight.memory.root / "histories").iterdir())) == 2
    numbers = range(first, straight.calls() + 1, step)
    assert numbers
    for number in numbers:
        crashed = mortal(parent, number)
        assert crashed.killed_at(number, "consolidate").code == -9
        finished = crashed.memory("consolidate")
        assert finished.code == 0, (number, finished)
        assert left(crashed.memory) == expected, (number, finished)
        asked = len(list((crashed.memory.home / "agent").glob("prompt-*.txt")))
        assert asked <= len(REPLIES) + 1, number
        shutil.rmtree(crashed.memory.home)


def test_a_killed_remember_is_all_or_nothing(parent: Path) -> None:
    straight = mortal(parent, 0)
    assert straight.killed_at(0, "remember", "Tabs are preferred to spaces.").code == 0
    for number in range(1, straight.calls() + 1, 9):
        crashed = mortal(parent, number)
        assert crashed.killed_at(number, "remember", "Tabs are preferred to spaces.").code == -9
        assert crashed.memory("list", "--json").err == ""
        assert len(crashed.memory.titles()) <= 1
        assert crashed.memory("remember", "Tabs are preferred to spaces.").code == 0
        assert crashed.memory.titles() == ["Tabs are preferred to spaces."]
        assert crashed.memory("consolidate").code == 0
        crashed.memory.log()
        shutil.rmtree(crashed.memory.home)
