"""Secrets in another coat: encoded in base64 or hexadecimal, escaped for URLs, JSON or HTML, or cut in two by a line break.

Each form is read and searched like any text. What is found in base64 or hexadecimal takes the whole run with it, since no
part of a run says which characters are the secret's. Every step is linear.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from agent_memory.domain.redacting.rule import Span, is_drawn

Search = Callable[[str], Iterable[Span]]

_BREAK = r"(?:\\{1,3}r)?(?:\\{1,3}n|\r?\n)[ \t]{0,24}(?:[>|#*][ \t]{1,4})?[\"']?"
_BASE64 = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{24,}}+(?:[\"']?{_BREAK}[A-Za-z0-9+/_-]{{4,}}+(?![ \t]*[\w.,(]))*+={{0,2}}"
)
_NOISE = re.compile(rf"{_BREAK}|[\"'\s\\]")
_HEX = re.compile(r"(?:0x)?[0-9A-Fa-f]{32,}")
_SPACED_HEX = re.compile(r"(?:[ :][0-9A-Fa-f]{2}){15,}+(?![0-9A-Za-z])")
_ESCAPED_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}(?:\\x[0-9A-Fa-f]{2}){11,}+")
_HEX_PAIR = re.compile(r"[0-9A-Fa-f]{2}")
_HEX_NOISE = re.compile(r"0x|\\x|[ :]")
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_BYTES_FOR_EACH_UNPRINTABLE = 10
"""Of so many decoded bytes one may be unprintable for them to count as text."""
_LONGEST_TRIED = 4
"""A run that was cut in front may begin at any of so many places."""

_ESCAPE = re.compile(
    r"%(?:25)?(?P<hex>[0-9A-Fa-f]{2})|\\{1,3}(?:u00|x)(?P<code>[0-9A-Fa-f]{2})|&(?P<entity>amp|quot|apos|lt|gt|sol|colon|equals|commat|num"
    r"|#\d{2,3}|#x[0-9A-Fa-f]{2});|\\{1,3}(?P<plain>[/&=])|\\{1,3}(?P<space>[nrt])|(?P<hidden>[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\x1b\[[\d;]{0,16}[A-Za-z])"
)
_TELLS = re.compile(
    r"%[0-9A-Fa-f]{2}|\\u00[2-7][0-9A-Fa-f]|\\x[0-9A-Fa-f]{2}|&(?:#|amp|quot|apos|lt|gt|sol|colon|equals|commat|num)|\\/|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\x1b]"
    r"|[Kk]ind: ?Secret\\{1,3}n"
)
"""What makes a second look at a place worth its time."""
_BEFORE_CHARS = 300
"""Of what stands before an escape on its line, what may tell what the secret is."""
_BEHIND = re.compile(r"[^\n]{0,200}[^\s]{0,8000}")


def encoded_spans(text: str, search: Search) -> Iterator[Span]:
    """Every run of base64 or hexadecimal in which `search` finds something once it is decoded."""
    for run in _BASE64.finditer(text):
        content = _NOISE.sub("", run.group())
        in_hex = _decoded_hex(content.removeprefix("0x")) if _HEX.fullmatch(content) else ()
        if found := _first(chain(_decoded_base64(content), in_hex), search):
            yield Span(run.start(), run.end(), found.rank, found.name)
    for start, end in _dumps(text):
        if found := _first(_decoded_hex(_HEX_NOISE.sub("", text[start:end])), search):
            yield Span(start, end, found.rank, found.name)


def _dumps(text: str) -> Iterator[tuple[int, int]]:
    """Hexadecimal byte by byte: `67 68 70`, `67:68:70`, `\\x67\\x68\\x70`."""
    for run in _SPACED_HEX.finditer(text):
        first = _HEX_PAIR.fullmatch(text, max(0, run.start() - 2), run.start())
        yield run.start() - 2 if first else run.start() + 1, run.end()
    for run in _ESCAPED_HEX.finditer(text):
        yield run.span()


def escaped_spans(text: str, search: Search) -> Iterator[Span]:
    """Every secret that only shows in a line once its escapes are read."""
    end = 0
    for tell in _TELLS.finditer(text):
        if tell.start() < end:
            continue
        # The stretch of the line that holds escapes, with what stands around them; no two overlap.
        first = max(text.rfind("\n", end, tell.start()) + 1, tell.start() - _BEFORE_CHARS, end)
        behind = _BEHIND.match(text, tell.end())
        end = behind.end() if behind else tell.end()
        yield from _spans_in_line(text[first:end], first, search)


def _spans_in_line(line: str, offset: int, search: Search) -> Iterator[Span]:
    read = _ESCAPE.sub(_character, line)
    found = list(search(read))
    if "+" in line and "%" in line:  # a form, in which a plus sign is a space
        found.extend(search(read.replace("+", " ")))
    if not found:
        return
    starts: list[int] = []
    position = 0
    for escape in _ESCAPE.finditer(line):
        starts.extend(range(offset + position, offset + escape.start()))
        starts.extend([offset + escape.start()] * len(_character(escape)))
        position = escape.end()
    starts.extend(range(offset + position, offset + len(line) + 1))
    for span in found:
        yield _original(span, starts)


def _original(span: Span, starts: Sequence[int]) -> Span:
    """Where a span of a text that was read or put together lies in the original: its character `n` stands at `starts[n]`, and
    the last of `starts` ends it."""
    return Span(starts[span.start], starts[span.end], span.rank, span.name)


def _character(escape: re.Match[str]) -> str:
    if code := escape["hex"] or escape["code"]:
        return chr(int(code, 16))
    if entity := escape["entity"]:
        from html import unescape  # with the names of two thousand characters, for texts that name one

        return unescape(f"&{entity};")
    if escape["space"]:
        return "\n"
    return escape["plain"] or ""


def _first(texts: Iterable[str], search: Search) -> Span | None:
    return next((span for text in texts for span in search(text)), None)


def _decoded_base64(run: str) -> Iterator[str]:
    """The text that the run holds, read from its beginning or, had it been cut there, from a later character on."""
    standard = run.replace("-", "+").replace("_", "/").rstrip("=")
    for skipped in range(_LONGEST_TRIED):
        kept = standard[skipped:]
        kept = kept[: len(kept) - (len(kept) % 4 == 1)]
        if text := _as_text(base64.b64decode(f"{kept}==")):
            yield text
            return


def _decoded_hex(run: str) -> Iterator[str]:
    try:
        text = _as_text(bytes.fromhex(run))
    except ValueError:
        return
    if text:
        yield text


def _as_text(raw: bytes) -> str:
    """The text of the bytes, UTF-16 too; "" when they are none."""
    if raw.count(0) * 3 >= len(raw):
        raw = raw.replace(b"\0", b"")
    if len(raw) < 8 or len(raw.translate(None, _PRINTABLE)) * _BYTES_FOR_EACH_UNPRINTABLE > len(raw):
        return ""
    return raw.decode("utf-8", "replace")


_WRAP = re.compile(
    r"(?:\n|\\n)[ \t]{0,40}(?:(?:[>│|#*]|//|[+.][ \t]{0,4}[\"'`]|[\"'`])[ \t]{0,4})?(?=(?P<after>[\w+/=~%.@-]{4,120}+))"
)
_END_OF_LINE = re.compile(
    r"(?P<before>[\w+/=~%:@.-]{3,60}+)(?P<gap>[ \t]{0,4}(?:\\|=|[\"'`][ \t]{0,4}[+.\\]?|[│|])?[ \t]{0,40}\r?)\Z"
)
_WORD = re.compile(r"[A-Z]?[a-z]*(?:[_-][A-Z]?[a-z]*)*[.:=]*|[A-Z]+[.:]?|\d+[.)]?")
_DIGIT = re.compile(r"[0-9]")
_WITHIN = re.compile(r"[\w+/=~%.@-]+")
_END_CHARS = 100
"""How far before a break the end of a token may be."""
_LEAST_CHARS = 10
"""Of two lines that hold halves of a token one has so many."""
_AROUND_CHARS = 400
"""Of the first and the last line of a chain, what may tell what the token is."""


_Joint = tuple[int, int]
"""Where a token is broken: the signs and spaces around a line break, half-open."""


def wrapped_spans(text: str, search: Search) -> Iterator[Span]:
    """Every secret that goes on behind a line break.

    Two lines belong together when the end of one and the beginning of the next could be two halves of one token. Lines that
    do are read as one, and what crosses a break of theirs is a find. Each line is in one chain only.
    """
    chain: list[_Joint] = []
    for joint in _joints(text):
        if chain and not _WITHIN.fullmatch(text, chain[-1][1], joint[0]):
            yield from _crossing(text, chain, search)
            chain = []
        chain.append(joint)
    if chain:
        yield from _crossing(text, chain, search)


def _joints(text: str) -> Iterator[_Joint]:
    line = 0
    for found in _WRAP.finditer(text):
        first, line = max(line, found.start() - _END_CHARS), found.end()
        if found.start() - first < _LEAST_CHARS and len(found["after"]) < _LEAST_CHARS:
            continue
        if _WORD.fullmatch(found["after"]):
            continue
        if not _DIGIT.search(found["after"]) and not _DIGIT.search(text, first, found.start()):
            continue
        before = _END_OF_LINE.search(text[first : found.start()])
        if before and (is_drawn(found["after"]) or is_drawn(before["before"])):
            yield first + before.start("gap"), found.end()


def _crossing(text: str, chain: list[_Joint], search: Search) -> Iterator[Span]:
    """What is found across a break once the lines of the chain are one, with some of what stands before and behind it."""
    first, last = chain[0][0], chain[-1][1]
    begin = max(text.rfind("\n", 0, first) + 1, first - _AROUND_CHARS)
    line_end = text.find("\n", last, last + _AROUND_CHARS)
    end = line_end if line_end >= 0 else min(len(text), last + _AROUND_CHARS)
    parts: list[str] = []
    starts: list[int] = []
    for gap_start, gap_end in (*chain, (end, end)):
        parts.append(text[begin:gap_start])
        starts.extend(range(begin, gap_start))
        begin = gap_end
    for span in search("".join(parts)):
        original = _original(span, (*starts, end))
        if original.end - original.start > span.end - span.start:
            yield original
