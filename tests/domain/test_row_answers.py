"""Of equal rows one is asked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from agent_memory.domain.row_answers import row_answers


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"))))
def test_each_row_is_answered_and_none_is_asked_about_twice(rows: Sequence[tuple[int, str]]) -> None:
    asked: list[tuple[int, str]] = []

    def ask(number: int, word: str) -> str:
        asked.append((number, word))
        return word * number

    answers = row_answers(ask, [number for number, _ in rows], (word for _, word in rows))
    assert answers == [word * number for number, word in rows]
    assert sorted(asked) == sorted(set(rows))


def test_columns_of_different_lengths_are_no_rows() -> None:
    with pytest.raises(ValueError, match="zip"):
        row_answers(max, [1, 2], [3])
