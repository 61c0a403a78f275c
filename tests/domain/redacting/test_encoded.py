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


def test_a_dump_begins_with_a_whole_byte() -> None:
    dump = _SENTENCE.encode().hex(" ")
    assert list(encoded_spans(f"0x {dump}", _fruit)) == [Span(3, 3 + len(dump), 7, "fruit")]
    assert list(encoded_spans(f" {dump}", _fruit)) == [Span(1, 1 + len(dump), 7, "fruit")]
    assert list(encoded_spans(f"f {dump}", _fruit)) == [Span(2, 2 + len(dump), 7, "fruit")]
    for before in ("", "("):
        first = len(before)
        found = list(encoded_spans(f"{before}ff {dump}", _fruit))
        assert found == [Span(first, first + 3 + len(dump), 7, "fruit")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\r\\n", '"\n"', "\n  | "])
def test_a_run_goes_on_behind_a_line_break(newline: str) -> None:
    run = _base64(_SENTENCE)
    assert _decoded(f"{run[:24]}{newline}{run[24:]}") == [_SENTENCE]


@pytest.mark.parametrize("written", [_base64("=> ??? the orchard >>> ends"), "PT4gPz8_IHRoZSBvcmNoYXJkID4-PiBlbmRz"])
def test_base64_is_read_in_both_alphabets(written: str) -> None:
    assert _decoded(written) == ["=> ??? the orchard >>> ends"]


def test_the_end_of_base64_is_read() -> None:
    assert _decoded(_base64("where the orchard ends W")) == ["where the orchard ends W"]  # the last digit is an X


@pytest.mark.parametrize("cut", range(9))
def test_base64_is_read_wherever_it_was_cut(cut: int) -> None:
    written = _base64("where the tangerine orchard now ends")
    (behind,) = _decoded(written[: len(written) - cut])
    assert behind == "where the tangerine orchard now ends"[: 36 - -(-cut * 3 // 4)]
    (ahead,) = _decoded(written[cut:])
    assert ahead == "where the tangerine orchard now ends"[-(-cut // 4) * 3 :]


@pytest.mark.parametrize("before", ["", "0x"])
def test_hexadecimal_is_read_too(before: str) -> None:
    assert _SENTENCE in _decoded(before + _SENTENCE.encode().hex())
    assert _SENTENCE not in _decoded(before + _SENTENCE.encode().hex()[:-1])


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a quiet orchard \x01\x02??", "a quiet orchard \x01\x02??"),  # two of 20
        (b"a quiet orchard \x01\x02?", None),  # two of 19
        (b"caf\xc3\xa9 behind the orchard", "café behind the orchard"),
        (b"caf\xff behind the orchard", "caf\ufffd behind the orchard"),
        ("the orchard".encode("utf-16-le"), "the orchard"),
        (b"ab\0" * 8, "ab" * 8),  # a third of it
        (b"ab\0" * 8 + b"a", None),
        (b"\x01\0" * 12, None),
        (b"a\tb\r\nc d e f g h i", "a\tb\r\nc d e f g h i"),
    ],
)
def test_text_is_printable_but_for_a_byte_of_ten(raw: bytes, text: str | None) -> None:
    first = _decoded(_base64(raw))[:1]
    assert first == [text] if text is not None else first not in ([raw.decode()], [raw.replace(b"\0", b"").decode()])


def test_what_is_shorter_than_eight_characters_is_no_text() -> None:
    assert _decoded(_base64("orchards".encode("utf-32-le"))) == ["orchards"]
    assert "orchard" not in _decoded(_base64("orchard".encode("utf-32-le")))


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


def test_a_line_without_escapes_is_not_read_again() -> None:
    assert _read("nothing\nto see %here") == []


def test_around_an_escape_its_line_is_read() -> None:
    assert _read("one\ntwo%41three\nfour") == ["twoAthree"]
    assert _read("\none %41\n\ntwo %42") == ["one A", "two B"]


def test_of_a_long_line_300_characters_before_an_escape_and_the_words_behind_it_are_read() -> None:
    assert _read("b" * 400 + "%41") == ["b" * 300 + "A"]
    assert _read("%41" + "b" * 199 + " " + "c" * 50 + " d") == ["A" + "b" * 199 + " " + "c" * 50]
    assert _read("%41" + "b" * 8_201) == ["A" + "b" * 8_200]


def test_no_place_is_read_twice() -> None:
    assert _read("%41" + "b" * 200 + " " + "c" * 20 + "%42%43") == ["A" + "b" * 200, " " + "c" * 20 + "BC"]
    assert _read("%41%42 %43\nb%44") == ["AB C", "bD"]
