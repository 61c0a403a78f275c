"""Statements that one entry affirms and another denies, word for word."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, count

from agent_memory.domain.analysis.claims import Assertion
from agent_memory.domain.analysis.ragged import Ragged
from agent_memory.values import frozen

_MOST_OF_ONE_FRAME = 40
"""A sentence that more entries have says nothing about any of them."""


@frozen
class Denied:
    """What one entry affirms and another denies, by their slots."""

    affirming: int
    denying: int
    snippet: str
    """The beginning of the denying statement."""
    frame: tuple[int, ...]
    """The content words of the statement."""


@frozen
class Denial:
    """One of the statements of an entry, which denies something."""

    at: int
    """Its place among the statements."""
    frame: tuple[int, ...]
    """The content words, as numbers."""
    snippet: str


def denied(stated: Ragged, denials: Mapping[int, Sequence[Denial]]) -> Iterator[Denied]:
    """Every pair of entries of which one affirms what the other denies, by what each states (see `noticed.Noticed`)."""
    stated = stated.whole()
    denying: dict[int, list[tuple[int, Denial]]] = defaultdict(list)
    places: set[int] = set()
    for entry, said in denials.items():
        for each in said:
            place = stated.starts[entry] + each.at
            places.add(place)
            denying[stated.values[place]].append((entry, each))
    affirming: dict[int, list[int]] = defaultdict(list)
    # Of a million statements hardly one is denied: those are passed over without a step of Python each.
    for place in compress(count(), map(denying.__contains__, stated.values)):
        if place not in places:
            affirming[stated.values[place]].append(stated.row_at(place))
    for frame, entries in affirming.items():
        if len(entries) + len(denying[frame]) <= _MOST_OF_ONE_FRAME:
            for entry in entries:
                yield from (Denied(entry, other, each.snippet, each.frame) for other, each in denying[frame])


def hash_of(assertion: Assertion) -> int:
    """Of its content words, 64 bits."""
    text = "\n".join(sorted(assertion.frame)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
