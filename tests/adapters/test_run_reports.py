"""The report that a consolidate run leaves in the log."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from agent_memory.adapters.records.run_files import RunLogFiles, RunRecordsFiles
from agent_memory.adapters.store.store_files import StoreFiles
from agent_memory.domain.change import Applied, Create, Receipt
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.queue import InboxEntry, Outcome, Pending, SessionFile
from agent_memory.domain.run import Run, Settled
from agent_memory.domain.run_log import LoggedAction, LoggedRun
from agent_memory.domain.vocabulary import Harness
from stand_ins.dict_clock import DictClock
from stand_ins.dict_locks import DictLocks

RUN_ID = "2026-02-13T14-30-05.123Z_4dbfbe"
RUN = Run(RUN_ID, 1_770_993_005_123)


def applied(id: str, act: str = "create") -> Applied:
    return Applied(id, act, f"topics/{id}.md", (f"topics/{id}.md",), None, "0", f"Note {id}")


def settled(*done: Applied) -> Settled:
    entry = InboxEntry(1_770_993_005_000, Harness.CLAUDE_CODE, SessionFile("claude-code-session", "s1"))
    outcome = Outcome("written", RUN_ID, 1_770_993_006_000, tuple(each.id for each in done), dropped=("b: too long",))
    return Settled(Pending(entry, "a.json", ("a.json",)), outcome, receipt=Receipt(done))


def logged(root: Path, run: Run) -> LoggedRun:
    RunRecordsFiles(root, DictClock(1_770_993_010_000)).finish(run, None).unwrap()
    (found,) = RunLogFiles(root).runs().unwrap()
    return found


def test_each_change_is_an_action_and_each_session_is_known(tmp_path: Path) -> None:
    made = settled(applied("id__aaaaaa"), applied("id__aaaaab", "retire"))
    report = logged(tmp_path, evolve(RUN, settled=(made,), warnings=("git is away",)))
    assert report.actions == (
        LoggedAction("create", (), ("id__aaaaaa",), "Note id__aaaaaa"),
        LoggedAction("retire", ("id__aaaaab",), (), "Note id__aaaaab"),
    )
    (session,) = report.sessions
    assert (session.harness, session.session_id, session.verdict) == ("claude-code", "s1", "written")
    assert (report.dropped, report.warnings) == (("b: too long",), ("git is away",))
    assert report.summary == "1 session processed, 1 entry written, 1 archived"


def test_what_earlier_runs_had_to_leave_is_part_of_it(tmp_path: Path) -> None:
    assert logged(tmp_path, evolve(RUN, taken_up=(applied("id__aaaaaa", "replace"),))).changed_ids == {"id__aaaaaa"}


def test_a_resumed_run_tells_of_the_sessions_before_its_interruption_too(tmp_path: Path) -> None:
    store = StoreFiles(tmp_path, DictLocks())
    for letter in "ab":
        meta = Meta(f"id__aaaaa{letter}", f"Note {letter}", 1_770_993_005_123, 1_770_993_005_123)
        store.apply([Create(MemoryEntry(meta, "Words."))], run_id=RUN_ID).unwrap()
    resumed = evolve(RUN, resumed=True, settled=(settled(applied("id__aaaaab")),))
    report = logged(tmp_path, resumed)
    assert [each.new_ids for each in report.actions] == [("id__aaaaaa",), ("id__aaaaab",)]
    assert report.kept
