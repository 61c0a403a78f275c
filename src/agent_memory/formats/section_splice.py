"""The managed section inside the bytes of a file: found, put in, replaced, taken out. No byte outside the markers changes (P17).

A marker counts where it stands alone on its line, indented by at most three blanks; both may share one line that holds
nothing else. Markers in a closed code fence, or in a code span, are documentation and are ignored. Everything else that
looks like a marker makes the file ambiguous: a lone one, reversed, nested or doubled ones, one beside other text, one
spelled differently, one after a fence that is never closed, and a fence that holds what we ourselves had written.
"""

from __future__ import annotations

import re
from itertools import pairwise

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.transcripts.own_marks import SECTION_END, SECTION_START
from agent_memory.domain.undo_run import SectionChange

SECTION_HEADING = "## Memory of earlier sessions"
"""How the first line after the start marker of every section that we write begins."""

_START, _END = SECTION_START.encode(), SECTION_END.encode()
_HEADING = SECTION_HEADING.encode()
_BOMS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"
_LIKE_A_MARKER = re.compile(rb"<!--\s*agent-memory\s*:\s*(?:start|end)\s*-->", re.IGNORECASE)
_FENCE = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_ALONE = re.compile(rb" {0,3}(?:%b|%b|%b[ \t]*%b)[ \t]*" % (_START, _END, _START, _END))
_CODE_SPAN = re.compile(rb"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")


@frozen
class Spliced:
    """A file with the section put in or taken out, and what that changed. Texts are as in the file; bytes that are no
    UTF-8 are lone surrogates (`surrogateescape`)."""

    data: bytes
    before: str | None
    """The section that was there, with its markers."""
    after: str | None
    separator: str = ""
    """What was put between the file's own text and a section that was appended."""


@frozen
class _Span:
    start: int
    end: int


@frozen
class _Line:
    start: int
    text: bytes
    """Without its end."""
    fenced: bool


def splice_section(data: bytes, section: str | None) -> Result[Spliced, str]:
    """The file with exactly this section in it, or without any; a Failure says what is ambiguous about its markers.

    `section` has its markers, `\\n` line ends and no final one; it gets the line ends of the file. Where there is none yet,
    it is appended after a blank line, and a line end after it. Doing it twice changes nothing.
    """
    return _find(data).map(lambda found: _without(data, found) if section is None else _with(data, found, section))


def restore_section(data: bytes, change: SectionChange) -> Result[bytes, str]:
    """The file with the section that a change replaced, byte for byte; unchanged where that is there already.

    A Failure where the section is neither what the change left nor what it found. A section that the change had appended
    goes with its separator, unless somebody has written on after it.
    """

    def restored(found: _Span | None) -> Result[bytes, str]:
        current = None if found is None else _text(data[found.start : found.end])
        if current == change.before:
            return Success(data)
        if current != change.after:
            return Failure("its managed section was changed since")
        if found is None:
            return splice_section(data, change.before).map(lambda spliced: spliced.data)
        if change.before is None:
            return Success(_cut(data, found, _bytes(change.separator)))
        return Success(data[: found.start] + _bytes(change.before) + data[found.end :])

    return _find(data).bind(restored)


def section_in(data: bytes) -> Result[str | None, str]:
    """The section of a file, with its markers; None where there is none."""
    return _find(data).map(lambda found: None if found is None else _text(data[found.start : found.end]))


def _with(data: bytes, found: _Span | None, section: str) -> Spliced:
    outside = data if found is None else data[: found.start] + data[found.end :]
    line_end = _line_end_of(outside)
    text = section.replace("\r\n", "\n").replace("\n", line_end)
    if found is not None:
        before = _text(data[found.start : found.end])
        return Spliced(data[: found.start] + _bytes(text) + data[found.end :], before, text)
    separator = _separator(data, line_end)
    return Spliced(data + _bytes(separator + text + line_end), None, text, separator)


def _without(data: bytes, found: _Span | None) -> Spliced:
    if found is None:
        return Spliced(data, None, None)
    line_end = _bytes(_line_end_of(data[: found.start] + data[found.end :]))
    above = data[: found.start]
    separator = line_end if above.endswith(line_end * 2) else b""
    return Spliced(_cut(data, found, separator), _text(data[found.start : found.end]), None, _text(separator))


def _cut(data: bytes, found: _Span, separator: bytes) -> bytes:
    """Without the section and the line end after it; without the separator too where nothing follows, or two lines of
    the file would become one."""
    above, below = data[: found.start], data[found.end :]
    below = below.removeprefix(b"\r\n") if below.startswith(b"\r\n") else below.removeprefix(b"\n")
    if not below and separator:
        above = above.removesuffix(separator)
    return above + below


def _separator(data: bytes, line_end: str) -> str:
    text = data.removeprefix(_UTF8_BOM)
    if not text:
        return ""
    if not text.endswith(b"\n"):
        return line_end * 2
    return "" if re.search(rb"(?:\A|\n)\r?\n\Z", text) else line_end


def _line_end_of(data: bytes) -> str:
    return "\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else "\n"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# -- finding ----------------------------------------------------------------------------------------------------------


def _find(data: bytes) -> Result[_Span | None, str]:
    if data.startswith(_BOMS) or b"\0" in data:
        return Failure("it is no text in UTF-8")
    lines, ends_in_a_fence = _lines(data)
    fenced_markers = any(each.fenced and _LIKE_A_MARKER.search(each.text) for each in lines)

    def one(markers: list[tuple[bytes, _Span]]) -> Result[_Span | None, str]:
        if ends_in_a_fence and (fenced_markers or not markers):
            return Failure("it ends inside a code block that is never closed")
        return _one_section(markers) if markers else _unless_swallowed(lines)

    return _markers(lines).bind(one)


def _markers(lines: list[_Line]) -> Result[list[tuple[bytes, _Span]], str]:
    """Every marker that counts, in order."""
    found: list[tuple[bytes, _Span]] = []
    for line in lines:
        if line.fenced or not _LIKE_A_MARKER.search(_outside_spans(line.text)):
            continue
        here = list(_LIKE_A_MARKER.finditer(line.text))
        if any(each[0] not in (_START, _END) for each in here):
            return Failure("it holds a marker that is spelled differently from ours")
        if not _ALONE.fullmatch(line.text.removeprefix(_UTF8_BOM)):
            return Failure("a marker shares its line with other text")
        found += [(each[0], _Span(line.start + each.start(), line.start + each.end())) for each in here]
    return Success(found)


def _outside_spans(line: bytes) -> bytes:
    return _CODE_SPAN.sub(b"``", line) if b"`" in line else line


def _one_section(markers: list[tuple[bytes, _Span]]) -> Result[_Span | None, str]:
    match [each for each, _ in markers]:
        case [first, second] if (first, second) == (_START, _END):
            return Success(_Span(markers[0][1].start, markers[1][1].end))
        case [first, second] if (first, second) == (_END, _START):
            return Failure("its end marker comes before its start marker")
        case [only]:
            return Failure(f"it holds only the {'start' if only == _START else 'end'} marker of the managed section")
        case several:
            return Failure(f"it holds {len(several)} markers of the managed section")


def _unless_swallowed(lines: list[_Line]) -> Result[_Span | None, str]:
    """No section, unless a fence holds one of ours: then a stray fence above it has swallowed it."""
    for line, following in pairwise(lines):
        if line.fenced and line.text.strip() == _START and following.text.strip().startswith(_HEADING):
            return Failure("its managed section stands inside a code block")
    return Success(None)


def _lines(data: bytes) -> tuple[list[_Line], bool]:
    """The lines, with those of fences marked (their own first and last line too), and whether the last fence is open."""
    lines: list[_Line] = []
    fence, start = b"", 0
    for whole in _LINE.findall(data):
        text = whole.rstrip(b"\r\n")
        if fence:
            lines.append(_Line(start, text, fenced=True))
            fence = b"" if _closes(text, fence) else fence
        else:
            opening = _FENCE.match(text.removeprefix(_UTF8_BOM))
            fence = opening[1] if opening else b""
            lines.append(_Line(start, text, fenced=bool(opening)))
        start += len(whole)
    return lines, bool(fence)


def _closes(line: bytes, fence: bytes) -> bool:
    marker = line.strip(b" \t>")
    return len(marker) >= len(fence) and set(marker) == {fence[0]}
