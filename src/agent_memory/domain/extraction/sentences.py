"""Sentences of plain text."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?…]+[\"”»')\]]*(?=\s)|[。！？।؟][」』”]?")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|resp|nr|fig|p\.?ex|sr|sra|dr|mr|mrs)|(?:^|\s)[A-Za-z])\.$|(?:^|\s)\.{2,}$",
    re.IGNORECASE,
)


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
