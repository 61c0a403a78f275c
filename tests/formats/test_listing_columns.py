from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from agent_memory.formats.listing_columns import packed_column, packed_groups, unpacked_column, unpacked_groups

values = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.tuples(st.integers(0, 3))


def told(these: Any) -> list[str]:
    return [repr(each) for each in these]


@settings(max_examples=100)
@given(st.lists(values, max_size=20))
def test_a_column_comes_back(column: list[Any]) -> None:
    assert told(unpacked_column(packed_column(column), len(column))) == told(column)


def test_what_recurs_is_written_once_and_what_does_not_as_it_is() -> None:
    few = [number % 256 for number in range(1_000)]
    assert packed_column(few) == (list(range(256)), bytes(few))
    many = [number % 257 for number in range(1_000)]
    assert packed_column(many) == (many,)
    for column in (few, many, ["x"] * 300, []):
        assert list(unpacked_column(packed_column(column), len(column))) == column


def test_what_is_made_of_a_value_that_recurs_is_made_once() -> None:
    made: list[int] = []

    def make(value: int) -> str:
        made.append(value)
        return str(value)

    assert list(unpacked_column(packed_column([7, 8, 7, 7]), 4, make)) == ["7", "8", "7", "7"]
    assert made == [7, 8]


@settings(max_examples=100)
@given(st.lists(st.lists(st.integers(0, 9), max_size=3)))
def test_groups_come_back(groups: list[list[int]]) -> None:
    lengths, members = packed_groups(groups)
    assert list(unpacked_groups(lengths, len(groups), members)) == [tuple(group) for group in groups]


def test_groups_of_one_each_come_back() -> None:
    lengths, members = packed_groups([["a"], ["b"]])
    assert list(unpacked_groups(lengths, 2, iter(members))) == [("a",), ("b",)]
