"""The database of a store is derived from its files: whatever becomes of it, and whoever wrote the store, no note is missing."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_process import Memory

DEMO = Path(__file__).parents[2] / "docs" / "demo" / "session.jsonl"
EARLIER = Path(__file__).parents[1] / "fixtures" / "earlier_store.json"
"""A store of the version before the database: its files by path. A run was killed in it between two renames."""


def database(memory: Memory) -> Path:
    return memory.root / ".cache" / "store.db"


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def overwritten(path: Path) -> None:
    path.write_bytes(b"This was never a database. " * 1000)


@pytest.mark.parametrize("ruin", [os.unlink, cut, emptied, overwritten])
def test_every_note_is_found_whatever_became_of_the_database(memory: Memory, ruin: Callable[[Path], object]) -> None:
    ids = [memory.remembered(f"Berth {number} has a lamp.") for number in range(3)]
    before = memory("search", "--mode", "bm25", "lamp", "--json").document
    ruin(database(memory))
    assert sorted(line[:10] for line in memory("list").out.splitlines()) == sorted(ids)
    assert memory("search", "--mode", "bm25", "lamp", "--json").document == before


def indexed(memory: Memory) -> int:
    with sqlite3.connect(database(memory)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM notes").fetchone()
    return int(count)


def test_the_index_is_renewed_by_what_writes_and_a_hook_reads_a_part_of_what_others_wrote(memory: Memory) -> None:
    written = memory.home / "written"
    written.mkdir()
    for number in range(310):
        (written / f"{number}.md").write_text(f"# Berth {number}\n\nIt has a lamp.\n")
    assert memory("import", "markdown", str(written), "--yes").code == 0
    assert indexed(memory) == 310
    database(memory).unlink()
    asked = {
        "session_id": "s",
        "cwd": str(memory.home),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Which berth has a lamp now?",
    }
    for count in (300, 310):
        assert memory("inject", "--harness", "claude-code", "--hook", data=json.dumps(asked).encode()).code == 0
        assert indexed(memory) == count


def test_of_ten_that_open_it_first_each_finds_every_note(memory: Memory) -> None:
    for number in range(10):
        memory.remembered(f"Berth {number} has a lamp.")
    database(memory).unlink()
    calls = [memory.start("search", "--mode", "bm25", "--json", "--limit", "20", "lamp") for _ in range(10)]
    said = [call.communicate() for call in calls]
    assert [call.returncode for call in calls] == [0] * 10, said
    assert [len(json.loads(out)["entries"]) for out, _ in said] == [10] * 10, said


def test_a_store_that_the_version_before_wrote_opens_and_its_unfinished_run_is_finished(memory: Memory) -> None:
    for name, text in json.loads(EARLIER.read_text("utf-8")).items():
        path = memory.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@HOME@", str(memory.home)), "utf-8")
    for name in ("listing-topics", "listing-archive", "search/index.db", "analysis", "pieces"):
        path = memory.root / ".cache" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"lamp")
    transcript = memory.home / ".claude/projects/demo/c29c5100-4b94-45e6-bd8c-ad7d7f3c7591.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(DEMO.read_text().replace("b19c5100", "c29c5100").replace("quota", "allowance"))
    notes = {note["id"]: note["tier"] for note in memory.notes()}
    assert len(notes) == 9
    assert (notes["id__naM5Ai"], notes["id__vD1rAT"]) == ("hot", "warm")
    assert {line[:10] for line in memory("list", "--archived").out.splitlines()} == {"id__epyZBm"}
    assert json.loads(memory("state", "get", "current_phase").out) == {"step": 3}
    assert len(memory("log", "--json").document["runs"]) == 2
    assert "An interrupted run was finished first: 1 session processed, 1 note written." in memory("consolidate").err
    assert memory("defrag").code == 0
    assert len(memory.notes()) == len(notes) + 1
    assert len(list((memory.root / "inbox" / ".processed").iterdir())) == 2
    assert {path.name for path in (memory.root / ".cache").iterdir()} == {"store.db", "store.db-journal"}
