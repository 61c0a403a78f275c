"""P20: two halves of a token on two lines are read as one, and what crosses the break is told by its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from agent_memory.domain.redacting.coats import wrapped_spans
from agent_memory.domain.redacting.rule import Span

_FIRST, _SECOND, _THIRD = "qZ7wR2kX9v", "B4nT6mQ8sD", "9kLp3XfGh5"


def _read(text: str) -> list[str]:
    """What is searched."""
    texts: list[str] = []

    def search(text: str) -> list[Span]:
        texts.append(text)
        return []

    assert list(wrapped_spans(text, search)) == []
    return texts


def _tokens(text: str) -> Iterator[Span]:
    """A search for what has capitals and digits, and for one word."""
    for found in re.finditer(r"\w*[A-Z]\w*\d\w*|harbour", text):
        yield Span(*found.span(), 7, "token")


@pytest.mark.parametrize(
    "between",
    ["\n", "\\n", "\r\n", " \n  ", "\n> ", "\\\n", '"\n"', '" +\n    "', "'\n. '", "│\n│ ", "\n// ", "\n# "],
)
def test_lines_that_break_a_token_are_one(between: str) -> None:
    text = f"then key {_FIRST}{between}{_SECOND} here"
    assert _read(text) == [f"then key {_FIRST}{_SECOND} here"]
    assert list(wrapped_spans(text, _tokens)) == [Span(9, len(text) - 5, 7, "token")]


def test_only_the_lines_of_the_token_are_read() -> None:
    text = f"one\nthen\nmore key {_FIRST}\n{_SECOND} here\nfour\nfive"
    assert _read(text) == [f"more key {_FIRST}{_SECOND} here"]
    assert _read(f"\n{_FIRST}\n{_SECOND}") == [f"{_FIRST}{_SECOND}"]
    assert _read(f"q7Z\n{_SECOND}") == [f"q7Z{_SECOND}"]


def test_a_line_without_digits_breaks_no_token_and_hides_no_later_one() -> None:
    assert _read(f"one\nsrc/main/lib\nthen {_FIRST}\n{_SECOND}") == [f"then {_FIRST}{_SECOND}"]


def test_one_half_tells_enough() -> None:
    assert _read(f"{_FIRST}\nBnTmQsDkLw here") == [f"{_FIRST}BnTmQsDkLw here"]
    assert _read(f"BnTmQsDkLw\n{_SECOND} here") == [f"BnTmQsDkLw{_SECOND} here"]
    assert _read("BnTmQsDkLw\nBnTmQsDkLw here 77") == []
    assert _read("version 77\nmore-words here") == []


def test_a_token_may_go_on_for_lines() -> None:
    text = f"key {_FIRST}\n{_SECOND}\n{_THIRD} here"
    assert _read(text) == [f"key {_FIRST}{_SECOND}{_THIRD} here"]
    assert list(wrapped_spans(text, _tokens)) == [Span(4, 36, 7, "token")]


def test_each_token_is_read_by_itself() -> None:
    text = f"{_FIRST}\n{_SECOND} and {_FIRST}\n{_THIRD}"
    assert _read(text) == [f"{_FIRST}{_SECOND} and {_FIRST}", f"{_SECOND} and {_FIRST}{_THIRD}"]
    assert list(wrapped_spans(text, _tokens)) == [Span(0, 21, 7, "token"), Span(26, 47, 7, "token")]


def test_what_crosses_no_break_is_left_to_others() -> None:
    assert list(wrapped_spans(f"harbour {_FIRST}\n{_SECOND} harbour", _tokens)) == [Span(8, 29, 7, "token")]


def test_of_long_lines_400_characters_before_and_behind_are_read() -> None:
    assert _read("b " * 300 + f"{_FIRST}\n{_SECOND}") == ["b " * 195 + f"{_FIRST}{_SECOND}"]
    for behind in ("", "\nc"):
        assert _read(f"{_FIRST}\n{_SECOND}" + " b" * 220 + behind) == [f"{_FIRST}{_SECOND}" + " b" * 195]
    assert _read(f"{_FIRST}\n{_SECOND}" + " b" * 100 + "\nc\nd") == [f"{_FIRST}{_SECOND}" + " b" * 100]
