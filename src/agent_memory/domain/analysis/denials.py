"""Statements that one entry affirms and another denies, word for word."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import repeat

from agent_memory.domain.analysis.claims import Assertion
from agent_memory.values import frozen

_MOST_OF_ONE_FRAME = 40
"""A sentence that more entries have says nothing about any of them."""


@frozen
class Denied:
    """What one entry affirms and another denies. Positions are those in which the entries were added."""

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


class Assertions:
    """All statements of a store: of an affirmed one, 12 bytes are kept, the hash of its content words and whose it is."""

    def __init__(self) -> None:
        self._frames = array("Q")
        self._entries = array("I")
        self._denials: dict[int, Denial] = {}

    def add(self, entry: int, stated: array[int], denials: Iterable[Denial]) -> None:
        """Remember what the entry at this position affirms and denies (see `noticed.Noticed`)."""
        for each in denials:
            self._denials[len(self._frames) + each.at] = each
        self._frames.extend(stated)
        self._entries.extend(repeat(entry, len(stated)))

    def denied(self) -> Iterator[Denied]:
        """Every pair of entries of which one affirms what the other denies."""
        denying: dict[int, list[int]] = {}
        for at in self._denials:
            denying.setdefault(self._frames[at], []).append(at)
        affirming: dict[int, list[int]] = {}
        for at, frame in enumerate(self._frames):
            if frame in denying and at not in self._denials:
                affirming.setdefault(frame, []).append(at)
        for frame, ats in affirming.items():
            if len(ats) + len(denying[frame]) <= _MOST_OF_ONE_FRAME:
                yield from (self._pair(one, other) for one in ats for other in denying[frame])

    def _pair(self, affirming: int, denying: int) -> Denied:
        denial = self._denials[denying]
        return Denied(self._entries[affirming], self._entries[denying], denial.snippet, denial.frame)


def hash_of(assertion: Assertion) -> int:
    """Of its content words, 64 bits."""
    text = "\n".join(sorted(assertion.frame)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
