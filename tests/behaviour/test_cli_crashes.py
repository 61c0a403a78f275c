"""P3: the process is killed at its n-th call that changes the disk; the next run leaves what no crash would have left."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from claude_transcripts import Conversation
from memory_process import Memory
from tidying_homes import answering, copied, killed

pytestmark = pytest.mark.faults

REPLIES: list[dict[str, Any]] = [
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


@pytest.fixture
def template(tmp_path: Path) -> Memory:
    """A home with two captured sessions."""
    template = Memory(tmp_path / "template")
    template.home.mkdir()
    for session, said in (
        ("s1", "Deploys run from main, and the api listens on 9090."),
        ("s2", "Ruff before commits."),
    ):
        talk = Conversation(session).exchange(said)
        path = tmp_path / f"{session}.jsonl"
        path.write_bytes(talk.data)
        template.capture_session(session, path)
    answering(template, *REPLIES, capture={"transcriptRoots": [str(tmp_path)]})
    return template


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


def test_a_killed_consolidate_is_finished_by_the_next(template: Memory) -> None:
    sweep(template, 7, 35)


@pytest.mark.slow
def test_a_consolidate_killed_anywhere_is_finished_by_the_next(template: Memory) -> None:
    sweep(template, 1, 1)


def sweep(template: Memory, first: int, step: int) -> None:
    straight = copied(template, "as it should be")
    assert straight("consolidate").out.startswith("2 sessions processed, 3 notes written\n")
    expected = left(straight)
    assert len(list((straight.root / "histories").iterdir())) == 2
    for number, crashed in killed(template, "consolidate", first=first, step=step):
        finished = crashed("consolidate")
        assert finished.code == 0, (number, finished)
        assert left(crashed) == expected, (number, finished)
        assert len(crashed.prompts()) <= len(REPLIES) + 1, number


def test_a_killed_remember_is_all_or_nothing(template: Memory) -> None:
    said = "Tabs are preferred to spaces."
    for _, crashed in killed(template, "remember", said, first=1, step=12):
        assert crashed("list", "--json").err == ""
        assert len(crashed.titles()) <= 1
        assert crashed("remember", said).code == 0
        assert crashed.titles() == [said]
        assert crashed("consolidate").code == 0
        crashed.log()
