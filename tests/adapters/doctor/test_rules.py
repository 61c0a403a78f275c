"""The rules by which runs, spending and targets are told of."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from attrs import evolve

from agent_memory.adapters.doctor.doctor import (
    check_last_run,
    check_schedule,
    check_spend,
    check_targets,
)
from agent_memory.config import ScheduleConfig
from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.doctor import Area, DoctorReport, Finding, Severity, in_order
from agent_memory.domain.instants import DAY_MS, HOUR_MS, day_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun, Machine
from agent_memory.domain.section import Published, PublishedTarget, RenderedSection
from agent_memory.errors import MarkersAmbiguous

NOW = 1_771_000_000_000


def codes(findings: Iterable[Finding]) -> list[str]:
    return [each.code for each in findings]


def test_targets() -> None:
    refused = PublishedTarget("/t/A.md", "refused", MarkersAmbiguous("/t/A.md", "two ends"))
    planned = PublishedTarget("/t/B.md", "planned", diff="+x")
    fine = PublishedTarget("/t/C.md", "unchanged", rendered=RenderedSection("", warnings=("Too large.",)))
    found = list(check_targets(Published((refused, planned, fine))))
    assert codes(found) == ["target-refused", "target-out-of-date", "target-warning"]
    assert "two ends" in found[0].message


def run(machine: Machine, ended_at_ms: int, *, changed: bool = True, result: str = "completed") -> LoggedRun:
    actions = (LoggedAction("create", ("id__a1b2c3",)),) if changed else ()
    return LoggedRun("r", machine, ended_at_ms - 1, ended_at_ms, result, "", actions, error="no login")


class TestRuns:
    def found(self, *runs: LoggedRun, waiting_ms: int | None = None) -> list[Finding]:
        return list(check_schedule(ScheduleConfig(), runs, waiting_ms, NOW))

    def test_nothing_waits_nothing_is_late(self) -> None:
        long_ago = run("consolidate", NOW - 300 * DAY_MS, changed=False)
        assert self.found() == []
        assert self.found(long_ago) == []

    @pytest.mark.parametrize(
        ("waiting_hours", "last_hours", "late"),
        [(7, None, True), (5, None, False), (7, 1, False), (7, 6.5, True), (700, 7, True)],
    )
    def test_a_capture_waits_for_three_intervals_and_no_run_looks(
        self, waiting_hours: float, last_hours: float | None, late: bool
    ) -> None:
        runs = () if last_hours is None else (run("consolidate", NOW - int(last_hours * HOUR_MS)),)
        found = self.found(*runs, waiting_ms=NOW - int(waiting_hours * HOUR_MS))
        assert codes(found) == (["not-consolidated"] if late else [])

    def test_notes_wait_for_a_defrag(self) -> None:
        late, early = run("consolidate", NOW - 4 * DAY_MS), run("consolidate", NOW - DAY_MS)
        never = self.found(early, late)
        stopped = self.found(early, late, run("defrag", NOW - 9 * DAY_MS))
        assert [(each.code, each.severity) for each in never] == [("not-defragged", Severity.NOTE)]
        assert [(each.code, each.severity) for each in stopped] == [("not-defragged", Severity.PROBLEM)]
        for fine in ((early,), (early, run("defrag", NOW - 2 * DAY_MS), late), (evolve(late, actions=()),)):
            assert self.found(*fine) == []

    def test_the_last_run(self) -> None:
        assert codes(check_last_run(None)) == codes(check_last_run(run("defrag", NOW))) == []
        (paused,) = check_last_run(run("consolidate", NOW, result="paused"))
        assert (paused.code, paused.message) == ("last-run", "The last run paused: no login")
        assert codes(check_last_run(evolve(run("defrag", NOW), problems=("not JSON",)))) == ["damaged-state"]

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
        spend = {day_of(NOW - ago * DAY_MS): DaySpend(number) for ago, number in calls.items()}
        assert codes(check_spend(spend, 48, NOW)) == found
        assert codes(check_spend(spend, 0, NOW)) == []


def test_an_examination_is_in_the_order_of_the_catalogue_and_counts_problems() -> None:
    litter = Finding("litter", Area.FILES, Severity.NOTE, "a", "x")
    note = Finding("expired", Area.NOTES, Severity.NOTE, "b", "y")
    problem = Finding("expired", Area.NOTES, Severity.PROBLEM, "c", "z")
    found = DoctorReport("/r", 1, 0, in_order([litter, note, problem, litter]))
    assert found.findings == (problem, note, litter)
    assert found.problems == (problem,)
