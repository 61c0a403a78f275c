"""Text by the cells that it takes."""

from __future__ import annotations

from hypothesis import given, strategies as st
from wcwidth import wcswidth

from agent_memory.surfaces.cells import cells_of, cut, padded

texts = st.lists(st.sampled_from(["a", " ", "東", "👩‍👩‍👧", "e\u0301", "א"]), max_size=40).map("".join)


def test_wide_characters_take_two_cells_and_combining_ones_none() -> None:
    assert [cells_of(each) for each in ("ab", "東京", "e\u0301", "🦓", "")] == [2, 4, 1, 2, 0]


def test_a_cut_shows_that_something_is_gone_and_halves_no_character() -> None:
    assert cut("東京の倉庫", 10) == "東京の倉庫"
    assert cut("東京の倉庫", 8) == "東京の…"
    assert cut("a東京", 4, "~") == "a東~"


@given(texts, st.integers(1, 60))
def test_a_cut_text_fits(text: str, room: int) -> None:
    assert wcswidth(cut(text, room)) <= room


@given(texts, st.integers(0, 60))
def test_padding_fills_up(text: str, width: int) -> None:
    assert cells_of(padded(text, width)) == max(width, cells_of(text))
