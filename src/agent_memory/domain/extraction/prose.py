"""The prose of a message: its paragraphs and list items, without code, quotations, tables, logs and tags.

What somebody else said, or a machine printed, is not what the speaker says; so no cue is ever looked for in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from attrs import evolve, frozen

from agent_memory.domain.text.plain_text import clean_text

MESSAGE_CHARS = 24_000
"""Characters of one message that are looked at."""

_FENCE = re.compile(r"\s*(```+|~~~+)")
_TRIPLE_QUOTE = re.compile(r'"""|' + "'''")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_RULE = re.compile(r"\s*([-*_=─━]\s*){3,}$")
_ITEM = re.compile(r"(\s*)(?:[-*+•–]|\(?(\d{1,2}|[A-Za-z])[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_BOLD_LABEL = re.compile(r"\*\*(?P<label>[^*\n]{1,70}?)(?P<colon>:?)\*\*(?P<rest>.*)$", re.DOTALL)
_LABEL_END = re.compile(r"\s*:\s*|\s+[-–—]\s+|\s*$")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,400}\)")
_EMPHASIS = re.compile(r"\*+|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|~~")
_CODE_SPAN = re.compile(r"(`+[^`\n]{1,400}`+)")
_PLACE_IN_FILE = re.compile(
    r"\s*\((?:at |around |on )?lines? ~?\d+(?:[-–]\d+)?\)"
    r"|\s+(?:at|on|around) lines? \d+(?:[-–]\d+)?"
    r"|(?<=\.[A-Za-z]{1})(?::\d+)(?:[-–:]\d+)?|(?<=\.[a-z]{2})(?::\d+)(?:[-–:]\d+)?|(?<=\.[a-z]{3})(?::\d+)(?:[-–:]\d+)?"
)
_MARKS = re.compile(r"[\u2705\u274c\u2714\u2716\u26a0\u2728\U0001f300-\U0001faff\ufe0f]+\s*")
_MACHINE = re.compile(
    r"\s*(?:"
    r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,300})?/?>|//|/\*"  # a tag, a comment
    r"|(?:#\d+ )?\d+\.\d+ \S+ (?:ERR|error|warn)|npm (?:ERR|error|warn)|--\w|error(?:\[\w+\])?:|\[Image #\d+\]\s*$"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"  # a log line
    r"|(?:\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?[:\s]+\S)"
    r"|(?:Traceback |  File \"|at [\w.$<>]+\(|--- (?:FAIL|PASS)|FAIL\b|ok  \t|panic: |goroutine \d)"
    r"|(?:\+\+\+|---|@@) |diff --git |index [0-9a-f]{7}"
    r"|[$❯%] \S|>>> "
    r"|from\s+[\w.]+\s+import\b|import\s+(?:[\w.]+$|[{*\"'(])|#include\b|package\s+\w+$"
    r"|(?:const|let|var)\s+\w+\s*(?::[^=]{0,60})?=|(?:func|def|fn|function)\s+\w*\s*\(|class\s+\w+\s*[({:]"
    r"|(?:public|private|protected|static|export)\s+\w+\s+\w+.*[({;=]|return\s.*[();]$"
    r"|\S+\s*(?::=|\+=)\s"
    r")"
)
_CODE_TAIL = re.compile(r"(?:[{}]|[)\]\"'];|=>|&&|\|\||\\)\s*$")
_WHOLE_LINE = re.compile(r".{20}[.!]$")
_HEADING_LINE = re.compile(r"[A-Z][\w'/-]*(?: [\w'/-]+){0,4}:?")
_END = re.compile(r"[.!?…]+[\"”»')\]]*(?=\s)|[。！？।؟][」』”]?")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|nr|fig|p\.?ex|sr|sra|dr|mr|mrs)|(?:^|\s)[A-Za-z])\.$|(?:^|\s)\.{2,}$",
    re.IGNORECASE,
)
_FEWEST_LINES = 3


@frozen
class Block:
    """One paragraph or list item as plain text on one line; code spans keep their backticks. A heading has no text."""

    text: str
    style: Literal["paragraph", "item"]
    label: str = ""
    """The bold words in front of it: `**Fix:** …`."""
    section: str = ""
    """The heading above it, or the line ending in a colon that leads into its list."""
    depth: int = 0
    """Indentation of an item, in characters."""
    ordinal: str = ""
    """Of an item: `2` of `2.`, `b` of `b)`."""
    lines: tuple[str, ...] = ()
    """The same text as its lines were."""
    run: int = 0
    """Blocks without an empty line between them have the same number."""


def blocks_of(message: str) -> tuple[Block, ...]:
    """The blocks of a message in order."""
    return tuple(_with_sections(_raw_blocks(message[:MESSAGE_CHARS].replace("\u2019", "'"))))


def legible(text: str) -> str:
    """The text without hidden and control characters, and without halves of characters."""
    return clean_text(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).text


def plain(text: str) -> str:
    """One line without markdown, emoji and places in files; code spans are left as they are."""
    pieces = _CODE_SPAN.split(_LINK.sub(r"\1", text))
    cleaned = [
        piece if piece.startswith("`") and index % 2 else _plain_piece(piece) for index, piece in enumerate(pieces)
    ]
    return " ".join(_PLACE_IN_FILE.sub("", "".join(cleaned)).split())


def _plain_piece(text: str) -> str:
    return _EMPHASIS.sub("", _MARKS.sub("", text))


def is_machine_text(line: str) -> bool:
    """Whether a line looks like code, a log, a diff or markup rather than like something said."""
    return bool(_MACHINE.match(line) or _CODE_TAIL.search(line)) or _mostly_symbols(line)


def _mostly_symbols(line: str) -> bool:
    dense = "".join(line.split())
    letters = sum(character.isalpha() for character in dense)
    return len(dense) > 12 and letters < len(dense) * 0.55


def _raw_blocks(message: str) -> Iterator[Block | None]:
    """Blocks with their own label; None where a heading or an empty line ends a list."""
    fence = ""
    quoted = False
    current: list[str] = []
    shape = Block("", "paragraph")
    run = 0

    def finish() -> Iterator[Block]:
        if current and shape.style == "paragraph" and (listed := _lines_of_a_list(current)):
            for section, text in listed:
                yield Block(text, "item", section=section, lines=(text,), run=run)
            current.clear()
        if current:
            yield _labelled(evolve(shape, lines=tuple(current), run=run))
            current.clear()

    for line in message.split("\n"):
        opening = _FENCE.match(line)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) else fence
            continue
        toggles = len(_TRIPLE_QUOTE.findall(line))
        if quoted or toggles:
            yield from finish()
            quoted = quoted ^ bool(toggles % 2)
            continue
        if opening:
            yield from finish()
            fence = opening[1][:3]
            continue
        if not line.strip():
            yield from finish()
            run += 1
            continue
        if _RULE.match(line):
            yield from finish()
            yield None
            continue
        heading = _HEADING.match(line)
        if heading:
            yield from finish()
            yield None
            yield Block("", "paragraph", section=plain(heading[1]).rstrip(":"))
            continue
        item = _ITEM.match(line)
        said = item[3] if item else line
        if line.lstrip().startswith((">", "|")) or is_machine_text(said):
            yield from finish()
            continue
        if item:
            yield from finish()
            shape = Block("", "item", depth=len(item[1].expandtabs(4)), ordinal=(item[2] or "").lower())
            current.append(item[3])
            continue
        if not current:
            shape = Block("", "paragraph")
        current.append(line.strip())
        if line.rstrip().endswith(":"):
            yield from finish()
    yield from finish()


def _lines_of_a_list(lines: list[str]) -> list[tuple[str, str]]:
    """The lines of a paragraph, each with the heading above it, where each is one or more whole sentences or a heading of a
    few words: so a list looks from which its marks were lost. Empty where it is no list."""
    found: list[tuple[str, str]] = []
    heading = ""
    for index, line in enumerate(lines):
        if _WHOLE_LINE.search(line):
            found.append((heading, plain(line)))
        elif _HEADING_LINE.fullmatch(line) and index + 1 < len(lines) and _WHOLE_LINE.search(lines[index + 1]):
            heading = plain(line).rstrip(":")
        else:
            return []
    return found if len(found) >= _FEWEST_LINES and (heading or len(found) == len(lines)) else []


def _labelled(block: Block) -> Block:
    joined = " ".join(block.lines)
    found = _BOLD_LABEL.match(joined)
    end = _LABEL_END.match(found["rest"]) if found else None
    if found and (end or found["colon"]):
        rest = found["rest"][end.end() :] if end else found["rest"]
        return evolve(block, label=plain(found["label"]), text=plain(rest))
    return evolve(block, text=plain(joined))


def _with_sections(raw: Iterator[Block | None]) -> Iterator[Block]:
    """Each block with the heading above it or the line that leads into it."""
    heading = lead = ""
    for block in raw:
        if block is None:
            heading = lead = ""
        elif not block.lines:
            heading, lead = block.section, ""
            yield block
        elif block.style == "paragraph":
            if not block.text:
                heading, lead = block.label, ""
                yield evolve(block, section=heading, label="")
            else:
                yield evolve(block, section=heading)
                lead = block.text if block.text.endswith(":") else ""
                heading = heading if lead else ""
        elif block.text or block.label:
            yield evolve(block, section=block.section or lead or heading)


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text on one line. Points inside code spans, names, numbers and abbreviations end nothing."""
    hidden = _inside_spans(text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        goes_on = end[0][:1] == "…" or end[0][:2] == ".."
        if goes_on and text[end.end() :].lstrip()[:1].islower():
            continue
        if hidden[end.start()] or _ABBREVIATION.search(text, start, end.end()):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return tuple(sentence for sentence in found if sentence)


def _inside_spans(text: str) -> list[bool]:
    """For each character, whether it is inside a closed code span."""
    inside = [False] * (len(text) + 1)
    opened: int | None = None
    for position, character in enumerate(text):
        if character != "`":
            continue
        if opened is None:
            opened = position
        else:
            inside[opened : position + 1] = [True] * (position + 1 - opened)
            opened = None
    return inside
