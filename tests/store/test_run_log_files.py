"""What runs leave: the log, records of a run at work, and what of them is pruned."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, PathRefused, RunNotFound, StateCorrupt, StoreIo
from agent_memory.rules.change import FileChange, FileState, Footprint, SectionChange
from agent_memory.rules.run import KeptReply
from agent_memory.rules.run_log import LoggedAction, LoggedRun, RunKind, Undoing
from agent_memory.store import run_files
from agent_memory.store.bookkeeping import FOOTPRINT
from agent_memory.store.run_files import (
    DEFRAG_CHECKPOINT,
    ConsolidateRecords,
    DefragRecords,
    RunLog,
)
from agent_memory.store.run_json import render_report
from agent_memory.text.instants import DAY_MS, iso_of
from faults import each_failure, each_kill, failing_at, snapshot
from stand_ins.dict_clock import DictClock

FIRST, SECOND = (f"2026-02-1{day}T14-30-05.123Z_{day}dbfbe" for day in (3, 4))
NOTE = FileChange("topics/a id__a1b2c3.md", None, FileState(b"A", 1))
SECTION = SectionChange("/home/dana/AGENTS.md", None, "<!-- agent-memory:start -->", "\n", False)


def leave_part(root: Path, run_id: str, number: int = 1) -> None:
    """A footprint, as a store leaves it."""
    path = root / f"runs/{run_id}/footprint-{number}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FOOTPRINT.render(Footprint((NOTE,))))


def run(run_id: str, *ids: str, machine: RunKind = "consolidate", undid: str | None = None) -> LoggedRun:
    actions = tuple(LoggedAction("replace", (id,), (), f"Note {id}") for id in ids)
    return LoggedRun(run_id, machine, 1_770_993_005_123, 1_770_993_006_000, "completed", "done", actions, undid=undid)


def test_what_is_known_of_a_section_stays_p16(tmp_path: Path) -> None:
    log, other = RunLog(tmp_path), evolve(SECTION, path="/home/dana/CLAUDE.md")
    log.put_sections(FIRST, [SECTION]).unwrap()
    log.put_sections(FIRST, [evolve(SECTION, before=SECTION.after, after="newer"), other]).unwrap()
    assert log.footprint(FIRST).unwrap().sections == (SECTION, other)


def test_a_damaged_report_is_a_run_with_problems_p6(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.put_report(run(FIRST)).unwrap()
    log.put_report(run(SECOND)).unwrap()
    (tmp_path / f"runs/{SECOND}/report.json").write_text("{")
    damaged, whole = log.runs().unwrap()
    assert (damaged.run_id, damaged.result) == (SECOND, "unreadable")
    assert "not JSON" in damaged.problems[0]
    assert whole == run(FIRST)


def test_a_run_without_a_report_shows_what_it_changed_so_far(tmp_path: Path) -> None:
    leave_part(tmp_path, FIRST)
    (found,) = RunLog(tmp_path).runs().unwrap()
    assert (found.result, found.machine, found.kept) == ("unfinished", "other", True)
    assert found.changed_ids == {"id__a1b2c3"}
    (tmp_path / f"runs/{FIRST}" / DEFRAG_CHECKPOINT).write_text("{}")
    assert [each.machine for each in RunLog(tmp_path).runs().unwrap()] == ["defrag"]


def test_a_lost_part_of_a_footprint_is_an_error_and_not_half_of_it_p16(tmp_path: Path) -> None:
    for number in (1, 3):
        leave_part(tmp_path, FIRST, number)
    assert isinstance(RunLog(tmp_path).footprint(FIRST).failure(), StateCorrupt)


def test_no_link_is_followed_p21(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "report.json").write_text(render_report(run(FIRST)))
    root = tmp_path / "root"
    (root / "runs").mkdir(parents=True)
    (root / f"runs/{FIRST}").symlink_to(outside)
    assert isinstance(RunLog(root).footprint(FIRST).failure(), PathRefused | RunNotFound)
    before = snapshot(outside)
    assert isinstance(RunLog(root).put_sections(FIRST, [SECTION]).failure(), PathRefused)
    assert snapshot(outside) == before


def test_a_run_that_cannot_be_looked_at_is_unreadable_and_not_missing_p6(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.put_report(run(FIRST)).unwrap()
    leave_part(tmp_path, SECOND)
    whole = log.runs().unwrap()
    assert [each.result for each in whole] == ["unfinished", "completed"]
    told = 0
    for k, failing in each_failure(errno.EIO):
        with failing:
            found = log.runs()
        runs = found.value_or(())
        assert isinstance(found, Failure) or [each.run_id for each in runs] == [SECOND, FIRST], k
        assert all(each.problems or each == known for each, known in zip(runs, whole, strict=False)), k
        told += any(each.result == "unreadable" for each in runs)
    assert told > 4


def test_a_dry_run_and_files_beside_the_runs_are_no_runs(tmp_path: Path) -> None:
    (tmp_path / f"runs/{FIRST}/replies").mkdir(parents=True)
    (tmp_path / "runs/spend.json").write_text("{}")
    (tmp_path / "runs/.hidden").mkdir()
    assert RunLog(tmp_path).runs() == Success(())


# -- records of a run at work: what cannot be looked at is never taken for missing (P6) --------------------------------


REFUSED = (errno.EACCES, errno.EIO)


@pytest.mark.parametrize("number", REFUSED)
def test_a_reply_that_was_paid_for_is_not_missing_because_nobody_may_look(tmp_path: Path, number: int) -> None:
    replies = ConsolidateRecords(tmp_path, DictClock())
    reply = KeptReply("{}", "nonce", "0" * 64, {})
    replies.keep_reply(FIRST, "key", reply).unwrap()
    assert replies.find_reply("key").unwrap() is not None
    with failing_at(1, number, once=True):
        assert isinstance(replies.find_reply("key").failure(), StoreIo)
    with failing_at(1, number, once=True):
        assert isinstance(replies.drop_reply("key").failure(), StoreIo)
    assert replies.find_reply("key").unwrap() is not None


@pytest.mark.parametrize("number", REFUSED)
def test_a_checkpoint_is_not_missing_because_nobody_may_look(tmp_path: Path, number: int) -> None:
    (tmp_path / "runs" / FIRST).mkdir(parents=True)
    for records in (ConsolidateRecords(tmp_path, DictClock()), DefragRecords(tmp_path, DictClock())):
        with failing_at(1, number, once=True):
            assert isinstance(records.unfinished(), Failure)
        with failing_at(1, number, once=True):
            assert isinstance(records.put_deferred(()), Failure)
        assert records.put_deferred(()) == Success(None)
        assert records.unfinished() == Success(None)


# -- replies that were paid for ----------------------------------------------------------------------------------------


REPLY = KeptReply("the lamp is green", "n1", "0" * 64, {"id__a1b2c3": "1" * 64})


@pytest.mark.parametrize("spent", [True, False])
def test_p28_nothing_of_a_dropped_reply_stays_on_disk(tmp_path: Path, spent: bool) -> None:
    replies = ConsolidateRecords(tmp_path, DictClock())
    replies.keep_reply("run-1", "key", REPLY)
    if spent:
        replies.spend_reply("key")
    assert [path for path in tmp_path.rglob("*") if path.is_file()], "positive control"
    assert replies.drop_reply("key") == Success(None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# -- pruning -----------------------------------------------------------------------------------------------------------


NOW_MS = 1_800_000_000_000


def leave(root: Path, days: int) -> str:
    """A run of so many days ago, with all that a run leaves."""
    at_ms = NOW_MS - days * DAY_MS
    run_id = f"{iso_of(at_ms).replace(':', '-')}_abc{days:03}"
    for number in (1, 2):
        leave_part(root, run_id, number)
    (root / f"runs/{run_id}/replies").mkdir()
    (root / f"runs/{run_id}/replies/x.spent.json").write_text("{}")
    log = RunLog(root)
    log.put_sections(run_id, [SECTION]).unwrap()
    log.put_report(LoggedRun(run_id, "defrag", at_ms, at_ms, "completed", "1 merged")).unwrap()
    return run_id


@pytest.fixture(autouse=True)
def _only_one_old_run_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_files, "KEEP_RUNS", 1)


def prune(root: Path) -> Result[int, Error]:
    return run_files.prune_run_files(root, DictClock(NOW_MS))


def test_old_runs_go_whole(tmp_path: Path) -> None:
    new, old = leave(tmp_path, 1), leave(tmp_path, 500)
    young = leave(tmp_path, 300)
    (tmp_path / "runs/owed.json").write_text("[]")
    (tmp_path / "runs/notes of mine").mkdir()
    assert prune(tmp_path) == Success(1)
    assert [each.run_id for each in RunLog(tmp_path).runs().unwrap()] == [new, young]
    assert not (tmp_path / "runs" / old).exists()
    assert (tmp_path / "runs/owed.json").exists()
    assert (tmp_path / "runs/notes of mine").exists()
    assert prune(tmp_path) == Success(0)


def test_what_is_half_done_stays_whole(tmp_path: Path) -> None:
    leave(tmp_path, 1)
    consolidating, tidying, undoing, undone = (leave(tmp_path, days) for days in (500, 501, 502, 503))
    (tmp_path / "runs" / consolidating / "checkpoint.json").write_text("{}")
    (tmp_path / "runs" / tidying / "defrag.json").write_text("{}")
    RunLog(tmp_path).put_undoing(Undoing(undoing, undone, 0)).unwrap()
    assert prune(tmp_path) == Success(0)
    RunLog(tmp_path).put_undoing(None).unwrap()
    assert prune(tmp_path) == Success(2)


def test_a_kill_at_any_point_never_leaves_half_a_footprint_that_passes_for_the_whole_p16(tmp_path: Path) -> None:
    halves = 0
    for k, dying in each_kill():
        root = tmp_path / str(k)
        leave(root, 1)
        old = leave(root, 400)
        whole = RunLog(root).footprint(old)
        with dying:
            prune(root)
        found = RunLog(root).footprint(old)
        assert found == whole or isinstance(found.failure(), RunNotFound), k
        halves += found != whole
        assert prune(root).map(bool) in (Success(True), Success(False))
        assert isinstance(RunLog(root).footprint(old).failure(), RunNotFound)
    assert halves > 5


def test_a_link_for_runs_is_refused_p21(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    leave(outside, 900)
    leave(outside, 901)
    root = tmp_path / "root"
    root.mkdir()
    (root / "runs").symlink_to(outside / "runs")
    before = snapshot(outside)
    assert isinstance(prune(root).failure(), PathRefused)
    assert snapshot(outside) == before
