"""What a note says of itself when its frontmatter does not: its title and its description; and when two bodies say the same."""

from __future__ import annotations

import re
from hashlib import sha256

from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.links import without_links
from agent_memory.domain.text.plain_text import one_line

MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 200

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_NO_TEXT = re.compile(r"[ \t]*(?:(?:[-*_=][ \t]*){2,}$|#{1,6}[ \t]*$|`{3}|~{3})")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?|#{1,6}[ \t]+)*")
_ENDS_PARAGRAPH = re.compile(r"[ \t]*(?:$|(?:[-*+]|\d{1,9}[.)])[ \t]|>|#{1,6}(?:[ \t]|$))")
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)[.!?…][\"')\]”’*_`]*(?=\s)|[。！？]")


def derive_title(body: str) -> str:
    """The first heading, else the first line of text, without markers, at most 200 characters; empty for an empty body."""
    lines = _prose_lines(body)
    heading = next((found[1] for found in map(_HEADING.fullmatch, lines) if found and found[1]), None)
    if heading is None:
        text = (line for line in (*lines, *body.split("\n")) if line.strip() and not _NO_TEXT.match(line))
        heading = _without_marker(next(text, ""))
    return one_line(heading, MAX_TITLE_CHARS)


def derive_description(body: str) -> str:
    """The first sentence of the first paragraph that is no heading and no code, without links, at most 200 characters;
    may be empty."""
    paragraph: list[str] = []
    for line in _prose_lines(body):
        if paragraph and _ENDS_PARAGRAPH.match(line):
            break
        if line.strip() and not _HEADING.fullmatch(line) and not _NO_TEXT.match(line):
            paragraph.append(_without_marker(line))
    text = without_links(" ".join(paragraph))
    sentence = _SENTENCE_END.search(text)
    return one_line(text[: sentence.end()] if sentence else text, MAX_DESCRIPTION_CHARS)


def body_hash(body: str) -> str:
    """SHA-256 of the UTF-8 of the body without leading and trailing white space, hex."""
    return sha256(body.strip().encode("utf-8", "surrogatepass")).hexdigest()


def _prose_lines(body: str) -> list[str]:
    """The lines outside fenced blocks, a blank one in the place of each block."""
    if "```" not in body and "~~~" not in body:
        return body.split("\n")
    parts, position = list[str](), 0
    for start, end in find_code(body).fences:
        parts.append(body[position:start])
        position = end
    return "".join((*parts, body[position:])).split("\n")


def _without_marker(line: str) -> str:
    marker = _MARKER.match(line)
    return line[marker.end() :] if marker else line
