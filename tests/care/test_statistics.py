"""What is known and was spent, counted."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from agent_memory.care.statistics import Statistics, period_of, statistics_of
from agent_memory.rules.plan import DaySpend, Spend, with_added
from agent_memory.text.instants import DAY_MS, day_of

TODAY = 20_497
PERIOD = period_of(TODAY, 4)


def found_in(**facts: Any) -> Statistics:
    nothing: dict[str, Any] = dict.fromkeys(("notes", "archived", "reads", "captures", "deliveries", "runs"), ())
    return statistics_of(PERIOD, **{**nothing, "unreadable": 0, "reads_ever": 0, "spend": {}, **facts})


def test_spending_falls_on_its_days_and_a_day_that_is_none_on_none() -> None:
    spend = {"not a day": DaySpend(9, 9, 9), "2026-02-10": DaySpend(1, 10, 5), "2026-02-13": DaySpend(2, 40, 7)}
    found = found_in(spend=spend)
    assert (found.days["calls"], found.days["prompt characters"], found.days["reply characters"]) == (
        (1, 0, 0, 2),
        (10, 0, 0, 40),
        (5, 0, 0, 7),
    )


def test_a_period_ends_today_and_no_day_is_before_1970_p24() -> None:
    assert found_in().names == ("2026-02-10", "2026-02-11", "2026-02-12", "2026-02-13")
    assert list(period_of(1, 90)) == [0, 1]


days = st.integers(0, 200).map(lambda day: day_of(1_700_000_000_000 + day * DAY_MS))


def test_taking_back_more_than_was_spent_leaves_zero() -> None:
    assert with_added({}, "2026-02-13", calls=-1, prompt_chars=-5) == {"2026-02-13": DaySpend()}


@given(st.lists(st.tuples(days, st.integers(0, 9)), max_size=30))
def test_days_are_in_order_and_each_there_once(added: list[tuple[str, int]]) -> None:
    spend: Spend = {}
    for day, calls in added:
        spend = with_added(spend, day, calls=calls)
    listed = list(spend)
    assert listed == sorted(set(listed))
    if added:
        assert spend[added[-1][0]].calls >= added[-1][1]
