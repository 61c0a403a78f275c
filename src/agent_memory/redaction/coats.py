"""Secrets in another coat: encoded in base64 or hexadecimal, escaped for URLs, JSON or HTML, or cut in two by a line break.

Each form is read and searched like any text. What is found in base64 or hexadecimal takes the whole run with it, since no
part of a run says which characters are the secret's. Every step is linear.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator

from agent_memory.redaction.rule import Span
from agent_memory.redaction.values import is_drawn

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

_ESCAPE = re.compile(
    r"%(?:25)?(?P<hex>[0-9A-Fa-f]{2})|\\{1,3}(?:u00|x)(?P<code>[0-9A-Fa-f]{2})|&(?P<entity>amp|quot|apos|lt|gt|sol|colon|equals|commat|num"
    r"|#\d{2,3}|#x[0-9A-Fa-f]{2});|\\{1,3}(?P<plain>[/&=])|\\{1,3}(?P<space>[nrt])|(?P<hidden>[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\x1b\[[\d;]{0,16}[A-Za-z])"
)
_ESCAPE_TELLS = re.compile(
    r"%[0-9A-Fa-f]{2}|\\u00[2-7][0-9A-Fa-f]|\\x[0-9A-Fa-f]{2}|&(?:#|amp|quot|apos|lt|gt|sol|colon|equals|commat|num)|\\/|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\x1b]"
    r"|[Kk]ind: ?Secret\\{1,3}n"
)
"""Signs that make a second look at a place worth its time."""
_BEFORE_CHARS = 300
"""Of what stands before an escape on its line, what may tell what the secret is."""
_BEHIND = re.compile(r"[^\n]{0,200}[^\s]{0,8000}")


def encoded_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every run of base64 or hexadecimal in which `search` finds something once it is decoded."""
    for start, end, decoded in _decoded_runs(text):
        if found := next(iter(search(decoded)), None):
            yield Span(start, end, found.rank, found.name)


def _decoded_runs(text: str) -> Iterator[tuple[int, int, str]]:
    for run in _BASE64.finditer(text):
        content = _NOISE.sub("", run.group())
        yield *run.span(), _decoded_base64(content)
        if _HEX.fullmatch(content):
            yield *run.span(), _decoded_hex(content.removeprefix("0x"))
    # Byte by byte, as in `67 68 70`, `67:68:70`, `\x67\x68\x70`.
    dumps = [run.span() for run in _ESCAPED_HEX.finditer(text)]
    for run in _SPACED_HEX.finditer(text):
        first = _HEX_PAIR.fullmatch(text, max(0, run.start() - 2), run.start())
        dumps.append((run.start() - 2 if first else run.start() + 1, run.end()))
    for start, end in dumps:
        yield start, end, _decoded_hex(_HEX_NOISE.sub("", text[start:end]))


def _reread(text: str, start: int, end: int, pieces: Iterable[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """Returns `text[start:end]` with these pieces of it replaced, and where each character of that, and its end, stands in
    `text`."""
    parts: list[str] = []
    places: list[int] = []
    for first, last, read in (*pieces, (end, end, "")):
        parts += (text[start:first], read)
        places += (*range(start, first), *[first] * len(read))
        start = last
    return "".join(parts), [*places, end]


def escaped_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every secret that only shows in a line once its escapes are read."""
    end = 0
    for tell in _ESCAPE_TELLS.finditer(text):
        if tell.start() < end:
            continue
        # The stretch of the line that holds escapes, with what stands around them; no two overlap.
        first = max(text.rfind("\n", end, tell.start()) + 1, tell.start() - _BEFORE_CHARS, end)
        behind = _BEHIND.match(text, tell.end())
        end = behind.end() if behind else tell.end()
        escapes = _ESCAPE.finditer(text, first, end)
        read, places = _reread(text, first, end, ((*each.span(), _character(each)) for each in escapes))
        found = list(search(read))
        # A form, in which a plus sign is a space.
        if text.find("+", first, end) >= 0 and text.find("%", first, end) >= 0:
            found.extend(search(read.replace("+", " ")))
        for span in found:
            yield Span(places[span.start], places[span.end], span.rank, span.name)


def _character(escape: re.Match[str]) -> str:
    if code := escape["hex"] or escape["code"]:
        return chr(int(code, 16))
    if entity := escape["entity"]:
        from html import unescape  # with the names of two thousand characters, for texts that name one

        return unescape(f"&{entity};")
    if escape["space"]:
        return "\n"
    return escape["plain"] or ""


def _decoded_base64(run: str) -> str:
    """Returns the text that the run holds, read from its beginning or, had it been cut there, from a later character on."""
    standard = run.replace("-", "+").replace("_", "/").rstrip("=")
    for skipped in range(4):  # a run that was cut in front may begin at any of so many places
        kept = standard[skipped:]
        kept = kept[: len(kept) - (len(kept) % 4 == 1)]
        if text := _as_text(base64.b64decode(f"{kept}==")):
            return text
    return ""


def _decoded_hex(run: str) -> str:
    try:
        return _as_text(bytes.fromhex(run))
    except ValueError:
        return ""


def _as_text(raw: bytes) -> str:
    """Returns the text of the bytes, UTF-16 too; "" when they are none."""
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
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]*(?:[_-][A-Z]?[a-z]*)*[.:=]*|[A-Z]+[.:]?|\d+[.)]?")
_DIGIT = re.compile(r"[0-9]")
_WITHIN = re.compile(r"[\w+/=~%.@-]+")
_END_CHARS = 100
"""How far before a break the end of a token may be."""
_LEAST_CHARS = 10
"""Of two lines that hold halves of a token one has so many."""
_AROUND_CHARS = 400
"""Of the first and the last line of a chain, what may tell what the token is."""


def wrapped_spans(text: str, search: Search) -> Iterator[Span]:
    """Yields every secret that goes on behind a line break.

    Two lines belong together when the end of one and the beginning of the next could be two halves of one token. Lines that
    do are read as one, and what crosses a break of theirs is a find. Each line is in one chain only.
    """
    chains: list[list[tuple[int, int]]] = []
    for joint in _joints(text):
        if chains and _WITHIN.fullmatch(text, chains[-1][-1][1], joint[0]):
            chains[-1].append(joint)
        else:
            chains.append([joint])
    for chain in chains:
        first, last = chain[0][0], chain[-1][1]
        begin = max(text.rfind("\n", 0, first) + 1, first - _AROUND_CHARS)
        line_end = text.find("\n", last, last + _AROUND_CHARS)
        end = line_end if line_end >= 0 else min(len(text), last + _AROUND_CHARS)
        read, places = _reread(text, begin, end, ((*joint, "") for joint in chain))
        for span in search(read):
            start, behind = places[span.start], places[span.end]
            if behind - start > span.end - span.start:
                yield Span(start, behind, span.rank, span.name)


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Yields where a token may be broken: the signs and spaces around a line break, half-open."""
    line = 0
    for found in _WRAP.finditer(text):
        first, line = max(line, found.start() - _END_CHARS), found.end()
        behind = found["after"]
        if (
            (found.start() - first < _LEAST_CHARS and len(behind) < _LEAST_CHARS)
            or _PLAIN_WORD.fullmatch(behind)
            or not (_DIGIT.search(behind) or _DIGIT.search(text, first, found.start()))
        ):
            continue
        before = _END_OF_LINE.search(text[first : found.start()])
        if before and (is_drawn(behind) or is_drawn(before["before"])):
            yield first + before.start("gap"), found.end()
