"""The table of `memory list` on a terminal."""

from __future__ import annotations

from hypothesis import given, strategies as st
from wcwidth import wcswidth

from agent_memory.surfaces.table import render_table

HEADINGS = ("id", "kind", "title")


def test_columns_are_aligned_and_the_last_one_is_cut_to_the_line() -> None:
    rows = [("id__1", "fact", "A short one"), ("id__2", "decision", "A much longer title that goes on and on")]
    assert render_table(HEADINGS, rows, 45).splitlines() == [
        "id     kind      title",
        "id__1  fact      A short one",
        "id__2  decision  A much longer title that go…",
    ]


def test_wide_characters_take_two_cells() -> None:
    rows = [("id__1", "事実", "東京の倉庫"), ("id__2", "fact", "x")]
    first, *lines = render_table(HEADINGS, rows, 60).splitlines()
    assert [wcswidth(line[: line.index(last)]) for line, last in zip(lines, ("東", "x"), strict=True)] == [
        wcswidth(first[: first.index("title")])
    ] * 2


def test_without_rows_there_are_headings() -> None:
    assert render_table(HEADINGS, [], 60) == "id  kind  title"


@given(st.lists(st.text("ab 東👩‍👩‍👧é", max_size=60), max_size=5), st.integers(1, 80))
def test_no_line_is_wider_than_the_terminal_unless_that_is_very_narrow(titles: list[str], width: int) -> None:
    table = render_table(HEADINGS, [("id__1", "fact", title) for title in titles], width)
    assert all(wcswidth(line) <= max(width, 33) for line in table.splitlines())


def test_on_a_narrow_line_columns_give_way_in_their_order() -> None:
    rows = [("id__1", "decision", "A much longer title that goes on and on")]

    def first(width: int) -> str:
        return render_table(HEADINGS, rows, width, give_way=("kind", "id")).splitlines()[0]

    assert [first(width).split() for width in (60, 50, 40)] == [["id", "kind", "title"], ["id", "title"], ["title"]]


def test_no_column_gives_way_where_the_last_one_is_whole() -> None:
    assert render_table(HEADINGS, [("id__1", "fact", "Short")], 20, give_way=("kind",)).splitlines()[1] == (
        "id__1  fact  Short"
    )
