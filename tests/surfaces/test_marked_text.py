"""Passages in lines, with marks."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st
from wcwidth import wcswidth

from agent_memory.surfaces.marked_text import marked_lines

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_marks_stand_out_where_colour_is_allowed() -> None:
    assert marked_lines("the zebra lock", [(4, 9), (10, 14)], 80, colour=True) == [
        "the \x1b[1;33mzebra\x1b[0m \x1b[1;33mlock\x1b[0m"
    ]
    assert marked_lines("the zebra lock", [(4, 9)], 80, colour=False) == ["the zebra lock"]


def test_a_mark_goes_on_in_the_next_line() -> None:
    assert marked_lines("one two three", [(0, 7)], 5, colour=True) == [
        "\x1b[1;33mone\x1b[0m",
        "\x1b[1;33mtwo\x1b[0m",
        "three",
    ]


def test_wide_characters_take_two_cells_and_break_anywhere() -> None:
    assert marked_lines("斑马锁迁移", [], 4, colour=False) == ["斑马", "锁迁", "移"]


def test_nothing_has_no_lines() -> None:
    assert marked_lines("", [], 40, colour=True) == []


@given(
    st.text(alphabet="ab 斑é\U0001f600", max_size=60).map(lambda text: " ".join(text.split())),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=4),
    st.integers(4, 30),
)
def test_every_character_is_shown_once_within_the_width(
    text: str, marks: list[tuple[int, int]], width_cells: int
) -> None:
    """Also for marks that overlap or leave the text."""
    lines = [_COLOUR.sub("", line) for line in marked_lines(text, sorted(marks), width_cells, colour=True)]
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(wcswidth(line) <= width_cells for line in lines)
    assert lines == marked_lines(text, [], width_cells, colour=False)
