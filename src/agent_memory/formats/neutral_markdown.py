"""Markdown of an entry as it may stand in somebody else's file (P18): nothing in it acts, and nothing in it hides.

What comes out reads the same to every parser, CommonMark or a tool's regular expressions: fences stand at the margin and
are closed, a code span ends on its line, and outside of code there is no heading above a given level, no import, no tag, no
comment, no image, no link definition. The text stays readable: what would act is escaped, not removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_memory.domain.text.plain_text import clean_text, one_line

LOWEST_HEADING = 6

_MARKERS = r"(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)|[ \t]*>)*[ \t]*"
_LINE = re.compile(rf"(?P<markers>{_MARKERS})(?P<text>.*)", re.DOTALL)
_FENCE = re.compile(r"(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<language>.*)", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_DEFINITION = re.compile(r"\[(?=(?:\\.|[^\[\]\\])*(?:\]:|\\?$))")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMPORT = re.compile(r"(?<![\w.+-])@(?=[^\s@])")
_ENTITY = re.compile(r"&(?=#\d|#[xX][0-9a-fA-F])")
# Also inside code: harnesses and other tools look for these with regular expressions, wherever they stand.
_HIDING = re.compile(
    r"<(?=!--|/?(?:[a-z]+[-_])*"
    r"(?:context|reminder|instructions?|memory|memories|rules|prompt|notification|system|skill)(?:[-_][a-z]+)*[\s>/])",
    re.IGNORECASE,
)
_MANAGED_BLOCK = re.compile(r"\b(BEGIN|START|END)(?= (?:[A-Z]+ )*(?:MANAGED|GENERATED)\b)")


def neutral_body(text: str, top_level: int) -> str:
    """The text with its highest heading at `top_level` and the others below it in proportion; fences closed."""
    lines = clean_text(text).text.strip("\n").rstrip().split("\n")
    shift = max(top_level - _highest_heading(lines), 0)
    return "\n".join(_neutral_lines(lines, shift))


def neutral_line(text: str, max_chars: int) -> str:
    """The text on one line of at most about `max_chars` characters, for a heading or a list item; code spans stay."""
    return _neutral_inline(one_line(text, max_chars))


def _neutral_lines(lines: list[str], shift: int) -> Iterator[str]:
    fence, dent, previous = "", 0, ""
    for line in lines:
        if fence:
            if _closes(line, fence):
                yield fence
                fence = previous = ""
            else:
                yield _neutral_code(_dedented(line, dent))
            continue
        parts = _LINE.fullmatch(line)
        markers, content = (parts["markers"], parts["text"]) if parts else ("", line)
        opening = _FENCE.fullmatch(content)
        if opening:
            if markers.strip(" \t>"):
                yield from ([""] if previous.strip() else [])  # or a dash would make a heading of the line above
                yield markers.rstrip()
            fence, dent = opening["fence"], len(markers)
            yield fence + _neutral_code(opening["language"].replace("`", "'").rstrip())
            continue
        previous = _neutral_prose(markers, content, shift, previous)
        yield previous
    if fence:
        yield fence


def _neutral_prose(markers: str, content: str, shift: int, previous: str) -> str:
    if heading := _HEADING.match(content):
        level = min(len(heading[1]) + shift, LOWEST_HEADING)
        return f"{markers}{'#' * level}{_neutral_inline(content[heading.end() :])}"
    if previous.strip() and _UNDERLINE.fullmatch(content):
        return f"{markers}\\{content}"  # or it would make a heading of the line above
    if previous.strip() and not content and markers.rstrip().endswith("-"):
        return f"{markers.rstrip()[:-1]}\\-"
    text = _neutral_inline(content)
    return f"{markers}\\{text}" if _DEFINITION.match(text) else markers + text


def _neutral_inline(text: str) -> str:
    text = text.replace("\\`", "'")
    parts, position = list[str](), 0
    for span in _CODE_SPAN.finditer(text):
        code = _neutral_code(span[0])
        # In a table a bar ends the cell, and with it the span.
        parts += [_neutral_words(text[position : span.start()]), _IMPORT.sub("@ ", code) if "|" in code else code]
        position = span.end()
    return "".join((*parts, _neutral_words(text[position:])))


def _neutral_words(text: str) -> str:
    """Prose without code. A lone backtick would pair with one of another line, and turn code and prose inside out."""
    text = _neutral_code(text.replace("`", "'"))
    text = _ENTITY.sub("&amp;", _TAG.sub("&lt;", text))
    return _IMPORT.sub("@ ", text).replace("![", "!\\[")


def _neutral_code(text: str) -> str:
    """Code, in which only what others look for with regular expressions is broken."""
    text = _HIDING.sub("&lt;", text) if "<" in text else text
    return _MANAGED_BLOCK.sub(lambda found: found[1].lower(), text)


def _highest_heading(lines: list[str]) -> int:
    fence, highest = "", LOWEST_HEADING
    for line in lines:
        content = _LINE.sub(lambda parts: parts["text"], line, count=1)
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opening := _FENCE.fullmatch(content):
            fence = opening["fence"]
        elif heading := _HEADING.match(content):
            highest = min(highest, len(heading[1]))
    return highest


def _closes(line: str, fence: str) -> bool:
    marker = line.strip(" \t>")
    return len(marker) >= len(fence) and set(marker) == {fence[0]}


def _dedented(line: str, columns: int) -> str:
    """Without as much of its indentation, or of its quotation marks, as the line with the fence had."""
    kept = re.match(r"[ \t>]*", line[:columns])
    return line[kept.end() :] if kept else line
