"""`RunLog`: one contract, on disk and in memory."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from attrs import evolve, frozen
from returns.result import Failure, Success

from agent_memory.adapters.records.run_files import DEFRAG_CHECKPOINT, RunLogFiles
from agent_memory.domain.change import FileChange, FileState
from agent_memory.domain.run_log import LoggedAction, LoggedRun, Machine, Undoing, churning
from agent_memory.domain.undo_run import Footprint, SectionChange
from agent_memory.errors import AgentMissing, PathRefused, RunNotFound, StateCorrupt, StoreIo
from agent_memory.formats.bookkeeping_json import FOOTPRINT
from agent_memory.formats.run_json import render_report_document
from agent_memory.ports import RunLog
from faults import failing_at, snapshot
from stand_ins.dict_run_log import DictRunLog

FIRST, SECOND, THIRD = (f"2026-02-1{day}T14-30-05.123Z_{day}dbfbe" for day in (3, 4, 5))
NOTE = FileChange("topics/a id__a1b2c3.md", None, FileState(b"A", 1))
SECTION = SectionChange("/home/dana/AGENTS.md", None, "<!-- agent-memory:start -->", "\n", False)


@frozen
class Kept:
    """A log, and how a store leaves footprints for it."""

    log: RunLog
    root: Path | None

    def leave(self, run_id: str, *files: FileChange, number: int = 1) -> None:
        if self.root is None:
            assert isinstance(self.log, DictRunLog)
            before = self.log.footprints.get(run_id, Footprint())
            self.log.footprints = {**self.log.footprints, run_id: Footprint((*before.files, *files))}
        else:
            path = self.root / f"runs/{run_id}/footprint-{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(FOOTPRINT.render(Footprint(files)))


@pytest.fixture(params=["files", "dict"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(RunLogFiles(tmp_path), tmp_path) if request.param == "files" else Kept(DictRunLog(), None)


def run(run_id: str, *ids: str, machine: Machine = "consolidate", undid: str | None = None) -> LoggedRun:
    actions = tuple(LoggedAction("replace", (id,), (), f"Note {id}") for id in ids)
    return LoggedRun(run_id, machine, 1_770_993_005_123, 1_770_993_006_000, "completed", "done", actions, undid=undid)


class TestRuns:
    def test_a_log_without_runs_is_empty(self, kept: Kept) -> None:
        assert kept.log.runs() == Success(())
        assert kept.log.churning() == Success(frozenset())
        assert kept.log.undone() == Success(frozenset())

    def test_runs_come_newest_first(self, kept: Kept) -> None:
        for run_id in (SECOND, THIRD, FIRST):
            kept.log.put_report(run(run_id)).unwrap()
        assert [each.run_id for each in kept.log.runs().unwrap()] == [THIRD, SECOND, FIRST]
        assert [each.run_id for each in kept.log.runs(2).unwrap()] == [THIRD, SECOND]

    def test_a_run_is_what_was_reported_of_it(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST, "id__a1b2c3")).unwrap()
        assert kept.log.runs() == Success((run(FIRST, "id__a1b2c3"),))

    def test_a_report_twice_is_the_second(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST)).unwrap()
        kept.log.put_report(evolve(run(FIRST), result="failed"), AgentMissing("llm")).unwrap()
        (found,) = kept.log.runs().unwrap()
        assert (found.result, found.error) == ("failed", str(AgentMissing("llm")))

    @pytest.mark.parametrize("name", [FIRST, FIRST[:12], "3dbfbe", "3d"])
    def test_a_run_is_named_by_its_beginning_or_that_of_its_last_part(self, kept: Kept, name: str) -> None:
        for run_id in (FIRST, SECOND):
            kept.log.put_report(run(run_id)).unwrap()
        assert [each.run_id for each in kept.log.runs(named=name).unwrap()] == [FIRST]

    def test_no_run_has_another_name(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST)).unwrap()
        assert kept.log.runs(named="dbfbe") == Success(())


class TestFootprints:
    def test_a_run_that_left_none_is_not_found(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST)).unwrap()
        for run_id in (FIRST, SECOND, "..", ""):
            assert kept.log.footprint(run_id) == Failure(RunNotFound(run_id))
        assert not kept.log.runs().unwrap()[0].kept

    def test_all_of_a_runs_transactions_are_in_it_in_order(self, kept: Kept) -> None:
        later = FileChange("topics/a id__a1b2c3.md", NOTE.after, None)
        kept.leave(FIRST, NOTE)
        kept.leave(FIRST, later, number=2)
        kept.log.put_report(run(FIRST)).unwrap()
        assert kept.log.footprint(FIRST) == Success(Footprint((NOTE, later)))
        assert kept.log.runs().unwrap()[0].kept

    def test_sections_are_part_of_it(self, kept: Kept) -> None:
        kept.log.put_sections(FIRST, [SECTION]).unwrap()
        assert kept.log.footprint(FIRST) == Success(Footprint((), (SECTION,)))

    def test_what_is_known_of_a_section_stays_p16(self, kept: Kept) -> None:
        other = evolve(SECTION, path="/home/dana/CLAUDE.md")
        kept.log.put_sections(FIRST, [SECTION]).unwrap()
        kept.log.put_sections(FIRST, [evolve(SECTION, before=SECTION.after, after="newer"), other]).unwrap()
        assert kept.log.footprint(FIRST).unwrap().sections == (SECTION, other)

    def test_a_section_that_stays_as_it_is_is_no_change(self, kept: Kept) -> None:
        kept.log.put_sections(FIRST, [evolve(SECTION, before=SECTION.after)]).unwrap()
        assert kept.log.footprint(FIRST) == Failure(RunNotFound(FIRST))


class TestUndone:
    def test_a_run_that_was_undone_says_by_which(self, kept: Kept) -> None:
        for each in (run(FIRST), run(SECOND, machine="undo", undid=FIRST)):
            kept.log.put_report(each).unwrap()
        kept.log.mark_undone(FIRST, SECOND, frozenset({"f1"})).unwrap()
        assert {each.run_id: each.undone_by for each in kept.log.runs().unwrap()} == {FIRST: SECOND, SECOND: None}
        assert kept.log.undone() == Success(frozenset({"f1"}))

    def test_undoing_the_undo_makes_the_run_stand_again(self, kept: Kept) -> None:
        for each in (run(FIRST), run(SECOND, machine="undo", undid=FIRST), run(THIRD, machine="undo", undid=SECOND)):
            kept.log.put_report(each).unwrap()
        kept.log.mark_undone(FIRST, SECOND, frozenset({"f1"})).unwrap()
        kept.log.mark_undone(SECOND, THIRD, frozenset()).unwrap()
        assert {each.run_id: each.undone_by for each in kept.log.runs().unwrap()} == {
            FIRST: None,
            SECOND: THIRD,
            THIRD: None,
        }
        assert kept.log.undone() == Success(frozenset())

    def test_an_undo_at_work_is_known_until_it_is_done(self, kept: Kept) -> None:
        undoing = Undoing(SECOND, FIRST, 1_770_993_005_123)
        assert kept.log.undoing() == Success(None)
        kept.log.put_undoing(undoing).unwrap()
        assert kept.log.undoing() == Success(undoing)
        kept.log.put_undoing(None).unwrap()
        kept.log.put_undoing(None).unwrap()
        assert kept.log.undoing() == Success(None)


class TestChurn:
    def test_only_the_changes_of_runs_that_stand_count(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST, "id__a1b2c3")).unwrap()
        kept.log.put_report(run(SECOND, "id__d4e5f6", "id__a1b2c3")).unwrap()
        kept.log.put_report(run(THIRD, "id__a1b2c3", machine="undo", undid=SECOND)).unwrap()
        kept.log.mark_undone(SECOND, THIRD, frozenset()).unwrap()
        assert churning(kept.log.runs().unwrap(), at_least=1) == {"id__a1b2c3"}

    def test_an_entry_that_changed_in_three_of_the_last_ten_runs_churns(self, kept: Kept) -> None:
        for number in range(12):
            ids = ["id__a1b2c3"] if number in (1, 5, 9) else ["id__d4e5f6"] if number < 2 else [f"id__{number}"]
            kept.log.put_report(run(f"2026-02-13T14-30-{number:02}.123Z_dbfbe{number}", *ids)).unwrap()
        assert kept.log.churning() == Success(frozenset())
        kept.log.put_report(run("2026-02-14T14-30-00.123Z_dbfbe0", "id__a1b2c3")).unwrap()
        assert kept.log.churning() == Success(frozenset({"id__a1b2c3"}))

    def test_runs_that_changed_nothing_are_not_counted(self, kept: Kept) -> None:
        kept.log.put_report(run(FIRST, "id__a1b2c3")).unwrap()
        kept.log.put_report(run(SECOND)).unwrap()
        assert churning(kept.log.runs().unwrap(), of=1, at_least=1) == {"id__a1b2c3"}


class TestOnDisk:
    """What only files can go through."""

    def test_a_damaged_report_is_a_run_with_problems_p6(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        log.put_report(run(FIRST)).unwrap()
        log.put_report(run(SECOND)).unwrap()
        (tmp_path / f"runs/{SECOND}/report.json").write_text("{")
        damaged, whole = log.runs().unwrap()
        assert (damaged.run_id, damaged.result) == (SECOND, "unreadable")
        assert "not JSON" in damaged.problems[0]
        assert whole == run(FIRST)

    def test_a_report_of_another_name_is_the_directorys(self, tmp_path: Path) -> None:
        directory = tmp_path / f"runs/{SECOND}"
        directory.mkdir(parents=True)
        (directory / "report.json").write_text(render_report_document(run(FIRST)))
        assert [each.run_id for each in RunLogFiles(tmp_path).runs().unwrap()] == [SECOND]

    def test_a_dry_run_and_files_beside_the_runs_are_no_runs(self, tmp_path: Path) -> None:
        (tmp_path / f"runs/{FIRST}/replies").mkdir(parents=True)
        (tmp_path / "runs/spend.json").write_text("{}")
        (tmp_path / "runs/.hidden").mkdir()
        assert RunLogFiles(tmp_path).runs() == Success(())

    def test_a_run_without_a_report_shows_what_it_changed_so_far(self, tmp_path: Path) -> None:
        kept = Kept(RunLogFiles(tmp_path), tmp_path)
        kept.leave(FIRST, NOTE)
        (found,) = kept.log.runs().unwrap()
        assert (found.result, found.kept, found.started_at_ms) == ("unfinished", True, 1_770_993_005_123)
        assert found.changed_ids == {"id__a1b2c3"}

    def test_a_tidying_at_work_is_known_as_one(self, tmp_path: Path) -> None:
        kept = Kept(RunLogFiles(tmp_path), tmp_path)
        kept.leave(FIRST, NOTE)
        (tmp_path / f"runs/{FIRST}" / DEFRAG_CHECKPOINT).write_text("{}")
        assert [each.machine for each in kept.log.runs().unwrap()] == ["defrag"]

    def test_a_lost_part_of_a_footprint_is_an_error_and_not_half_of_it_p16(self, tmp_path: Path) -> None:
        kept = Kept(RunLogFiles(tmp_path), tmp_path)
        for number in (1, 2, 3):
            kept.leave(FIRST, NOTE, number=number)
        (tmp_path / f"runs/{FIRST}/footprint-2.json").unlink()
        assert isinstance(kept.log.footprint(FIRST).failure(), StateCorrupt)

    @pytest.mark.parametrize("name", ["footprint-1.json", "sections.json"])
    def test_a_damaged_footprint_is_an_error_p6(self, tmp_path: Path, name: str) -> None:
        kept = Kept(RunLogFiles(tmp_path), tmp_path)
        kept.leave(FIRST, NOTE)
        kept.log.put_sections(FIRST, [SECTION]).unwrap()
        path = tmp_path / f"runs/{FIRST}/{name}"
        path.write_bytes(path.read_bytes()[:-20])
        assert isinstance(kept.log.footprint(FIRST).failure(), StateCorrupt)

    def test_a_damaged_list_of_undone_runs_is_an_error_and_not_empty_p6(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        log.mark_undone(FIRST, SECOND, frozenset()).unwrap()
        (tmp_path / "runs/undone.json").write_text('{"version": 1, "runs": {"x": {}}}')
        for found in (log.undone(), log.runs(), log.mark_undone(THIRD, SECOND, frozenset())):
            assert isinstance(found.failure(), StateCorrupt)
        assert json.loads((tmp_path / "runs/undone.json").read_text())["runs"] == {"x": {}}

    def test_a_damaged_word_of_an_undo_at_work_is_an_error_p6(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        log.put_undoing(Undoing(SECOND, FIRST, 0)).unwrap()
        (tmp_path / "runs/undoing.json").write_text('{"version": 1, "run": ""}')
        assert isinstance(log.undoing().failure(), StateCorrupt)

    def test_no_link_is_followed_p21(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "report.json").write_text(render_report_document(run(FIRST)))
        root = tmp_path / "root"
        (root / "runs").mkdir(parents=True)
        (root / f"runs/{FIRST}").symlink_to(outside)
        assert isinstance(RunLogFiles(root).footprint(FIRST).failure(), PathRefused | RunNotFound)
        before = snapshot(outside)
        assert isinstance(RunLogFiles(root).put_sections(FIRST, [SECTION]).failure(), PathRefused)
        assert snapshot(outside) == before

    def test_a_listing_that_cannot_be_read_is_an_error_p6(self, tmp_path: Path) -> None:
        (tmp_path / "runs").mkdir()
        log = RunLogFiles(tmp_path)
        with failing_at(1, 5, once=False):
            assert isinstance(log.runs().failure(), StoreIo)

    def test_a_run_that_cannot_be_looked_at_is_unreadable_and_not_missing_p6(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        log.put_report(run(FIRST)).unwrap()
        Kept(log, tmp_path).leave(SECOND, NOTE)
        whole = log.runs().unwrap()
        assert [each.result for each in whole] == ["unfinished", "completed"]
        told = 0
        for k in range(1, 100):
            with failing_at(k, errno.EIO, once=True) as counter:
                found = log.runs()
            if not counter.struck:
                break
            runs = found.value_or(())
            assert isinstance(found, Failure) or [each.run_id for each in runs] == [SECOND, FIRST], k
            assert all(each.problems or each == known for each, known in zip(runs, whole, strict=False)), k
            told += any(each.result == "unreadable" for each in runs)
        assert told > 4

    def test_other_directories_beside_them_are_no_runs(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        log.put_report(run(FIRST)).unwrap()
        (tmp_path / "runs/deliveries").mkdir()
        (tmp_path / "runs/deliveries/report.json").write_text("no report")
        assert log.runs() == Success((run(FIRST),))

    def test_what_cannot_be_looked_at_is_not_undone_p6(self, tmp_path: Path) -> None:
        log = RunLogFiles(tmp_path)
        Kept(log, tmp_path).leave(FIRST, NOTE)
        (tmp_path / f"runs/{FIRST}/pruned").touch()
        assert log.footprint(FIRST) == Failure(RunNotFound(FIRST))
        with failing_at(1, errno.EIO, once=True):
            assert isinstance(log.footprint(FIRST).failure(), StoreIo)

    def test_files_are_private_p22(self, tmp_path: Path) -> None:
        earlier = os.umask(0)
        try:
            log = RunLogFiles(tmp_path / "root")
            log.put_report(run(FIRST)).unwrap()
            log.put_sections(FIRST, [SECTION]).unwrap()
            log.mark_undone(FIRST, SECOND, frozenset()).unwrap()
        finally:
            os.umask(earlier)
        found = list((tmp_path / "root").rglob("*"))
        assert {each.stat().st_mode & 0o777 for each in found if each.is_file()} == {0o600}
        assert {each.stat().st_mode & 0o777 for each in found if each.is_dir()} == {0o700}
