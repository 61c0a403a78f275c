from __future__ import annotations

from pathlib import Path

import pytest
from returns.result import Success

from agent_memory import Memory, inject as injecting, open_memory
from agent_memory.note.note import Listed, MemoryEntry, Meta, Origin, StoredEntry
from agent_memory.recall.search_values import Mode, SearchAnswer, SearchHit

PROMPT = "Where does the zebra keep its lock file?"
UNREAD = "1 file was not searched, since it could not be read."


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def memory(tmp_path: Path, told: list[str]) -> Memory:
    environ = {"HOME": str(tmp_path), "AGENT_MEMORY_ROOT": str(tmp_path / "memories")}
    return open_memory(environ, tmp_path, told.append).unwrap()


def note(title: str, superseded_by: str | None = None) -> SearchHit:
    meta = Meta("id__zebra1", title, created_at_ms=1, updated_at_ms=1, origin=Origin.USER)
    entry = MemoryEntry(meta, "The zebra keeps its lock file beside the door.")
    stored = StoredEntry(Listed(meta, "topics/zebra.md", ""), entry.body)
    return SearchHit(stored, 1.0, superseded_by=superseded_by)


def answer(hits: tuple[SearchHit, ...], *notices: str) -> Success[SearchAnswer]:
    return Success(SearchAnswer(hits, Mode.BM25, notices))


@pytest.mark.parametrize("superseded", [(), (note("A zebra and its lock file", "id__newer1"),)])
def test_what_could_not_be_read_is_not_nothing_to_say_p6(
    memory: Memory, told: list[str], monkeypatch: pytest.MonkeyPatch, superseded: tuple[SearchHit, ...]
) -> None:
    monkeypatch.setattr(Memory, "search", lambda *_: answer(superseded))
    assert injecting.find_relevant(memory, PROMPT) == Success(())
    assert told == []
    monkeypatch.setattr(Memory, "search", lambda *_: answer(superseded, UNREAD))
    assert injecting.find_relevant(memory, PROMPT) == Success(())
    assert told == [UNREAD]


def test_what_can_be_shown_is_shown_whatever_else_could_not_be_read(
    memory: Memory, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Memory, "search", lambda *_: answer((note("Lock file of the zebra"),), UNREAD))
    (passage,) = injecting.find_relevant(memory, PROMPT).unwrap()
    assert (passage.id, told) == ("id__zebra1", [])
