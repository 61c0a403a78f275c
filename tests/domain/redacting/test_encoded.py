"""P20: runs of base64 and hexadecimal and escaped lines are read as they were written, and what they hide is told by its place."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

import pytest

from agent_memory.domain.redacting.coats import encoded_spans, escaped_spans
from agent_memory.domain.redacting.rule import Span

_SENTENCE = "where the tangerine orchard ends"


def _fruit(text: str) -> Iterator[Span]:
    """A search for one word."""
    for found in re.finditer("my tangerine|tangerine", text):
        yield Span(*found.span(), 7, "fruit")


class _Reader:
    """A search that finds nothing and knows what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> list[Span]:
        self.texts.append(text)
        return []


def _decoded(text: str) -> list[str]:
    reader = _Reader()
    assert list(encoded_spans(text, reader)) == []
    return reader.texts


def _read(text: str) -> list[str]:
    reader = _Reader()
    assert list(escaped_spans(text, reader)) == []
    return reader.texts


def _base64(raw: bytes | str) -> str:
    return base64.b64encode(raw.encode() if isinstance(raw, str) else raw).decode()


# Runs


def test_a_run_that_hides_something_is_told_as_a_whole() -> None:
    run = _base64(_SENTENCE)
    assert list(encoded_spans(f"see {run} there", _fruit)) == [Span(4, 4 + len(run), 7, "fruit")]
    assert list(encoded_spans(f"see {_base64('where the orchard now ends')} there", _fruit)) == []


def test_bytes_that_hide_something_are_told_as_a_whole() -> None:
    for run in (
        _SENTENCE.encode().hex(" "),
        _SENTENCE.encode().hex(":"),
        re.sub("(..)", r"\\x\1", _SENTENCE.encode().hex()),
    ):
        assert list(encoded_spans(f"to {run} there", _fruit)) == [Span(3, 3 + len(run), 7, "fruit")], run
        assert list(encoded_spans(run, _fruit)) == [Span(0, len(run), 7, "fruit")], run


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\r\\n", '"\n"', "\n  | "])
def test_a_run_goes_on_behind_a_line_break(newline: str) -> None:
    run = _base64(_SENTENCE)
    assert _decoded(f"{run[:24]}{newline}{run[24:]}") == [_SENTENCE]


@pytest.mark.parametrize("cut", range(9))
def test_base64_is_read_wherever_it_was_cut(cut: int) -> None:
    written = _base64("where the tangerine orchard now ends")
    (behind,) = _decoded(written[: len(written) - cut])
    assert behind == "where the tangerine orchard now ends"[: 36 - -(-cut * 3 // 4)]
    (ahead,) = _decoded(written[cut:])
    assert ahead == "where the tangerine orchard now ends"[-(-cut // 4) * 3 :]


# Escapes


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a%41b", "aAb"),
        ("a%2541b", "aAb"),
        ("a\\u0041b", "aAb"),
        ("a\\\\u0041b", "aAb"),
        ("a\\x41b", "aAb"),
        ("a&amp;b", "a&b"),
        ("a&quot;b", 'a"b'),
        ("a&#65;b", "aAb"),
        ("a&#x41;b", "aAb"),
        ("a\\/b", "a/b"),
        ("a%41\\nb", "aA\nb"),
        ("a\u200bb", "ab"),
        ("a\x1b[1;31mb", "ab"),
    ],
)
def test_escapes_are_read(line: str, read: str) -> None:
    assert _read(line) == [read]


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("a tang%65rine b", "tang%65rine"),
        ("%20tang%65rin%65%20", "tang%65rin%65"),
        ("a&amp;&amp;tang\u200berine&amp;", "tang\u200berine"),
        ("a%41 b\nc%41 \\x74angerine\\x0a d\ne%41", "\\x74angerine"),
        ("%41 tangerine", "tangerine"),
        ("tangerine %41", "tangerine"),
    ],
)
def test_what_hides_in_a_line_is_told_by_where_it_stands(line: str, secret: str) -> None:
    at = line.index(secret)
    assert list(escaped_spans(line, _fruit)) == [Span(at, at + len(secret), 7, "fruit")]


def test_a_plus_sign_is_a_space_in_a_form_only() -> None:
    assert _read("a=my+fruit%21") == ["a=my+fruit!", "a=my fruit!"]
    assert _read("a=my+fruit&amp;") == ["a=my+fruit&"]
    assert _read("a=my-fruit%21") == ["a=my-fruit!"]
    line = "a=my+tangerine%21"
    assert Span(2, 14, 7, "fruit") in escaped_spans(line, _fruit)
