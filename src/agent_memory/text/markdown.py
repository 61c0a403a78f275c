"""What a note's markdown holds: code (CommonMark 0.31, §4.5 and §6.1), check-boxes outside code (GitHub Flavored
Markdown 0.29, §5.3), links between notes (`[[id__c3d4e5]]`, `[[id__c3d4e5|label]]`, and `[[ref:b]]` inside a reply;
never inside code), and the title and description to use when its frontmatter has none."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from attrs import frozen

from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.plain_text import one_line, spliced

# -- code and check-boxes ----------------------------------------------------------------------------------------------


_MARKERS = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*[ \t]*"
_FENCE = re.compile(rf"{_MARKERS}(`{{3,}}(?=[^`\n]*$)|~{{3,}})")
_NEW_BLOCK = re.compile(r"[ \t]*(?:$|[-*+][ \t]|\d{1,9}[.)][ \t]|>|#{1,6}(?:[ \t]|$))")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_TICKS = re.compile(r"`+")
_TICKS_OR_ESCAPE = re.compile(r"\\[\\`]|(`+)")

_BOX = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<text>\S.*)$", re.MULTILINE)
_MOST_CHARS = 300


@frozen
class Code:
    """The code in a text, as ranges of character offsets with exclusive ends, in order and without overlaps."""

    fences: tuple[tuple[int, int], ...]
    """Fenced blocks, whole lines."""
    spans: tuple[tuple[int, int], ...]
    """Code spans, backticks included."""
    open_fence: str | None = None
    """The marker of a fence that nothing closes, so that the rest of the text is code."""

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Returns fences and spans together, in order."""
        return tuple(sorted(self.fences + self.spans))


def find_code(text: str) -> Code:
    """Returns all code in a markdown text, in linear time.

    Simpler than CommonMark in two ways: indented code does not count as code, and a fence opened inside a list item or
    a quotation lasts until it is closed, even if its container ends before.
    """
    fences: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    fence, fence_start, prose_start, position = "", 0, 0, 0
    for line in text.split("\n"):
        end = position + len(line)
        if fence:
            marker = line.strip(" \t>")
            if len(marker) >= len(fence) and set(marker) == {fence[0]}:
                fences.append((fence_start, end))
                fence, prose_start = "", end
        elif (opening := _FENCE.match(line)) or _NEW_BLOCK.match(line):
            spans.extend(_code_spans(text, prose_start, position))
            prose_start = position
            if opening:
                fence, fence_start = opening[1], position
            elif _HEADING.match(line):  # a block of one line
                spans.extend(_code_spans(text, position, end))
                prose_start = end
        position = end + 1
    if fence:
        fences.append((fence_start, len(text)))
    else:
        spans.extend(_code_spans(text, prose_start, len(text)))
    return Code(tuple(fences), tuple(spans), fence or None)


def _code_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    runs_by_length: dict[int, list[int]] = defaultdict(list)
    for run in _TICKS.finditer(text, start, end):
        runs_by_length[len(run[0])].append(run.start())
    position = start
    while opening := _TICKS_OR_ESCAPE.search(text, position, end):
        position = opening.end()
        length = len(opening[1] or "")
        closings = runs_by_length.get(length, [])
        following = bisect_left(closings, position)
        if following < len(closings):
            position = closings[following] + length
            yield opening.start(), position


@frozen
class CheckBoxes:
    open: tuple[str, ...] = ()
    """The text behind each unticked box, on one line, in order; long texts are cut."""
    done: int = 0
    """How many boxes are ticked."""


def check_boxes(text: str) -> CheckBoxes:
    """Returns the boxes of a markdown text, nested ones too, except those in fenced code, which are examples."""
    fences = find_code(text).fences if "[ ]" in text or "[x]" in text or "[X]" in text else ()
    still_open: list[str] = []
    done = 0
    for box in _BOX.finditer(text):
        if is_inside(box.start(), fences):
            continue
        if box["mark"] == " ":
            still_open.append(one_line(box["text"], _MOST_CHARS))
        else:
            done += 1
    return CheckBoxes(tuple(still_open), done)


# -- links -------------------------------------------------------------------------------------------------------------


SEE_ALSO = "See also:"
"""Starts the last paragraph of a body, the links that were appended to it."""

_LINK = re.compile(rf"\[\[({ID_PATTERN}|ref:[\w.-]{{1,64}})(?:\|([^\[\]\n]*))?\]\]")
SEE_LINK = re.compile(rf"([.!?])?(?:\s[\s(;,–—-]*|\()[Ss]ee(?: also)?:?\s\[\[(?:{ID_PATTERN})\]\]\)?([.!?])?")
"""`See [[id__…]]` with the space before it, between what ends the sentence before and what ends its own."""
_LAST_SEE_ALSO = re.compile(
    rf"^{SEE_ALSO}[ \t]*(?:(?P<links>[^\n]+)?|(?:\n[ \t]*)?(?:\n(?P<bullet>[ \t]*[-*+][ \t]+)[^\n]*)+)\Z", re.MULTILINE
)


@frozen
class Link:
    """One link in a body. `target` is an id or `ref:…`; `start` and `end` are offsets of the whole `[[…]]` in characters."""

    target: str
    label: str | None
    start: int
    end: int


def find_links(body: str) -> tuple[Link, ...]:
    """Returns all links outside code, in order."""
    found = [Link(link[1], link[2], link.start(), link.end()) for link in _LINK.finditer(body)]
    if not found:
        return ()
    code = find_code(body).ranges
    return tuple(link for link in found if not is_inside(link.start, code))


def append_see_also(body: str, ids: Iterable[str]) -> str:
    """Returns the body with a link to each id; missing ones are appended under `See also:`. Idempotent."""
    held = {link.target for link in find_links(body)}
    missing = [f"[[{id}]]" for id in dict.fromkeys(ids) if id not in held]
    if not missing:
        return body
    text = body.rstrip()
    if fence := find_code(text).open_fence:
        text = f"{text}\n{fence}"  # otherwise the links would be code
    elif last := _LAST_SEE_ALSO.search(text):
        if bullet := last["bullet"]:
            return text + "".join(f"\n{bullet}{link}" for link in missing)
        return f"{text}{',' if last['links'] else ''} {', '.join(missing)}"
    gap = "\n\n" if text else ""
    return f"{text}{gap}{SEE_ALSO} {', '.join(missing)}"


def without_see_also(body: str) -> str:
    """Returns the body without a final `See also:` line and white space, so that bodies that say the same are equal."""
    text = body.rstrip()
    last = _LAST_SEE_ALSO.search(text)
    return text[: last.start()].rstrip() if last else text


def without_see_also_of(body: str, ids: Collection[str]) -> str:
    """Returns the body without links to these ids in its `See also:` line, if that holds only links."""
    text = without_see_also(body)
    last = [link for link in find_links(body) if link.start >= len(text)]
    said = spliced(body, ((link.start, link.end, "") for link in last))[len(text) :].replace(SEE_ALSO, "")
    if any(map(str.isalnum, said)) or not any(link.target in ids for link in last):
        return body
    return append_see_also(text, [link.target for link in last if link.target not in ids])


def without_links(text: str) -> str:
    """Returns one line of text with each link replaced by its label, or removed if it has none."""
    return " ".join(_LINK.sub(lambda link: link[2] or "", text).split())


def is_inside(position: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    """Returns whether an offset lies in one of these ranges, which are in order."""
    index = bisect_right(ranges, position, key=lambda range: range[0]) - 1
    return index >= 0 and position < ranges[index][1]


# -- title, description, sameness --------------------------------------------------------------------------------------


MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 200

_HEADING_TEXT = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_NO_TEXT = re.compile(r"[ \t]*(?:(?:[-*_=][ \t]*){2,}$|#{1,6}[ \t]*$|`{3}|~{3})")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|>[ \t]?|#{1,6}[ \t]+)*")
_ENDS_PARAGRAPH = re.compile(r"[ \t]*(?:$|(?:[-*+]|\d{1,9}[.)])[ \t]|>|#{1,6}(?:[ \t]|$))")
_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)[.!?…][\"')\]”’*_`]*(?=\s)|[。！？]")


def derive_title(body: str) -> str:
    """Returns the first heading, or else the first line of text, unmarked, at most 200 characters; may be empty."""
    heading = first_heading(body)
    if heading is None:
        text = (line for line in (*prose_lines(body), *body.split("\n")) if line.strip() and not _NO_TEXT.match(line))
        heading = one_line(_MARKER.sub("", next(text, ""), count=1), MAX_TITLE_CHARS)
    return heading


def first_heading(body: str) -> str | None:
    """Returns the text of the first heading outside code that has any, at most 200 characters, or None."""
    headings = filter(None, map(_HEADING_TEXT.fullmatch, prose_lines(body)))
    return next(filter(None, (one_line(heading[1], MAX_TITLE_CHARS) for heading in headings)), None)


def derive_description(body: str) -> str:
    """Returns the first sentence outside headings and code, without links, at most 200 characters; may be empty."""
    paragraph: list[str] = []
    for line in prose_lines(body):
        if paragraph and _ENDS_PARAGRAPH.match(line):
            break
        if line.strip() and not _HEADING_TEXT.fullmatch(line) and not _NO_TEXT.match(line):
            paragraph.append(_MARKER.sub("", line, count=1))
    text = without_links(" ".join(paragraph))
    sentence = _SENTENCE_END.search(text)
    return one_line(text[: sentence.end()] if sentence else text, MAX_DESCRIPTION_CHARS)


def prose_lines(body: str) -> list[str]:
    """Returns the lines outside fenced blocks, with a blank line in place of each block."""
    if "```" not in body and "~~~" not in body:
        return body.split("\n")
    return spliced(body, ((start, end, "") for start, end in find_code(body).fences)).split("\n")
