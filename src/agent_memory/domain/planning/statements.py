"""Statements: a text cut into the sentences it is made of, for rules that judge one claim at a time."""

from __future__ import annotations

import re

_LINE_MARK = re.compile(r"^\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s?|\[[ xX]\]\s+)+")
_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]*_`]*\s+|(?<=[;:])\s+(?=[^\W\d_])|\s+[—–]\s+")
_ONLY_MARKS = re.compile(r"[\W_]*")


def statements(text: str) -> tuple[str, ...]:
    """The sentences of prose and list items, in order, without list, heading and quote marks; a line end always ends one.

    Cut after `. ! ? …`, and after `;` and `:` before a word, and at dashes, so that a command after a colon stands alone.
    """
    lines = (_LINE_MARK.sub("", line) for line in text.split("\n"))
    parts = (part.strip() for line in lines for part in _END.split(line))
    return tuple(part for part in parts if not _ONLY_MARKS.fullmatch(part))
