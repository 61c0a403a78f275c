"""What is known of scheduled runs, and what of it a person should look at."""

from __future__ import annotations

import pytest

from agent_memory.domain.scheduling import NO_RUNS, JobHealth, JobRecord, ScheduledRun, is_due, recorded

WELL = ScheduledRun(1_000, 2_000, 0)
BUSY = ScheduledRun(3_000, 3_001, 75)
FAILED = ScheduledRun(5_000, 6_000, 40, "claude wants you to log in")


def health(*runs: ScheduledRun, installed_at_ms: int = 0) -> JobHealth:
    record = NO_RUNS
    for run in runs:
        record = recorded(record, run, 50)
    return JobHealth("consolidate", "cron", 7_200, record, installed_at_ms, 0)


def test_failures_are_counted_until_one_goes_well() -> None:
    later = ScheduledRun(9_000, 9_500, 40, "again")
    assert health(WELL, FAILED, BUSY, later).record.failures == 2
    assert health(FAILED, ScheduledRun(9_000, 9_500, 0)).record.failures == 0


def test_a_run_that_ends_takes_the_place_of_its_beginning() -> None:
    begun = ScheduledRun(1_000)
    assert recorded(JobRecord((begun,), 0), WELL, 50) == JobRecord((WELL,), 0)
    assert recorded(JobRecord((BUSY,), 0), begun, 50) == JobRecord((BUSY, begun), 0)


def test_only_the_last_runs_are_kept() -> None:
    record = NO_RUNS
    for start in range(10):
        record = recorded(record, ScheduledRun(start, start, 0), 3)
    assert [run.started_at_ms for run in record.runs] == [7, 8, 9]


def test_another_run_at_work_is_no_failure() -> None:
    assert health(BUSY).problem(4_000) is None
    assert health(WELL).problem(4_000) is None


def test_a_failure_is_said_with_its_reason() -> None:
    assert health(FAILED).problem(7_000) == "the scheduled consolidate failed: claude wants you to log in"
    assert health(FAILED, ScheduledRun(8_000, 8_001, 3)).problem(9_000) == (
        "the scheduled consolidate failed (2 times in a row): exit code 3"
    )


def test_a_job_that_does_not_run_any_more_is_seen() -> None:
    hours = 3_600_000
    assert health(installed_at_ms=0).problem(5 * hours) is None
    assert health(installed_at_ms=0).problem(50 * hours) == (
        "consolidate should run every 2 h, and has not for 2 days; `memory schedule on` sets the schedule up again"
    )
    assert health(WELL, installed_at_ms=48 * hours).problem(50 * hours) is None


@pytest.mark.parametrize(
    ("now_ms", "due"), [(1_000, False), (3_500_000, False), (3_541_000, True), (9_000_000, True), (500, True)]
)
def test_a_tick_does_nothing_before_the_job_is_due(now_ms: int, due: bool) -> None:
    """A tick may come seconds early, and P24: a clock that was set back keeps no job from running."""
    assert is_due(JobRecord((WELL,), 0), now_ms, 3_600) is due
    assert is_due(NO_RUNS, now_ms, 3_600)
