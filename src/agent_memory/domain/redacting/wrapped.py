"""Secrets that a line break has cut in two: in mail, in terminals of fixed width, in folded YAML, behind a shell's `\\`.

Two lines belong together when the end of one and the beginning of the next could be two halves of one token. Lines that
do are read as one, and what crosses a break of theirs is a find. Each line is in one chain only, so the search is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from attrs import frozen

from agent_memory.domain.redacting.places import Places
from agent_memory.domain.redacting.plausible import is_drawn
from agent_memory.domain.redacting.rule import Span

_BREAK = re.compile(
    r"(?:\n|\\n)[ \t]{0,40}(?:(?:[>│|#*]|//|[+.][ \t]{0,4}[\"'`]|[\"'`])[ \t]{0,4})?(?=(?P<after>[\w+/=~%.@-]{4,120}+))"
)
_END_OF_LINE = re.compile(
    r"(?P<before>[\w+/=~%:@.-]{3,60}+)(?P<gap>[ \t]{0,4}(?:\\|=|[\"'`][ \t]{0,4}[+.\\]?|[│|])?[ \t]{0,40}\r?)\Z"
)
_WORD = re.compile(r"[A-Z]?[a-z]*(?:[_-][A-Z]?[a-z]*)*[.:=]*|[A-Z]+[.:]?|\d+[.)]?")
_DIGIT = re.compile(r"[0-9]")
_WITHIN = re.compile(r"[\w+/=~%.@-]+")
_END_CHARS = 100
"""How far before a break the end of a token may be."""
_LEAST_CHARS = 10
"""Of two lines that hold halves of a token one has so many."""
_AROUND_CHARS = 400
"""Of the first and the last line of a chain, what may tell what the token is."""


@frozen
class _Joint:
    """A break in a token: `text[start:end]`, with the signs and spaces around it."""

    start: int
    end: int


def wrapped_spans(text: str, search: Callable[[str], Iterable[Span]]) -> Iterator[Span]:
    """Every secret that goes on behind a line break."""
    for chain in _chains(text):
        yield from _crossing(text, chain, search)


def _chains(text: str) -> Iterator[list[_Joint]]:
    """The breaks inside tokens, those of one token together."""
    chain: list[_Joint] = []
    for joint in _joints(text):
        if chain and not _WITHIN.fullmatch(text, chain[-1].end, joint.start):
            yield chain
            chain = []
        chain.append(joint)
    if chain:
        yield chain


def _joints(text: str) -> Iterator[_Joint]:
    line = 0
    for found in _BREAK.finditer(text):
        first, line = max(line, found.start() - _END_CHARS), found.end()
        if found.start() - first < _LEAST_CHARS and len(found["after"]) < _LEAST_CHARS:
            continue
        if _WORD.fullmatch(found["after"]):
            continue
        if not _DIGIT.search(found["after"]) and not _DIGIT.search(text, first, found.start()):
            continue
        before = _END_OF_LINE.search(text[first : found.start()])
        if before and (is_drawn(found["after"]) or is_drawn(before["before"])):
            yield _Joint(first + before.start("gap"), found.end())


def _crossing(text: str, chain: list[_Joint], search: Callable[[str], Iterable[Span]]) -> Iterator[Span]:
    joined, places = _joined(text, chain)
    for span in search(joined):
        original = places.original(span)
        if original.end - original.start > span.end - span.start:
            yield original


def _joined(text: str, chain: list[_Joint]) -> tuple[str, Places]:
    """The lines of the chain as one, with some of what stands before and behind it, and where it stands."""
    first, last = chain[0], chain[-1]
    begin = max(text.rfind("\n", 0, first.start) + 1, first.start - _AROUND_CHARS)
    line_end = text.find("\n", last.end, last.end + _AROUND_CHARS)
    end = line_end if line_end >= 0 else min(len(text), last.end + _AROUND_CHARS)
    parts: list[str] = []
    starts: list[int] = []
    for joint in chain:
        parts.append(text[begin : joint.start])
        starts.extend(range(begin, joint.start))
        begin = joint.end
    parts.append(text[begin:end])
    starts.extend(range(begin, end + 1))
    return "".join(parts), Places(tuple(starts))
