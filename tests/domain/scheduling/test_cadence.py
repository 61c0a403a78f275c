"""How often a job runs, and what a calendar can say of it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.scheduling import (
    DAY,
    HOUR,
    MINUTE,
    Cadence,
    cadence_of,
    calendars,
    in_words,
    next_due_ms,
)
from agent_memory.errors import UsageInvalid

CASES = [
    (2, 2 * HOUR, 2 * HOUR, "0 */2 * * *", "*-*-* 00/2:00:00", "2 h"),
    (24, DAY, DAY, "0 3 * * *", "*-*-* 03:00:00", "1 day"),
    (1, HOUR, HOUR, "0 * * * *", "*-*-* *:00:00", "1 h"),
    (0.25, 15 * MINUTE, 15 * MINUTE, "*/15 * * * *", "*-*-* *:00/15:00", "15 min"),
    (1 / 60, MINUTE, MINUTE, "* * * * *", "*-*-* *:*:00", "1 min"),
    (5, 5 * HOUR, HOUR, "0 * * * *", "*-*-* *:00:00", "5 h"),
    (36, 36 * HOUR, 12 * HOUR, "0 */12 * * *", "*-*-* 00/12:00:00", "36 h"),
    (1.5, 90 * MINUTE, 30 * MINUTE, "*/30 * * * *", "*-*-* *:00/30:00", "90 min"),
    (8_760, 365 * DAY, DAY, "0 3 * * *", "*-*-* 03:00:00", "365 days"),
]


@pytest.mark.parametrize(("hours", "interval", "tick", "cron", "calendar", "words"), CASES)
def test_an_interval_in_each_scheduler_s_words(
    hours: float, interval: int, tick: int, cron: str, calendar: str, words: str
) -> None:
    assert cadence_of(hours, "consolidateIntervalHours") == Cadence(interval, tick)
    assert (calendars(tick)[1], calendars(tick)[0], in_words(interval)) == (cron, calendar, words)


@pytest.mark.parametrize("hours", [0.001, 0.016])
def test_under_a_minute_no_calendar_can_say(hours: float) -> None:
    with pytest.raises(UsageInvalid) as refused:
        cadence_of(hours, "defragIntervalHours")
    assert refused.value.problem == "schedule.defragIntervalHours is under a minute"


@given(st.integers(MINUTE, 365 * DAY))
def test_a_tick_is_never_longer_than_the_interval(seconds: int) -> None:
    cadence = cadence_of(seconds / HOUR, "x")
    assert MINUTE <= cadence.tick_seconds <= cadence.interval_seconds
    assert HOUR % cadence.tick_seconds == 0 or DAY % cadence.tick_seconds == 0


@given(
    interval=st.integers(MINUTE, 30 * DAY),
    last=st.integers(0, 10**10),
    later=st.integers(0, 90 * DAY),
    offset=st.sampled_from([0, 3_600, -34_200, 49_500]),
)
def test_the_next_run_is_on_a_tick_of_the_wall_clock_and_never_long_after_it_is_due(
    interval: int, last: int, later: int, offset: int
) -> None:
    cadence = cadence_of(interval / HOUR, "x")
    now = last + later
    due = next_due_ms(cadence, last * 1000, now * 1000, cadence.tick_seconds, offset) // 1000
    shift = 3 * HOUR if cadence.tick_seconds == DAY else 0
    assert (due + offset - shift) % cadence.tick_seconds == 0
    assert now < due <= max(now, last + cadence.interval_seconds) + cadence.tick_seconds


def test_launchd_counts_from_the_last_run() -> None:
    cadence = Cadence(2 * HOUR, 2 * HOUR)
    assert next_due_ms(cadence, 1_000, 5_000, None, 0) == 7_201_000
    assert next_due_ms(cadence, 1_000, 9_000_000, None, 0) == 9_000_000
