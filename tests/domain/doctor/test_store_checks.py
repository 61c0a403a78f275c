"""What is found about files, git, tiers, runs and spending."""

from __future__ import annotations

import stat
from collections.abc import Iterable

import pytest
from attrs import evolve

from agent_memory.domain.doctor.catalogue import Area, DoctorReport, Finding, Severity, in_order
from agent_memory.domain.doctor.store_checks import (
    Found,
    GitFacts,
    ScheduleFacts,
    examine_failed,
    examine_files,
    examine_git,
    examine_hook_problems,
    examine_last_run,
    examine_schedule,
    examine_spend,
    examine_targets,
    examine_tiers,
    examine_troubles,
    is_temporary,
    pinned_outside,
    with_pins,
)
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.health import FailedEntry, HookProblem
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.queue import Trouble
from agent_memory.domain.run_log import LoggedAction, LoggedRun, Machine
from agent_memory.domain.section import Published, PublishedTarget, RenderedSection
from agent_memory.domain.spend import DaySpend, day_of
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import MarkersAmbiguous

NOW = 1_771_000_000_000
ME = 1000


def codes(findings: Iterable[Finding]) -> list[str]:
    return [each.code for each in findings]


def file(path: str, mode: int = 0o600, owner: int = ME, age_ms: int = 0) -> Found:
    return Found(path, stat.S_IFREG | mode, owner, NOW - age_ms)


def directory(path: str, mode: int = 0o700) -> Found:
    return Found(path, stat.S_IFDIR | mode, ME, NOW)


def nobody_writes(_: Found) -> bool:
    return False


ROOT = directory("")


class TestFiles:
    def test_what_is_closed_and_ours_is_fine(self) -> None:
        found = (ROOT, directory("topics"), file("topics/a.md"))
        assert codes(examine_files(found, ME, nobody_writes)) == []

    def test_open_files_are_problems_where_the_root_is_open_and_remarks_behind_a_closed_one(self) -> None:
        """P22"""
        loose = file("topics/a.md", 0o644)
        behind = list(examine_files((ROOT, loose), ME, nobody_writes))
        in_front = list(examine_files((directory("", 0o755), loose), ME, nobody_writes))
        assert [(each.subject, each.severity) for each in behind] == [("topics/a.md", Severity.NOTE)]
        assert [(each.subject, each.severity) for each in in_front] == [
            (".", Severity.PROBLEM),
            ("topics/a.md", Severity.PROBLEM),
        ]
        assert behind[0].sentence == "Its mode is 0644, it should be 0600"

    def test_another_owner(self) -> None:
        assert codes(examine_files((ROOT, file("topics/a.md", owner=7)), ME, nobody_writes)) == ["foreign-owner"]

    def test_litter_has_our_names_and_nobody_writes_it(self) -> None:
        name = "topics/.tmp-0123456789abcdef"
        assert is_temporary(file(name))
        assert is_temporary(file(".transaction/0.new"))
        for other in (
            file("topics/.tmp-mine"),
            file("topics/0.new"),
            evolve(file(name), mode=stat.S_IFDIR | 0o700),
        ):
            assert not is_temporary(other), other
        assert codes(examine_files((ROOT, file(name)), ME, nobody_writes)) == ["litter"]
        assert codes(examine_files((ROOT, file(name)), ME, lambda found: found.path == name)) == []

    def test_links_devices_and_caches_that_are_no_files(self) -> None:
        link = Found("state/x.json", stat.S_IFLNK | 0o777, ME, NOW)
        note = Found("topics/x.md", stat.S_IFLNK | 0o777, ME, NOW)
        cache = directory(".cache/store.db")
        assert codes(examine_files((ROOT, link, note, cache), ME, nobody_writes)) == ["odd-file", "damaged-cache"]
        hidden = evolve(note, path="topics/.x.md")  # it is among no notes, so it is told of here
        assert codes(examine_files((ROOT, hidden), ME, nobody_writes)) == ["odd-file"]

    def test_copies_of_state_that_a_synchronising_program_made(self) -> None:
        copy = file("usage/lamp.sync-conflict-20260213-143005-ABCDEFG.jsonl")
        assert codes(examine_files((ROOT, copy), ME, nobody_writes)) == ["sync-conflict-file"]


class TestGit:
    def test_a_repository_on_a_branch_is_fine_and_so_is_none_without_notes(self) -> None:
        assert codes(examine_git(GitFacts(present=True), has_notes=True)) == []
        assert codes(examine_git(GitFacts(present=False), has_notes=False)) == []

    def test_everything_that_keeps_history_from_being_written(self) -> None:
        facts = GitFacts(True, stale_locks=(".git/index.lock",), branch=None, conflicted=("topics/a.md",), owed=2)
        assert codes(examine_git(facts, has_notes=True)) == [
            "git-locked",
            "git-owed",
            "git-conflicted",
            "git-detached",
        ]
        assert codes(examine_git(GitFacts(True, branch=None, unfinished="rebase"), has_notes=True)) == [
            "git-conflicted"
        ]
        assert codes(examine_git(GitFacts(False), has_notes=True)) == ["git-absent"]
        assert codes(examine_git(GitFacts(True, trouble="No git."), has_notes=True)) == ["git-unusable"]


class TestTiers:
    META = Meta("id__a1b2c3", "Ports", NOW, NOW, pinned=True)

    def listed(self, meta: Meta) -> tuple[Listed, ...]:
        return (Listed(meta, "topics/a.md", ""),)

    def test_no_list_yet_is_fine(self) -> None:
        assert codes(examine_tiers(TierList(), self.listed(self.META))) == []

    def test_pins_that_are_not_hot(self) -> None:
        """P13"""
        found = examine_tiers(TierList(("id__d4e5f6",), (self.META.id,)), self.listed(self.META))
        assert codes(found) == ["pinned-not-hot"]
        assert codes(examine_tiers(TierList((self.META.id,)), self.listed(self.META))) == []

    def test_what_is_secret_is_no_pin(self) -> None:
        secret = evolve(self.META, sensitivity=Sensitivity.SECRET)
        assert pinned_outside(TierList(), self.listed(secret)) == ()

    def test_pins_go_behind_what_is_hot_and_stay_in_one_tier(self) -> None:
        assert with_pins(TierList(("a",), ("b", "c")), ("b", "a")) == TierList(("a", "b"), ("c",))

    def test_targets(self) -> None:
        refused = PublishedTarget("/t/A.md", "refused", MarkersAmbiguous("/t/A.md", "two ends"))
        planned = PublishedTarget("/t/B.md", "planned", diff="+x")
        fine = PublishedTarget("/t/C.md", "unchanged", rendered=RenderedSection("", warnings=("Too large.",)))
        found = list(examine_targets(Published((refused, planned, fine))))
        assert codes(found) == ["target-refused", "target-out-of-date", "target-warning"]
        assert "two ends" in found[0].sentence


def run(machine: Machine, ended_at_ms: int, *, changed: bool = True, result: str = "completed") -> LoggedRun:
    actions = (LoggedAction("create", ("id__a1b2c3",)),) if changed else ()
    return LoggedRun("r", machine, ended_at_ms - 1, ended_at_ms, result, "", actions, error="no login")


class TestRuns:
    FACTS = ScheduleFacts(NOW, 2 * HOUR_MS, 24 * HOUR_MS, None, ())

    def test_nothing_waits_nothing_is_late(self) -> None:
        long_ago = run("consolidate", NOW - 300 * DAY_MS, changed=False)
        assert codes(examine_schedule(self.FACTS)) == []
        assert codes(examine_schedule(evolve(self.FACTS, runs=(long_ago,)))) == []

    @pytest.mark.parametrize(
        ("waiting_hours", "last_hours", "late"),
        [(7, None, True), (5, None, False), (7, 1, False), (7, 6.5, True), (700, 7, True)],
    )
    def test_a_capture_waits_for_three_intervals_and_no_run_looks(
        self, waiting_hours: float, last_hours: float | None, late: bool
    ) -> None:
        runs = () if last_hours is None else (run("consolidate", NOW - int(last_hours * HOUR_MS)),)
        facts = evolve(self.FACTS, oldest_pending_at_ms=NOW - int(waiting_hours * HOUR_MS), runs=runs)
        assert codes(examine_schedule(facts)) == (["not-consolidated"] if late else [])

    def test_notes_wait_for_a_defrag(self) -> None:
        late, early = run("consolidate", NOW - 4 * DAY_MS), run("consolidate", NOW - DAY_MS)
        never = list(examine_schedule(evolve(self.FACTS, runs=(early, late))))
        stopped = list(examine_schedule(evolve(self.FACTS, runs=(early, late, run("defrag", NOW - 9 * DAY_MS)))))
        assert [(each.code, each.severity) for each in never] == [("not-defragged", Severity.NOTE)]
        assert [(each.code, each.severity) for each in stopped] == [("not-defragged", Severity.PROBLEM)]
        for fine in ((early,), (early, run("defrag", NOW - 2 * DAY_MS), late), (evolve(late, actions=()),)):
            assert codes(examine_schedule(evolve(self.FACTS, runs=fine))) == []

    def test_the_last_run(self) -> None:
        assert codes(examine_last_run(None)) == codes(examine_last_run(run("defrag", NOW))) == []
        (paused,) = examine_last_run(run("consolidate", NOW, result="paused"))
        assert (paused.code, paused.sentence) == ("last-run", "The last run paused: no login")
        assert codes(examine_last_run(evolve(run("defrag", NOW), problems=("not JSON",)))) == ["damaged-state"]

    def test_failures_troubles_and_lost_captures(self) -> None:
        failed = (FailedEntry("a.json", "no.", False), FailedEntry("b.json", "", True))
        assert codes(examine_failed(failed)) == ["given-up", "malformed-entry"]
        assert codes(examine_troubles((("k", Trouble(message="not there yet")),))) == ["set-back"]
        assert codes(examine_hook_problems((HookProblem("t", "", "disk full"),))) == ["capture-lost"]
        (injection,) = examine_hook_problems((HookProblem("noon", "codex", "disk full.", "inject"),))
        assert injection.code == "injection-lost"
        assert injection.sentence == "An injection at noon did not arrive: disk full"

    @pytest.mark.parametrize(
        ("calls", "found"),
        [
            ({0: 48, 1: 48}, ["spend-cap"]),
            ({1: 48, 2: 49}, ["spend-cap"]),
            ({0: 48, 1: 47, 2: 48}, []),
            ({2: 48, 3: 48}, []),
            ({0: 48}, []),
        ],
    )
    def test_the_cap_of_calls_on_days_in_a_row(self, calls: dict[int, int], found: list[str]) -> None:
        """P10"""
        spend = tuple(DaySpend(day_of(NOW - ago * DAY_MS), number) for ago, number in calls.items())
        assert codes(examine_spend(spend, 48, NOW)) == found
        assert codes(examine_spend(spend, 0, NOW)) == []


def test_an_examination_is_in_the_order_of_the_catalogue_and_counts_problems() -> None:
    litter = Finding("litter", Area.FILES, Severity.NOTE, "a", "x")
    note = Finding("expired", Area.NOTES, Severity.NOTE, "b", "y")
    problem = Finding("expired", Area.NOTES, Severity.PROBLEM, "c", "z")
    found = DoctorReport("/r", 1, 0, in_order([litter, note, problem, litter]))
    assert found.findings == (problem, note, litter)
    assert found.problems == (problem,)
