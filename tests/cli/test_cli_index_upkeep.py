"""No search answers from half an index where a minute's patience would do: runs leave it whole, and a person waits for it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from agent_memory import app
from agent_memory.cli.main import main
from agent_memory.recall import searching
from agent_memory.recall.note_index import note_index
from agent_memory.store import store_database
from memory_process import Memory

ID = "id__{:06d}"


class Terminal(io.StringIO):
    """A stream at which a person looks."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory(home)


def write_notes(root: Path, count: int) -> None:
    (root / "topics").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        id = ID.format(number).replace("0", "z")
        (root / "topics" / f"zebra {number} -- {id}.md").write_text(
            f"---\nid: {id}\ntitle: Zebra {number}\ncreatedAt: 1771000205123\n---\nThe lock of zebra {number}.\n"
        )


def left_to_read(root: Path) -> int:
    """Files that a search would have to take in."""
    index = note_index(root)
    done = index.refresh().unwrap()
    index.close()
    return done.read


def test_the_control_a_store_that_no_command_looked_at_is_not_in_the_index(root: Path) -> None:
    write_notes(root, 3)
    assert left_to_read(root) == 3


@pytest.mark.parametrize("words", [("consolidate",), ("defrag",)], ids=str)
def test_a_run_leaves_the_index_whole(memory: Memory, words: tuple[str, ...]) -> None:
    memory.remembered("The api listens on 8081.")
    write_notes(memory.root, 3)
    done = memory(*words)
    assert done.code == 0, done
    assert left_to_read(memory.root) == 0


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "pipe"])
def test_a_person_waits_for_the_index_and_a_pipe_does_not(
    root: Path, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    write_notes(root, 3)
    monkeypatch.setattr(searching, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(app, "WORTH_TELLING", 3)
    monkeypatch.setattr(store_database, "_GRAIN_NS", -(10**15))  # as if written long ago
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal if is_terminal else io.StringIO
    out, err = stream(), stream()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert main(["search", "zebra", "--mode", "bm25"]) == 0
    assert ("Indexing 3 notes for search" in err.getvalue()) is is_terminal
    assert ("3 changed files are not in the index yet" in err.getvalue()) is not is_terminal
    assert ("Zebra 2" in out.getvalue()) is is_terminal
