"""Check-boxes of a markdown list (GitHub Flavored Markdown 0.29, §5.3): `- [ ] open`, `- [x] done`."""

from __future__ import annotations

import re
from bisect import bisect_right

from attrs import frozen

from agent_memory.domain.text.code_spans import find_code
from agent_memory.domain.text.plain_text import one_line

_BOX = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[ xX])\][ \t]+(?P<text>\S.*)$", re.MULTILINE)
_MOST_CHARS = 300


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
