"""The passage of a note that says most of what the query asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from attrs import frozen

from agent_memory.note.terms import chunk_pattern, chunk_terms
from agent_memory.text.plain_text import clean_text, cut_chars

SNIPPET_CHARS = 160
_MOST_CHARS = 1 << 20
"""The rest of a longer text is not searched."""
_LONG_CHUNK_CHARS = 40
_MOST_HITS_INSIDE = 500
_CUT = "…"
_CONTEXT_SHARE = 4
"""A passage shows about a quarter of its length before its first hit."""

_NOISE = re.compile(
    r"""
      ^[ \t]*(?:```+|~~~+)[^\n`]*$                # fences of code
    | <!--[^\n]{0,200}?-->
    | ^[ \t]*[|:\-=*_](?:[|:\-=*_ \t]*)$      # rules, and those of tables
    | ^[ \t]*(?:\#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)
    | \*\*|`+
    | ^[ \t]*\||\|[ \t]*$
    """,
    re.VERBOSE | re.MULTILINE,
)
_LABELLED_LINK = re.compile(r"!?\[\[[^\[\]|\n]*\|([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s\"[^\"\n]*\")?\)")


@frozen
class Snippet:
    """The best passage of a note, on one line, without control characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words of the query are in `text`: half-open ranges of characters, in order."""


@frozen
class _Hit:
    start: int
    end: int
    worth: Mapping[str, float]
    """The value by word of the query."""


def snippet_of(texts: Sequence[str], worth: Mapping[str, float]) -> Snippet:
    """Returns the best passage of the best of these texts, the first among equals, on one line of at most
    `SNIPPET_CHARS`.

    `worth` has the terms to look for, as `terms.chunk_terms` makes them, and the value of each. If no text has one, the
    beginning of the first text that is not empty. Cut at words, or between graphemes; `…` marks a cut.
    """
    cleaned = (clean_text(text[:_MOST_CHARS]) for text in texts)
    plain = (_NOISE.sub(" ", _LABELLED_LINK.sub(lambda link: link[1] or link[2] or "", text)) for text in cleaned)
    lines = [line for text in plain if (line := " ".join(text.split()))]
    passages = [found for line in lines if (found := _best_passage(line, worth)) is not None]
    if passages:
        return max(passages, key=itemgetter(0))[1]
    return Snippet(_from(lines[0], 0)[0] if lines else "")


def _joined(marks: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _best_passage(line: str, worth: Mapping[str, float]) -> tuple[float, Snippet] | None:
    hits = list(_hits(line, worth))
    if not hits:
        return None
    first, last, value = _densest(hits)
    before = (SNIPPET_CHARS - (hits[last].end - hits[first].start)) // _CONTEXT_SHARE
    shown, start, shift = _from(line, max(0, hits[first].start - max(before, 0)), hits[first].start)
    end = len(shown) - (start + len(shown) - shift < len(line))
    moved = ((hit.start - start + shift, hit.end - start + shift) for hit in hits[first:])
    marks = _joined((here, there) for here, there in moved if there <= end)
    return value, Snippet(shown, marks)


def _hits(line: str, worth: Mapping[str, float]) -> Iterator[_Hit]:
    for found in chunk_pattern(line).finditer(line):
        chunk = found[0]
        terms = chunk_terms(chunk)
        said = {term: worth[term] for term in (*terms.parts, *terms.common, *terms.wholes) if term in worth}
        if said and chunk.isascii() and len(chunk) <= _LONG_CHUNK_CHARS:
            yield _Hit(found.start(), found.end(), said)
        elif said:
            yield from _inside(chunk, found.start(), said)


def _inside(chunk: str, start: int, said: Mapping[str, float]) -> list[_Hit]:
    """Returns where in a chunk the terms are: in a script without spaces a whole sentence is one chunk. The whole chunk
    if they cannot be located, as when accents hide them."""
    lowered = chunk.lower()
    if len(lowered) != len(chunk):
        return [_Hit(start, start + len(chunk), said)]
    places: dict[tuple[int, int], dict[str, float]] = {}
    for term, worth in said.items():
        at = lowered.find(term)
        while at >= 0 and len(places) < _MOST_HITS_INSIDE:
            places[at, at + len(term)] = {term: worth}
            at = lowered.find(term, at + 1)
    if not places:
        return [_Hit(start, start + len(chunk), said)]
    return [_Hit(start + first, start + end, each) for (first, end), each in sorted(places.items())]


def _densest(hits: Sequence[_Hit]) -> tuple[int, int, float]:
    """Returns first and last hit of the most valuable window, and its value: a repeated word adds a tenth."""
    best = (0, 0, -1.0)
    counts: dict[str, int] = {}
    worth: dict[str, float] = {}
    value = 0.0
    first = 0
    for last, hit in enumerate(hits):
        for term, each in hit.worth.items():
            worth[term] = each
            counts[term] = counts.get(term, 0) + 1
            value += each if counts[term] == 1 else each / 10
        while first < last and hit.end - hits[first].start > SNIPPET_CHARS - 2:
            for term in hits[first].worth:
                counts[term] -= 1
                value -= worth[term] if counts[term] == 0 else worth[term] / 10
            first += 1
        if value > best[2] + 1e-9:
            best = (first, last, value)
    return best


def _from(line: str, wanted: int, kept: int | None = None) -> tuple[str, int, int]:
    """Returns the line from about `wanted` on, the offset at which it begins, and by how much the prefix shifts it.
    `kept` is the latest offset at which it may begin."""
    if len(line) <= SNIPPET_CHARS:
        return line, 0, 0
    wanted = min(wanted, max(0, len(line) - SNIPPET_CHARS + 1))
    latest = wanted if kept is None else kept
    # At a word boundary; without one nearby, at a grapheme, counted from the beginning of this run of characters.
    start = line.find(" ", wanted - 1, latest) + 1 if wanted else 0
    if wanted and not start:
        run = line.rfind(" ", 0, wanted) + 1
        start = run + len(cut_chars(line[run:latest], max(wanted - run, 0)))
    lead = _CUT if start else ""
    room = SNIPPET_CHARS - len(lead)
    rest = line[start:]
    if len(rest) <= room:
        return lead + rest, start, len(lead)
    shown = cut_chars(rest, room - len(_CUT))
    at_word = shown.rfind(" ", len(shown) * 2 // 3)
    if len(shown) < len(rest) and rest[len(shown)] != " " and at_word > 0:
        shown = shown[:at_word]
    return lead + shown.rstrip() + _CUT, start, len(lead)
