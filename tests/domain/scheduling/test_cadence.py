"""How often a job runs, and what a calendar can say of it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.scheduling import (
    DAY,
    HOUR,
    MINUTE,
    calendars,
    in_words,
    interval_of,
    next_due_ms,
    tick_of,
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
    assert interval_of(hours, "consolidateIntervalHours") == interval
    assert tick_of(interval) == tick
    assert (calendars(tick)[1], calendars(tick)[0], in_words(interval)) == (cron, calendar, words)


@pytest.mark.parametrize("hours", [0.001, 0.016])
def test_under_a_minute_no_calendar_can_say(hours: float) -> None:
    with pytest.raises(UsageInvalid) as refused:
        interval_of(hours, "defragIntervalHours")
    assert refused.value.problem == "schedule.defragIntervalHours is under a minute"


@given(st.integers(MINUTE, 365 * DAY))
def test_a_tick_is_never_longer_than_the_interval(seconds: int) -> None:
    tick = tick_of(seconds)
    assert MINUTE <= tick <= seconds
    assert HOUR % tick == 0 or DAY % tick == 0


@given(
    interval=st.integers(MINUTE, 30 * DAY),
    last=st.integers(0, 10**10),
    later=st.integers(0, 90 * DAY),
    offset=st.sampled_from([0, 3_600, -34_200, 49_500]),
)
def test_the_next_run_is_on_a_tick_of_the_wall_clock_and_never_long_after_it_is_due(
    interval: int, last: int, later: int, offset: int
) -> None:
    tick = tick_of(interval)
    now = last + later
    due = next_due_ms(interval, last * 1000, now * 1000, tick, offset) // 1000
    shift = 3 * HOUR if tick == DAY else 0
    assert (due + offset - shift) % tick == 0
    assert now < due <= max(now, last + interval) + tick


def test_launchd_counts_from_the_last_run() -> None:
    assert next_due_ms(2 * HOUR, 1_000, 5_000, None, 0) == 7_201_000
    assert next_due_ms(2 * HOUR, 1_000, 9_000_000, None, 0) == 9_000_000
