"""Statements: a text cut into the sentences it is made of, for rules that judge one claim at a time."""

from __future__ import annotations

import re

_LINE_MARK = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s?|\[[ xX]\]\s+)+")
_STOP, _CLOSING = "[.!?…。！？]", r"[\"'”’)\]*_`]"
# A stop, then white space; `;` or `:`, white space and a word; a dash between white space. Written so that it begins with what
# few characters of a text are: the search then skips the others. Nothing is tried at each place of a long run of white space.
_END = re.compile(
    rf"[\s\"'”’)\]*_`—–](?:(?<={_STOP}{_CLOSING}){_CLOSING}*\s+|(?<={_STOP}\s)\s*|(?<=[;:]\s)\s*(?=[^\W\d_])|(?<=\s[—–])\s+)"
)
_ONLY_MARKS = re.compile(r"[\W_]*")


def statements(text: str) -> tuple[str, ...]:
    """The sentences of prose and list items, in order, without list, heading and quote marks; a line end always ends one.

    Cut after `. ! ? …`, and after `;` and `:` before a word, and at dashes, so that a command after a colon stands alone.
    """
    parts = (part.strip() for line in text.split("\n") for part in _END.split(_unmarked(line)))
    return tuple(part for part in parts if not _ONLY_MARKS.fullmatch(part))


def _unmarked(line: str) -> str:
    mark = _LINE_MARK.match(line)
    return line if mark is None else line[mark.end() :]
