"""Finds, inserts, replaces and removes the managed section in the bytes of a file. No byte outside the markers changes
(P17).

A marker counts if it is alone on its line, indented by at most three spaces; both may share one line that holds nothing
else. Markers in a closed code fence or in a code span are documentation and are ignored. Anything else like a marker
makes the file ambiguous: a lone one, reversed, nested or doubled ones, one beside other text, one spelled differently,
one after an unclosed fence, and a fence that contains what we wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from attrs import evolve, frozen

from agent_memory.errors import MarkersAmbiguous
from agent_memory.rules.change import SectionChange
from agent_memory.session.own_marks import SECTION_END, SECTION_START

SECTION_HEADING = "## Memory of earlier sessions"
"""The beginning of the first line after the start marker in every section that we write."""

_START, _END = SECTION_START.encode(), SECTION_END.encode()
_HEADING = SECTION_HEADING.encode()
_UTF8_BOM = b"\xef\xbb\xbf"
_LIKE_A_MARKER = re.compile(rb"<!--\s*agent-memory\s*:\s*(?:start|end)\s*-->", re.IGNORECASE)
_FENCE = re.compile(rb"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_ALONE = re.compile(rb" {0,3}(?:%b|%b|%b[ \t]*%b)[ \t]*" % (_START, _END, _START, _END))
_CODE_SPAN = re.compile(rb"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_HEADS = (
    (re.compile(r"/\.cursor/rules/.+\.mdc\Z"), "description: Memory of earlier sessions\nalwaysApply: true"),
    (re.compile(r"/\.windsurf/rules/.+\.md\Z"), "trigger: always_on"),
    (re.compile(r"/\.kiro/steering/.+\.md\Z"), "inclusion: always"),
    (re.compile(r"/\.github/instructions/.+\.instructions\.md\Z"), 'applyTo: "**"'),
)
"""The heads without which a harness ignores a rule file: frontmatter that says that it always applies.

https://cursor.com/docs/context/rules, https://docs.windsurf.com/windsurf/cascade/memories,
https://kiro.dev/docs/steering,
https://docs.github.com/en/copilot/customizing-copilot/adding-repository-custom-instructions-for-github-copilot
"""

_Span = tuple[int, int]
"""Start and end offsets."""


@frozen
class Spliced:
    """A file with the section inserted or removed, and what changed. Invalid UTF-8 is kept as lone surrogates."""

    data: bytes
    before: str | None
    """The previous section, with its markers."""
    after: str | None
    separator: str = ""
    """What was inserted between the file's own text and an appended section."""


def splice_section(path: str, data: bytes, section: str | None) -> Spliced:
    """Returns the file with exactly this section in it, or without any. MarkersAmbiguous, as in all that follows, says
    of the file at this path why the place of the section cannot be told.

    `section` has its markers, `\\n` line ends and no final one; it gets the file's line ends. A first section is
    appended after a blank line, with a line end after it. Doing it twice changes nothing.
    """
    found = _find(path, data)
    above, below = (data, b"") if found is None else (data[: found[0]], data[found[1] :])
    before = None if found is None else _text(data[found[0] : found[1]])
    line_end = "\r\n" if (above + below).count(b"\r\n") * 2 > (above + below).count(b"\n") else "\n"
    if section is None:
        separator = line_end if found is not None and above.endswith(_bytes(line_end * 2)) else ""
        return Spliced(data if found is None else _cut(data, found, _bytes(separator)), before, None, separator)
    text = section.replace("\r\n", "\n").replace("\n", line_end)
    if found is not None:
        return Spliced(above + _bytes(text) + below, before, text)
    own = data.removeprefix(_UTF8_BOM)
    separator = line_end if own.endswith(b"\n") else line_end * 2
    if not own or re.search(rb"(?:\A|\n)\r?\n\Z", own):
        separator = ""
    return Spliced(data + _bytes(separator + text + line_end), None, text, separator)


def restore_section(data: bytes, change: SectionChange) -> bytes:
    """Returns the file with the section that a change replaced, byte for byte; unchanged if that is there already.

    MarkersAmbiguous if the section is neither what the change left nor what it found. An appended section goes with its
    separator, unless somebody has written text after it.
    """
    found = _find(change.path, data)
    current = None if found is None else _text(data[found[0] : found[1]])
    if current == change.before:
        return data
    if current != change.after:
        raise MarkersAmbiguous(change.path, "its managed section was changed since")
    if found is None:
        return splice_section(change.path, data, change.before).data
    if change.before is None:
        return _cut(data, found, _bytes(change.separator))
    return data[: found[0]] + _bytes(change.before) + data[found[1] :]


def section_in(path: str, data: bytes) -> str | None:
    """Returns the section of a file, with its markers, or None."""
    found = _find(path, data)
    return None if found is None else _text(data[found[0] : found[1]])


def with_section(path: str, data: bytes | None, section: str) -> Spliced:
    """Like `splice_section`, but a new or empty file gets its head with the section, and loses it with the section."""
    head = "" if data else rule_head(path)
    spliced = splice_section(path, data or b"", section)
    return evolve(spliced, data=head.encode() + spliced.data, separator=head) if head else spliced


def rule_head(path: str) -> str:
    """Returns the head that the file at this absolute path needs, if any."""
    return next((f"---\n{head}\n---\n\n" for pattern, head in _HEADS if pattern.search(path)), "")


def _cut(data: bytes, found: _Span, separator: bytes) -> bytes:
    """Returns the data without the section and its line end, and without the separator if that joins no two lines."""
    above, below = data[: found[0]], data[found[1] :]
    below = below.removeprefix(b"\r\n") if below.startswith(b"\r\n") else below.removeprefix(b"\n")
    if not below and separator:
        above = above.removesuffix(separator)
    return above + below


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# -- finding ----------------------------------------------------------------------------------------------------------


@frozen
class _Line:
    start: int
    text: bytes
    """Without its line end."""
    fenced: bool


def _find(path: str, data: bytes) -> _Span | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise MarkersAmbiguous(path, "it is not UTF-8 text")
    lines, ends_in_a_fence = _lines(data)
    markers = list(_markers(path, lines))
    if ends_in_a_fence and (not markers or any(each.fenced and _LIKE_A_MARKER.search(each.text) for each in lines)):
        raise MarkersAmbiguous(path, "it ends inside a code block that is never closed")
    match [each for each, _ in markers]:
        case []:
            for line, following in pairwise(lines):  # a stray fence above our section has swallowed it
                if line.fenced and line.text.strip() == _START and following.text.strip().startswith(_HEADING):
                    raise MarkersAmbiguous(path, "its managed section stands inside a code block")
            return None
        case [first, second] if (first, second) == (_START, _END):
            return markers[0][1][0], markers[1][1][1]
        case [first, second] if (first, second) == (_END, _START):
            raise MarkersAmbiguous(path, "its end marker comes before its start marker")
        case [only]:
            which = "start" if only == _START else "end"
            raise MarkersAmbiguous(path, f"it holds only the {which} marker of the managed section")
        case several:
            raise MarkersAmbiguous(path, f"it holds {len(several)} markers of the managed section")


def _markers(path: str, lines: list[_Line]) -> Iterator[tuple[bytes, _Span]]:
    for line in lines:
        prose = _CODE_SPAN.sub(b"``", line.text) if b"`" in line.text else line.text
        if line.fenced or not _LIKE_A_MARKER.search(prose):
            continue
        here = list(_LIKE_A_MARKER.finditer(line.text))
        if any(each[0] not in (_START, _END) for each in here):
            raise MarkersAmbiguous(path, "it holds a marker that is spelled differently from ours")
        if not _ALONE.fullmatch(line.text.removeprefix(_UTF8_BOM)):
            raise MarkersAmbiguous(path, "a marker shares its line with other text")
        yield from ((each[0], (line.start + each.start(), line.start + each.end())) for each in here)


def _lines(data: bytes) -> tuple[list[_Line], bool]:
    """Returns the lines, those in fences marked (with their first and last lines), and whether the last fence is open."""
    lines: list[_Line] = []
    fence, start = b"", 0
    for whole in _LINE.findall(data):
        text = whole.rstrip(b"\r\n")
        if fence:
            lines.append(_Line(start, text, fenced=True))
            marker = text.strip(b" \t>")
            fence = b"" if len(marker) >= len(fence) and set(marker) == {fence[0]} else fence
        else:
            opening = _FENCE.match(text.removeprefix(_UTF8_BOM))
            fence = opening[1] if opening else b""
            lines.append(_Line(start, text, fenced=bool(opening)))
        start += len(whole)
    return lines, bool(fence)
