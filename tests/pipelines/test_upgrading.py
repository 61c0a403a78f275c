"""Asking a command to look again at what the built-in consolidated: which sessions, and what may come in between."""

from __future__ import annotations

from collections.abc import Iterator

from returns.result import Failure, Result, Success

from agent_memory.config import BUILTIN
from agent_memory.errors import Error, StateCorrupt, StoreIo
from agent_memory.note.note import Harness, MemoryEntry, Meta, Source
from agent_memory.pipelines.backfill import Upgrades, ask_again, plan_upgrades
from agent_memory.rules.change import Change
from agent_memory.session.history import SessionMark
from agent_memory.session.queue import UPGRADE_EVENT, Context, InboxEntry
from pipelines.consolidate_world import NOON_MS
from stand_ins.dict_clock import DictClock
from stand_ins.temporary_records import TemporaryInbox, TemporarySessionMarks
from stand_ins.temporary_store import TemporaryStore

CLAUDE = Harness.CLAUDE_CODE


def mark(session_id: str, agent: str = BUILTIN, harness: Harness = CLAUDE, at_ms: int | None = NOON_MS) -> SessionMark:
    return SessionMark(harness, session_id, "record-1", at_ms, 1, False, agent)


class DamagedMarks(TemporarySessionMarks):
    """Some of them are no marks."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[Error] = []

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        yield from map(Failure, self.errors)
        yield from super().all()


def marks_of(*marks: SessionMark) -> DamagedMarks:
    found = DamagedMarks()
    for each in marks:
        found.put(each).unwrap()
    return found


def store_of(*sources: Source) -> TemporaryStore:
    store = TemporaryStore()
    meta = Meta("id__aaaaaa", "Ports", NOON_MS, NOON_MS, sources=sources)
    store.apply([Change.of(MemoryEntry(meta, "Words."))]).unwrap()
    return store


def planned(
    marks: TemporarySessionMarks, inbox: TemporaryInbox | None = None, store: TemporaryStore | None = None
) -> Upgrades:
    return plan_upgrades(inbox or TemporaryInbox(), marks, store or store_of(), DictClock(NOON_MS + 5)).unwrap()


def sessions(upgrades: Upgrades) -> list[str]:
    return [entry.retrieval.session_id for entry in upgrades.entries if hasattr(entry.retrieval, "session_id")]


def test_sessions_of_the_builtin_are_asked_about_oldest_first_and_no_others() -> None:
    marks = marks_of(
        mark("late", at_ms=NOON_MS + 2), mark("early"), mark("dated-now", at_ms=None), mark("judged", "scripted")
    )
    assert sessions(planned(marks)) == ["early", "late", "dated-now"]


def test_a_damaged_mark_is_told_and_hides_no_session_p6() -> None:
    marks = marks_of(mark("s1"))
    marks.errors.append(StateCorrupt("state/sessions/x.json", ("no",)))
    upgrades = planned(marks)
    assert sessions(upgrades) == ["s1"]
    assert ["state/sessions/x.json" in each for each in upgrades.warnings] == [True]


def test_a_place_that_no_entry_may_hold_costs_the_place_and_not_the_session_p21() -> None:
    store = store_of(Source(CLAUDE, "s1", cwd="not/absolute"))
    upgrades, inbox = planned(marks_of(mark("s1")), store=store), TemporaryInbox()
    assert upgrades.entries[0].context.cwd == "not/absolute"
    assert ask_again(inbox, upgrades) == Success(None)
    assert [entry.context for entry in inbox.entries.values()] == [Context(event=UPGRADE_EVENT)]


def test_a_full_disk_ends_it_and_the_next_one_goes_on_p5() -> None:
    full = StoreIo("inbox", "write to", "ENOSPC", "No space left on device")

    class FillsUp(TemporaryInbox):
        def put(self, entry: InboxEntry) -> Result[str, Error]:
            return Failure(full) if len(self.entries) == most else super().put(entry)

    marks, inbox, most = marks_of(mark("s1"), mark("s2")), FillsUp(), 1
    assert ask_again(inbox, planned(marks)) == Failure(full)
    upgrades = planned(marks, inbox)
    assert (len(upgrades.entries), upgrades.waiting) == (1, 1)
    most = 2
    assert ask_again(inbox, upgrades) == Success(None)
    assert planned(marks, inbox).waiting == 2
