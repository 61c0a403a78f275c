"""Where markdown is code: fenced blocks and code spans (CommonMark 0.31, §4.5 and §6.1); and the check-boxes outside of it (GitHub
Flavored Markdown 0.29, §5.3): `- [ ] open`, `- [x] done`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

from attrs import frozen

from agent_memory.domain.text.plain_text import one_line

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
    """The code in a text, as ranges of character offsets with exclusive ends, each tuple in order, no two overlapping."""

    fences: tuple[tuple[int, int], ...]
    """Fenced blocks, whole lines."""
    spans: tuple[tuple[int, int], ...]
    """Code spans with their backticks."""
    open_fence: str | None = None
    """The marker of a last fence that nothing closes, so that the rest of the text is code."""

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Fences and spans together, in order."""
        return tuple(sorted(self.fences + self.spans))


def find_code(text: str) -> Code:
    """All code in a markdown text, in time that grows with its length.

    Simpler than CommonMark in two ways: a block that is code only by its indentation is not counted as code, and a fence
    opened inside a list item or a quotation lasts until it is closed, even where its container ends before.
    """
    fences: list[tuple[int, int]] = []
    spans: list[tuple[int, int]] = []
    fence, fence_start, prose_start, position = "", 0, 0, 0
    for line in text.split("\n"):
        end = position + len(line)
        if fence:
            if _closes(line, fence):
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


def _closes(line: str, fence: str) -> bool:
    marker = line.strip(" \t>")
    return len(marker) >= len(fence) and set(marker) == {fence[0]}


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
    """What a text has to be ticked off."""

    open: tuple[str, ...] = ()
    """The text behind each box that is not ticked, on one line, in order; a long one is cut."""
    done: int = 0
    """Boxes that are ticked."""


def check_boxes(text: str) -> CheckBoxes:
    """The boxes of a markdown text, nested ones too; those in fenced code are an example of something."""
    fences = find_code(text).fences if "[ ]" in text or "[x]" in text or "[X]" in text else ()
    starts = [start for start, _ in fences]
    still_open: list[str] = []
    done = 0
    for box in _BOX.finditer(text):
        before = bisect_right(starts, box.start()) - 1
        if before >= 0 and box.start() < fences[before][1]:
            continue
        if box["mark"] == " ":
            still_open.append(one_line(box["text"], _MOST_CHARS))
        else:
            done += 1
    return CheckBoxes(tuple(still_open), done)
