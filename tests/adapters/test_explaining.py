"""Gathering the story of an entry and of a session, over stores in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.adapters.explaining import NoteStories, SessionTraces
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.domain.change import Change, Create, Replace, Retire, Together
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.history import SessionMark
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.note_story import NoteStory, Revision
from agent_memory.domain.run_log import LoggedAction, LoggedRun, LoggedSession, Machine
from agent_memory.domain.session_trace import SessionTrace
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Harness, Kind, Sensitivity
from agent_memory.errors import EntryNotFound, EntryProtected, Error, RecorderFailed, UsageInvalid
from defrag_requests import NOW_MS, stored
from stand_ins.dict_clock import DictClock
from stand_ins.dict_run_log import DictRunLog
from stand_ins.temporary_records import TemporaryUsageLedger
from stand_ins.temporary_store import TemporaryStore

FIRST = stored("Money is integer cents", kind=Kind.CONVENTION)
SECOND = stored("Cents, and no floats", kind=Kind.CONVENTION)
REVISION = Revision("abc1234", "2026-02-13T14:30:05+00:00", "Ada", "remember: cents")
NO_GIT = RecorderFailed("git log", 128, "it is damaged")


@define
class Told:
    """A store, a ledger and a log in memory, and what is told of them."""

    store: TemporaryStore = field(factory=TemporaryStore)
    ledger: TemporaryUsageLedger = field(factory=TemporaryUsageLedger)
    log: DictRunLog = field(factory=DictRunLog)
    caller: Caller = Caller()
    revisions: Result[tuple[Revision, ...], Error] = Success((REVISION,))

    def result(self, id: str) -> Result[NoteStory, Error]:
        clock = DictClock(NOW_MS)
        stories = NoteStories(self.store, self.ledger, self.log, clock, self.caller, lambda path, most: self.revisions)
        return stories.story(id)

    def story(self, id: str) -> NoteStory:
        return self.result(id).unwrap()

    def ran(self, number: int, *actions: LoggedAction, machine: Machine = "consolidate", **fields: Any) -> str:
        run_id = f"2026-02-1{number}T00-00-00.000Z_{number:06x}"
        run = LoggedRun(run_id, machine, NOW_MS + number, NOW_MS + number, "completed", "", tuple(actions))
        self.log.put_report(evolve(run, **fields)).unwrap()
        return run_id


@pytest.fixture
def told() -> Told:
    told = Told()
    told.store.apply([Create(FIRST.entry), Create(SECOND.entry)]).unwrap()
    return told


def merged(told: Told) -> MemoryEntry:
    """Both entries become one."""
    ids = (FIRST.meta.id, SECOND.meta.id)
    one = stored("Money is integer cents, no floats", aliases=ids, kind=Kind.CONVENTION).entry
    hashes = {id: told.store.read(id).unwrap().listed.content_hash for id in ids}
    changes: tuple[Change, ...] = (*(Retire(id, hashes[id]) for id in ids), Create(one))
    told.store.apply([Together("merge", changes)]).unwrap()
    return one


def test_reads_and_commits_are_told(told: Told) -> None:
    told.ledger.append(FIRST.meta.id, NOW_MS, "manual").unwrap()
    story = told.story(FIRST.meta.id)
    assert (story.standing.usage.count, story.standing.usage.last_at_ms) == (1, NOW_MS)
    assert story.revisions == (REVISION,)
    assert told.ledger.totals().unwrap()[FIRST.meta.id].count == 1


def test_a_merge_tells_what_went_in_and_every_earlier_id_leads_to_it(told: Told) -> None:
    one = merged(told)
    told.ran(1, LoggedAction("create", (), (FIRST.meta.id,), "Money"), LoggedAction("create", (), (SECOND.meta.id,)))
    told.ran(2, LoggedAction("create", (), ("id__zzzzzz",)))
    ids = (FIRST.meta.id, SECOND.meta.id)
    told.ran(3, LoggedAction("merge", ids, (one.meta.id,), "the same twice"), machine="defrag")
    for id in (one.meta.id, *ids):
        story = told.story(id)
        assert (story.asked, story.stored.meta.id) == (id, one.meta.id)
        assert [each.action.kind for each in story.chapters] == ["create", "create", "merge"]
        assert {each.meta.id for each in story.merged} == set(ids)


def test_an_archived_entry_is_told_with_the_run_that_archived_it(told: Told) -> None:
    told.store.delete(FIRST.meta.id).unwrap()
    undone = told.ran(1, LoggedAction("archive", (FIRST.meta.id,), (), "it expired"), machine="defrag")
    told.log.mark_undone(undone, "2026-02-19T00-00-00.000Z_ffffff", frozenset()).unwrap()
    story = told.story(FIRST.meta.id)
    assert (story.stored.listed.archived, story.standing.archived) == (True, True)
    assert [(each.action.words, each.run.undone_by) for each in story.chapters] == [
        ("it expired", "2026-02-19T00-00-00.000Z_ffffff")
    ]


def test_what_supersedes_it_and_what_it_supersedes(told: Told) -> None:
    old = told.store.read(FIRST.meta.id).unwrap()
    newer = evolve(SECOND.entry, meta=evolve(SECOND.meta, supersedes=(FIRST.meta.id,), updated_at_ms=NOW_MS))
    hash = told.store.read(SECOND.meta.id).unwrap().listed.content_hash
    told.store.apply([Replace(newer, hash), Retire(FIRST.meta.id, old.listed.content_hash, NOW_MS)]).unwrap()
    assert [each.meta.id for each in told.story(FIRST.meta.id).superseded_by] == [SECOND.meta.id]
    assert [each.meta.id for each in told.story(SECOND.meta.id).supersedes] == [FIRST.meta.id]


def test_its_tier_is_that_of_the_list_and_its_rivals_are_those_of_its_sections(told: Told) -> None:
    elsewhere = stored("Elsewhere", scope="github.com/acme/shop")
    here = stored("Here", scope="github.com/acme/lamp")
    pinned = stored("Pinned", pinned=True, promoted_by="person")
    others = [Create(each.entry) for each in (elsewhere, here, pinned)]
    hot = (elsewhere.meta.id, pinned.meta.id)
    told.store.apply(others, tiers=TierList(hot, (FIRST.meta.id,))).unwrap()
    assert told.story(FIRST.meta.id).standing.tier is Tier.WARM
    assert told.story(FIRST.meta.id).standing.weakest_hot is not None
    assert told.story(here.meta.id).standing.weakest_hot is None
    assert told.story(elsewhere.meta.id).standing.tier is Tier.HOT


def test_whether_a_defrag_has_seen_it(told: Told) -> None:
    assert told.story(FIRST.meta.id).standing.tiers_decided is False
    told.ran(1, machine="defrag")
    assert told.story(FIRST.meta.id).standing.tiers_decided is True
    assert told.story(FIRST.meta.id).standing.decided_since is True
    told.ran(2, LoggedAction("create", (), (SECOND.meta.id,)))
    assert told.story(SECOND.meta.id).standing.decided_since is False


def test_a_repository_that_cannot_be_asked_takes_only_its_part_away(told: Told) -> None:
    told.revisions = Failure(NO_GIT)
    story = told.story(FIRST.meta.id)
    assert story.revisions == ()
    assert "git log" in story.unread[0]


def test_an_agent_is_told_nothing_of_a_secret(told: Told) -> None:
    secret = stored("Vault", sensitivity=Sensitivity.SECRET)
    told.store.apply([Create(secret.entry)]).unwrap()
    assert told.story(secret.meta.id).standing.best is Tier.COLD
    told.caller = Caller(Harness.CODEX, "CODEX_THREAD")
    assert isinstance(told.result(secret.meta.id).failure(), EntryProtected)


def test_no_such_entry(told: Told) -> None:
    assert told.result("id__zzzzzz") == Failure(EntryNotFound("id__zzzzzz"))


# -- sessions ---------------------------------------------------------------------------------------------------------


def traces(told: Told, root: Path, session_id: str, deferred: tuple[Change, ...] = ()) -> tuple[SessionTrace, ...]:
    marks = SessionMarksFiles(root)
    found = SessionTraces(root, told.store, told.log, marks, lambda: Success(deferred), told.caller).find(session_id)
    return found.unwrap().traces


def test_marks_runs_and_sources_are_enough_without_an_inbox(told: Told, tmp_path: Path) -> None:
    mark = SessionMark(Harness.CLAUDE_CODE, "s-1", "r1", NOW_MS, 3, False, "builtin")
    SessionMarksFiles(tmp_path).put(mark).unwrap()
    seen = LoggedSession("claude-code", "s-1", "written", "", (FIRST.meta.id,), ("x: too long",))
    told.ran(1, sessions=(seen,))
    (trace,) = traces(told, tmp_path, "s-")
    assert (trace.harness, trace.session_id, trace.state, trace.mark) == ("claude-code", "s-1", "processed", mark)
    assert {each.meta.id for each in trace.entries} == {FIRST.meta.id, SECOND.meta.id}
    assert [each.seen for each in trace.runs] == [seen]


def test_notes_alone_name_a_session_that_was_never_captured(told: Told, tmp_path: Path) -> None:
    (trace,) = traces(told, tmp_path, "s-1")
    assert (trace.state, len(trace.entries)) == ("never-captured", 2)
    assert traces(told, tmp_path, "t") == ()


def test_what_waits_for_the_next_run_is_named(told: Told, tmp_path: Path) -> None:
    stale = told.store.read(FIRST.meta.id).unwrap().listed.content_hash
    (trace,) = traces(told, tmp_path, "s-1", (Replace(FIRST.entry, stale), Retire(SECOND.meta.id, stale)))
    assert trace.deferred == (FIRST.meta.id,)


def test_a_beginning_of_two_sessions_is_refused(told: Told, tmp_path: Path) -> None:
    told.ran(1, sessions=(LoggedSession("amp", "s-2", "skipped", "", (), ()),))
    marks = SessionMarksFiles(tmp_path)
    found = SessionTraces(tmp_path, told.store, told.log, marks, lambda: Success(()), told.caller).find("s-")
    assert found.failure() == UsageInvalid("s- begins the ids of 2 sessions: s-1, s-2", "Give more of it.")
