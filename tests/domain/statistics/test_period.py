"""Days of a period."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.statistics.period import Period, name_of, period_to

NOW_MS = 1_771_000_205_123


def test_a_period_ends_today() -> None:
    period = period_to(NOW_MS, 3)
    assert period.names == ("2026-02-11", "2026-02-12", "2026-02-13")
    assert period.has(NOW_MS)
    assert period.has(period.since_ms)
    assert not period.has(period.since_ms - 1)
    assert not period.has(NOW_MS + DAY_MS)


def test_amounts_of_one_day_add_up_and_those_of_other_days_are_left_out() -> None:
    assert Period(10, 3).by_day([(8, 1), (10, 2), (10, 3), (7, 5), (11, 7), (-1, 9)]) == (1, 0, 5)


def test_no_day_is_before_1970() -> None:
    """P24: whatever the clock says."""
    assert Period(1, 90).names == ("1970-01-01", "1970-01-02")


@given(st.integers(0, 20_000), st.integers(1, 400))
def test_every_day_of_a_period_has_a_name_and_a_place(last_day: int, days: int) -> None:
    period = Period(last_day, days)
    amounts = period.by_day((day, 1) for day in range(period.first_day, last_day + 1))
    assert amounts == (1,) * len(period.names)
    assert period.names[-1] == name_of(last_day)
