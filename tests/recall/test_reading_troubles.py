"""Looking at entries while one of them cannot be read: the answer says so (P6)."""

from __future__ import annotations

import pytest
from returns.result import Failure, Result

from agent_memory.caller import Caller
from agent_memory.errors import EntryNotFound, Error, StoreIo
from agent_memory.note.note import Kind, Listed, MemoryEntry, Meta, StoredEntry
from agent_memory.recall.reading import ListFilter, Reading
from agent_memory.rules.change import Change
from stand_ins.dict_clock import DictClock
from stand_ins.temporary_records import TemporaryUsageLedger
from stand_ins.temporary_store import TemporaryStore

ONE, OTHER = "id__aaaaaa", "id__bbbbbb"
TORN = StoreIo("topics/other.md", "read", "EIO", "Input/output error")
GONE = EntryNotFound(OTHER)


class Troubled(TemporaryStore):
    """The other entry is listed, and cannot be read."""

    def __init__(self, trouble: Error) -> None:
        super().__init__()
        self.trouble = trouble

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        return Failure(self.trouble) if listed.meta.id == OTHER else super().read_again(listed)


def reading(trouble: Error) -> Reading:
    store = Troubled(trouble)
    for id in (ONE, OTHER):
        meta = Meta(id, f"Note {id}", 1_000, 2_000, kind=Kind.TASK)
        store.apply([Change.of(MemoryEntry(meta, f"- [ ] see [[{ONE}]]"))]).unwrap()
    return Reading(store, TemporaryUsageLedger(), DictClock(3_000), Caller())


@pytest.mark.parametrize(("trouble", "count"), [(TORN, 1), (GONE, 0)])
def test_what_is_open_in_a_note_that_cannot_be_read_is_told_p6(trouble: Error, count: int) -> None:
    found = reading(trouble).list(ListFilter(is_open=True)).unwrap()
    assert [each.listed.meta.id for each in found.entries] == [ONE]
    assert len(found.unreadable) == count
    assert all("Input/output error" in each.problems[0] for each in found.unreadable)


@pytest.mark.parametrize(("trouble", "count"), [(TORN, 1), (GONE, 0)])
def test_what_links_in_a_note_that_cannot_be_read_is_told_p6(trouble: Error, count: int) -> None:
    of = reading(trouble)
    sheet = of.links(ONE).unwrap()
    assert [each.id for each in sheet.outgoing] == [ONE]
    assert len(sheet.unreadable) == count
    assert of.links(OTHER).unwrap().unreadable == (), "a note that links to nothing of it is not read"
