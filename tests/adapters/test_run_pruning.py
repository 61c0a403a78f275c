from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path

from returns.result import Result, Success

from agent_memory.adapters.records.run_files import RunLogFiles, prune_run_files
from agent_memory.domain.change import FileChange, FileState
from agent_memory.domain.instants import DAY_MS, iso_of
from agent_memory.domain.run_log import LoggedRun, Undoing
from agent_memory.domain.undo_run import Footprint, SectionChange
from agent_memory.errors import Error, PathRefused, RunNotFound
from agent_memory.formats.bookkeeping_json import FOOTPRINT
from faults import Killed, failing_on, killed_at, snapshot
from stand_ins.dict_clock import DictClock

NOW_MS = 1_800_000_000_000
NOTE = FileChange("topics/a id__a1b2c3.md", None, FileState(b"A", 1))
SECTION = SectionChange("/home/dana/AGENTS.md", None, "<!-- agent-memory:start -->")


def leave(root: Path, days: int) -> str:
    """A run of so many days ago, with all that a run leaves."""
    at_ms = NOW_MS - days * DAY_MS
    run_id = f"{iso_of(at_ms).replace(':', '-')}_abc{days:03}"
    directory = root / "runs" / run_id
    (directory / "replies").mkdir(parents=True)
    (directory / "replies" / "x.spent.json").write_text("{}")
    for number in (1, 2):
        (directory / f"footprint-{number}.json").write_text(FOOTPRINT.render(Footprint((NOTE,))))
    log = RunLogFiles(root)
    log.put_sections(run_id, [SECTION]).unwrap()
    log.put_report(LoggedRun(run_id, "defrag", at_ms, at_ms, "completed", "1 merged")).unwrap()
    return run_id


def prune(root: Path, **limits: int) -> Result[int, Error]:
    return prune_run_files(root, DictClock(NOW_MS), **limits)


def test_old_runs_keep_their_reports_and_ancient_ones_nothing(tmp_path: Path) -> None:
    new, old, ancient = leave(tmp_path, 1), leave(tmp_path, 200), leave(tmp_path, 500)
    (tmp_path / "runs/owed.json").write_text("[]")
    (tmp_path / "runs/notes of mine").mkdir()
    assert prune(tmp_path, keep_runs=1) == Success(2)
    assert not (tmp_path / "runs" / ancient).exists()
    assert sorted(each.name for each in (tmp_path / "runs" / old).iterdir()) == ["pruned", "report.json"]
    assert {each.run_id: each.kept for each in RunLogFiles(tmp_path).runs().unwrap()} == {new: True, old: False}
    assert (tmp_path / "runs/owed.json").exists()
    assert (tmp_path / "runs/notes of mine").exists()
    assert prune(tmp_path, keep_runs=1) == Success(0)


def test_nothing_to_prune_is_no_trouble(tmp_path: Path) -> None:
    assert prune(tmp_path) == Success(0)
    leave(tmp_path, 500)
    before = snapshot(tmp_path)
    assert prune(tmp_path) == Success(0)
    assert snapshot(tmp_path) == before


def test_what_is_half_done_stays_whole(tmp_path: Path) -> None:
    leave(tmp_path, 1)
    consolidating, tidying, undoing, undone = (leave(tmp_path, days) for days in (500, 501, 502, 503))
    (tmp_path / "runs" / consolidating / "checkpoint.json").write_text("{}")
    (tmp_path / "runs" / tidying / "defrag.json").write_text("{}")
    RunLogFiles(tmp_path).put_undoing(Undoing(undoing, undone, 0)).unwrap()
    assert prune(tmp_path, keep_runs=1) == Success(0)
    RunLogFiles(tmp_path).put_undoing(None).unwrap()
    assert prune(tmp_path, keep_runs=1) == Success(2)


def test_a_kill_at_any_point_never_leaves_half_a_footprint_that_passes_for_the_whole_p16(tmp_path: Path) -> None:
    halves = 0
    for k in count(1):
        root = tmp_path / str(k)
        leave(root, 1)
        old = leave(root, 200)
        whole = RunLogFiles(root).footprint(old)
        with killed_at(k) as counter, suppress(Killed):
            prune(root, keep_runs=1)
        found = RunLogFiles(root).footprint(old)
        assert found == whole or isinstance(found.failure(), RunNotFound), k
        halves += found != whole
        assert prune(root, keep_runs=1).map(bool) in (Success(True), Success(False))
        assert isinstance(RunLogFiles(root).footprint(old).failure(), RunNotFound)
        if not counter.struck:
            break
    assert halves > 5


def test_a_report_that_cannot_be_looked_at_does_not_go_with_the_details_p6(tmp_path: Path) -> None:
    leave(tmp_path, 1)
    old = leave(tmp_path, 200)
    with failing_on(f"{old}/report.json", "lstat", "stat"):
        prune(tmp_path, keep_runs=1)
    assert [each.run_id for each in RunLogFiles(tmp_path).runs().unwrap() if each.summary == "1 merged"][-1] == old


def test_a_link_for_runs_is_refused_p21(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    leave(outside, 900)
    leave(outside, 901)
    root = tmp_path / "root"
    root.mkdir()
    (root / "runs").symlink_to(outside / "runs")
    before = snapshot(outside)
    assert isinstance(prune(root, keep_runs=1).failure(), PathRefused)
    assert snapshot(outside) == before
