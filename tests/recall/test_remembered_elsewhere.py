"""A process that lives on, beside another one that writes to the same store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Result, Success

from agent_memory.app import Memory, open_memory
from agent_memory.errors import Error
from agent_memory.recall.known_notes import KnownNotes, Near
from agent_memory.rules.drafts import NoteDraft
from agent_memory.rules.similarity import Subject

BERTH = "A berth of the north basin has a draught of two metres."


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[tuple[Memory, Memory]]:
    settings = tmp_path / ".config" / "agent-memory" / "config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"storage": {"autoCommit": False}}))
    environ = {"HOME": str(tmp_path), "AGENT_MEMORY_ROOT": str(tmp_path / "store"), "PATH": ""}
    first, second = (open_memory(environ, tmp_path, pytest.fail).unwrap() for _ in range(2))
    yield first, second
    for each in (first, second):
        each.index.close()


def test_what_another_process_stores_meanwhile_is_not_stored_twice(memories: tuple[Memory, Memory]) -> None:
    here, there = memories
    similar = here.service.remember(NoteDraft(BERTH)).unwrap().stored
    again = NoteDraft(f"{BERTH} It was measured at low tide.")
    stored = there.service.remember(again).unwrap()
    assert similar.meta.id in stored.stored.body

    class Before(KnownNotes):
        def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> Result[tuple[Near, ...], Error]:
            return Success((Near((similar,), (similar,)),))

    service = evolve(here.service, known=lambda: Before(here.store, here.index))
    found = service.remember(again).unwrap()
    assert found.existing
    assert found.stored == stored.stored
