"""A document as turns: what a file or a page says, in pieces that can be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from agent_memory.domain.history import Role, Turn
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.transcripts.own_marks import without_own_output
from agent_memory.domain.transcripts.turns import cut_text, readable

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SMALL_CHARS, _SECTION_CHARS = 1_500, 4_000
_TITLE_CHARS = 200


def document_turns(text: str, tool_name: str) -> tuple[Turn, ...]:
    """One tool turn for each section (small neighbours together, a long one in parts), nothing lost but blank lines.

    Tool turns, since nobody in the session said it: whoever wrote a document, its words are no user's. The record id of a
    turn is made from its text and the texts before it.
    """
    sections = _grouped(
        part for section in _sections(without_own_output(text)) for part in cut_text(section, _SECTION_CHARS)
    )
    digest = blake2b(digest_size=10)
    turns: list[Turn] = []
    for section in sections:
        digest.update(section.encode("utf-8", "surrogatepass"))
        turns.append(Turn(len(turns) + 1, Role.TOOL, readable(section), digest.hexdigest(), tool_name=tool_name))
    return tuple(turns)


def first_heading(text: str) -> str | None:
    """The text of the first heading outside code."""
    headings = (_HEADING.match(section) for section in _sections(text))
    titles = (one_line(heading[1].rstrip("# \t"), _TITLE_CHARS) for heading in headings if heading)
    return next((title for title in titles if title), None)


def _sections(text: str) -> Iterator[str]:
    """The text in order, a new piece at every heading that is not in a fenced code block."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
            fence = ""
        elif not fence and lines and _HEADING.match(line):
            yield "".join(lines)
            lines = []
        lines.append(line)
    if lines:
        yield "".join(lines)


def _grouped(sections: Iterator[str]) -> Iterator[str]:
    held = ""
    for section in sections:
        if held.strip() and len(held) + len(section) > _SMALL_CHARS:
            yield held.strip("\n")
            held = ""
        held += section
    if held.strip():
        yield held.strip("\n")
