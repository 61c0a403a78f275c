"""Which lines of some bodies are still in what was made of them, and how much text that is (design §5.2, "Information")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from attrs import frozen

from agent_memory.domain.defragging.comparable import without_targets
from agent_memory.domain.text.links import without_see_also
from agent_memory.domain.text.terms import content_terms, coverage

KEPT_SHARE = 0.6
"""Of the content words of a line that must be in the result."""

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[^`]*$")
_MARKS = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>|\[[ xX]\])\s+|>)+")
_SAME_LINE = 0.6
_MOST_COMPARED = 2_000
"""Distinct lines that are compared with one another: with more, only equal ones count as one."""


@frozen
class Line:
    """One line that says something, without list, heading and quote marks and targets of links."""

    text: str
    terms: frozenset[str]
    heading: bool = False


def lines_of(body: str) -> tuple[Line, ...]:
    """The lines that hold a content word, in order, without the line of links at the end and the marks of code blocks."""
    lines = without_targets(without_see_also(body)).split("\n")
    read = (_line(line) for line in lines if not _FENCE.match(line))
    return tuple(line for line in read if line.terms)


def distinct_lines(bodies: Iterable[str]) -> tuple[Line, ...]:
    """The lines of all bodies, each once however often it occurs, compared without case and white space."""
    found: dict[str, Line] = {}
    for body in bodies:
        for line in lines_of(body):
            found.setdefault(line.text.casefold(), line)
    return tuple(found.values())


def lost_lines(lines: Iterable[Line], said: frozenset[str]) -> tuple[Line, ...]:
    """The lines of which less than `KEPT_SHARE` of the content words are in `said`."""
    return tuple(line for line in lines if coverage(line.terms, said) < KEPT_SHARE)


def claims_among(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines that count: not headings, which may be worded anew, unless there is nothing else."""
    return tuple(line for line in lines if not line.heading) or lines


def chars_of(lines: Iterable[Line]) -> int:
    """Characters of the lines together."""
    return sum(len(line.text) for line in lines)


def unlike_lines(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines without those that say nearly the same as an earlier one."""
    by_terms: Mapping[frozenset[str], Line] = {line.terms: line for line in reversed(lines)}
    once = tuple(reversed(tuple(by_terms.values())))
    if len(once) > _MOST_COMPARED:
        return once
    kept: list[Line] = []
    for line in once:
        if all(len(line.terms & other.terms) < _SAME_LINE * len(line.terms | other.terms) for other in kept):
            kept.append(line)
    return tuple(kept)


def _line(text: str) -> Line:
    bare = " ".join(_MARKS.sub("", text).split())
    return Line(bare, content_terms(bare), _HEADING.match(text) is not None)
