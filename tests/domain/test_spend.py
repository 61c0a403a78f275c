"""The arithmetic of what was spent."""

from __future__ import annotations

from hypothesis import given, strategies as st

from agent_memory.domain.agent_request import DaySpend, Spend, with_added
from agent_memory.domain.instants import DAY_MS, day_of

days = st.integers(0, 200).map(lambda day: day_of(1_700_000_000_000 + day * DAY_MS))


def test_a_day_is_the_utc_day() -> None:
    assert day_of(1_770_940_799_999) == "2026-02-12"
    assert day_of(1_770_940_800_000) == "2026-02-13"


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
