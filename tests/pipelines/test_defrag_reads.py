"""What an analysis reads: every note that is still there as it was listed."""

from __future__ import annotations

import pytest
from attrs import evolve
from returns.result import Failure, Result

from agent_memory.errors import EntryChanged, EntryNotFound, EntryUnreadable, Error
from agent_memory.note.note import Listed, MemoryEntry, StoredEntry
from agent_memory.pipelines.defrag import notes_as_listed
from agent_memory.rules.change import Change
from pipelines.defrag_world import DefragWorld, TidyingAgent
from stand_ins.temporary_store import TemporaryStore


class FaultyStore(TemporaryStore):
    """One in which a note is in trouble when it comes to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, Error] = {}

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        return Failure(self.errors[id]) if id in self.errors else super().read(id, archived=archived)

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        id = listed.meta.id
        return Failure(self.errors[id]) if id in self.errors else super().read_again(listed)


def _faulty() -> tuple[DefragWorld, FaultyStore, str, str]:
    store = FaultyStore()
    world = DefragWorld(TidyingAgent([]), store=store)
    one = world.note("Port of the lamp", "The lamp listens on port 8080.")
    return world, store, one, world.note("Owner of the lamp", "Ana owns the lamp.")


@pytest.mark.parametrize("error", [EntryNotFound("id__aaaaaa"), EntryChanged("id__aaaaaa")])
def test_a_note_that_went_away_meanwhile_is_not_missed(error: Error) -> None:
    world, store, one, other = _faulty()
    store.errors[one] = error
    missed: list[str] = []
    found = [each.meta.id for each in notes_as_listed(world.io(), store.list().unwrap().entries, missed)]
    assert (found, missed) == ([other], [])


def test_a_note_that_was_merged_into_another_meanwhile_is_read_once() -> None:
    world, store, one, other = _faulty()
    listed = store.list().unwrap().entries
    gone = store.read(one).unwrap()
    into = store.read(other).unwrap()
    merged = MemoryEntry(evolve(into.meta, aliases=(one,)), into.body)
    changes = (Change.retire(one, gone.listed.content_hash), Change.of(merged, into.listed.content_hash))
    assert len(store.apply(changes).unwrap().applied) == 2
    missed: list[str] = []
    assert [each.meta.id for each in notes_as_listed(world.io(), listed, missed)] == [other]
    assert missed == []


def test_a_note_that_cannot_be_read_is_named_and_hides_no_other_p6() -> None:
    world, store, one, other = _faulty()
    store.errors[one] = EntryUnreadable("topics/x.md", ("no frontmatter",))
    missed: list[str] = []
    found = [each.meta.id for each in notes_as_listed(world.io(), store.list().unwrap().entries, missed)]
    (words,) = missed
    assert found == [other]
    assert one in words
    assert "was left out" in words
