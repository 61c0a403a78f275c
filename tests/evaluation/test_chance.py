"""How sure small numbers are."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.evaluation.replay import by_chance, by_coin, interval

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=30)


@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_encloses_the_share_and_narrows_as_numbers_grow(hits: int, misses: int) -> None:
    of = hits + misses
    low, high = interval(hits, of)
    assert 0 <= low <= (hits / of if of else 0.5) <= high <= 1
    wider = interval(10 * hits, 10 * of)
    assert wider[1] - wider[0] < high - low or not of


def test_an_interval_is_wilsons() -> None:
    assert [round(each, 3) for each in interval(8, 10)] == [0.490, 0.943]


@settings(max_examples=10, deadline=None)
@given(COUNTS, COUNTS, st.randoms())
def test_chance_asks_neither_for_order_nor_for_names(one: list[int], other: list[int], order: Random) -> None:
    chance = by_chance(one, other)
    assert 0 < chance <= 1
    assert by_chance(other, one) == chance
    assert by_chance(order.sample(one, len(one)), other) == chance
    assert by_chance(one, one) == 1


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ([0] * 20, [3] * 30, 0, 0.001),
        ([5], [0, 1, 2], 0.2, 0.3),  # one arrangement of four is as far apart
        ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0, 2], 0.99, 1),
        ([1, 1, 2], [2, 3, 3], 0.15, 0.25),  # 4 of 20
    ],
)
def test_chance_is_the_share_of_such_arrangements(one: list[int], other: list[int], low: float, high: float) -> None:
    assert low <= by_chance(one, other) <= high


@pytest.mark.parametrize(
    ("wins", "losses", "chance"), [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (6, 0, 1 / 32), (9, 1, 22 / 1024)]
)
def test_a_coin_is_exact_and_has_two_sides(wins: int, losses: int, chance: float) -> None:
    assert by_coin(wins, losses) == by_coin(losses, wins) == pytest.approx(chance)
