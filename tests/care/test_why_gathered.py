"""Gathering the story of an entry and of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from returns.result import Result, Success

from agent_memory.caller import Caller
from agent_memory.care.why_note import NoteHistory, note_history
from agent_memory.care.why_session import find_sessions
from agent_memory.errors import Error
from agent_memory.note.note import Kind, Tier, TierList
from agent_memory.recall.reading import Reading
from agent_memory.rules.change import Change
from agent_memory.rules.run_log import LoggedAction, LoggedRun, Machine, Revision
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.store.run_files import RunLog
from defrag_requests import NOW_MS, stored
from stand_ins.dict_clock import DictClock
from stand_ins.temporary_records import TemporaryUsageLedger
from stand_ins.temporary_store import TemporaryStore

FIRST = stored("Money is integer cents", kind=Kind.CONVENTION)
SECOND = stored("Cents, and no floats", kind=Kind.CONVENTION)
REVISION = Revision("abc1234", "2026-02-13T14:30:05+00:00", "Ada", "remember: cents")


@define
class Told:
    """A store, a ledger and a log in memory, and what is told of them."""

    store: TemporaryStore = field(factory=TemporaryStore)
    ledger: TemporaryUsageLedger = field(factory=TemporaryUsageLedger)
    caller: Caller = Caller()
    revisions: Result[tuple[Revision, ...], Error] = Success((REVISION,))

    def result(self, id: str) -> Result[NoteHistory, Error]:
        return note_history(id, self.reading, self.log, lambda path, most: self.revisions, lambda _: ())

    @property
    def log(self) -> RunLog:
        return RunLog(self.store.root)

    @property
    def reading(self) -> Reading:
        return Reading(self.store, self.ledger, DictClock(NOW_MS), self.caller)

    def story(self, id: str) -> NoteHistory:
        return self.result(id).unwrap()

    def ran(self, number: int, *actions: LoggedAction, machine: Machine = "consolidate", **fields: Any) -> str:
        run_id = f"2026-02-1{number}T00-00-00.000Z_{number:06x}"
        run = LoggedRun(run_id, machine, NOW_MS + number, NOW_MS + number, "completed", "", tuple(actions))
        self.log.put_report(evolve(run, **fields)).unwrap()
        return run_id


@pytest.fixture
def told() -> Told:
    told = Told()
    told.store.apply([Change.of(FIRST.entry), Change.of(SECOND.entry)]).unwrap()
    return told


def test_its_tier_is_that_of_the_list_and_its_rivals_are_those_of_its_sections(told: Told) -> None:
    elsewhere = stored("Elsewhere", scope="github.com/acme/shop")
    here = stored("Here", scope="github.com/acme/lamp")
    pinned = stored("Pinned", pinned=True, promoted_by="person")
    others = [Change.of(each.entry) for each in (elsewhere, here, pinned)]
    hot = (elsewhere.meta.id, pinned.meta.id)
    told.store.apply(others, tiers=TierList(hot, (FIRST.meta.id,))).unwrap()
    assert told.story(FIRST.meta.id).tier.tier is Tier.WARM
    assert told.story(elsewhere.meta.id).tier.tier is Tier.HOT
    told.ran(1, machine="defrag")
    assert "the lowest score among them" in told.story(FIRST.meta.id).tier.reasons[-1]
    assert "the lowest score among them" not in told.story(here.meta.id).tier.reasons[-1]


def test_what_waits_for_the_next_run_is_named(told: Told, tmp_path: Path) -> None:
    stale = told.store.read(FIRST.meta.id).unwrap().listed.content_hash
    deferred: tuple[Change, ...] = (Change.of(FIRST.entry, stale), Change.retire(SECOND.meta.id, stale))
    marks = SessionMarks(tmp_path)
    found = find_sessions("s-1", tmp_path, told.reading, told.log, marks, lambda: Success(deferred)).unwrap()
    assert [each.deferred for each in found.sessions] == [(FIRST.meta.id,)]
