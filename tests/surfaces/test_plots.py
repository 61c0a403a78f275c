"""Bars and sparklines."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from wcwidth import wcswidth

from agent_memory.surfaces.plots import ASCII, BLOCKS, Ink, bar, ink_for, last_of, share_of, sparkline, summed

inks = st.sampled_from([BLOCKS, ASCII])
amounts = st.lists(st.integers(0, 10**12), max_size=400)


def test_a_sparkline_has_a_cell_for_each_amount_and_rises_with_it() -> None:
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], BLOCKS) == "▁▂▃▄▅▆▇█"
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], ASCII) == "_.:-=+*#"


def test_amounts_that_have_no_cell_of_their_own_are_added_up_and_the_last_cell_is_a_whole_one() -> None:
    assert share_of(90, 40) == 3
    assert summed(range(1, 8), 3) == (1, 9, 18)
    assert last_of(range(1, 8), 3) == (1, 4, 7)


def test_a_single_one_among_many_is_seen() -> None:
    assert sparkline([1, 10**9], BLOCKS) == "▂█"
    assert bar(1, 10**9, 20, BLOCKS) == "▏"
    assert bar(1, 10**9, 20, ASCII) == "#"


def test_a_bar_is_as_long_as_its_share_to_an_eighth_of_a_cell() -> None:
    assert bar(8, 8, 2, BLOCKS) == "██"
    assert bar(5, 8, 2, BLOCKS) == "█▎"
    assert bar(0, 8, 2, BLOCKS) == ""
    assert bar(0, 0, 2, BLOCKS) == ""


@pytest.mark.parametrize(
    ("encoding", "ink"),
    [("utf-8", BLOCKS), ("ascii", ASCII), ("latin-1", ASCII), ("cp437", ASCII), (None, ASCII), ("no-such", ASCII)],
)
def test_blocks_are_for_streams_that_can_show_them(encoding: str | None, ink: Ink) -> None:
    assert ink_for(encoding) is ink


@given(amounts, st.integers(0, 120), inks)
def test_a_sparkline_of_shares_is_no_wider_than_its_cells(found: list[int], cells: int, ink: Ink) -> None:
    share = share_of(len(found), cells)
    for shown in (summed(found, share), last_of(found, share)):
        drawn = sparkline(shown, ink)
        assert wcswidth(drawn) <= max(cells, 1)
        assert bool(drawn) == bool(found)


@given(amounts, st.integers(1, 400))
def test_nothing_is_lost_in_the_sums(found: list[int], share: int) -> None:
    assert sum(summed(found, share)) == sum(found)


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 120), inks)
def test_a_bar_is_no_wider_than_its_cells_and_is_there_if_there_is_something(
    amount: int, most: int, cells: int, ink: Ink
) -> None:
    drawn = bar(amount, most, cells, ink)
    assert wcswidth(drawn) <= cells
    assert bool(drawn) == (amount > 0 and most > 0)
