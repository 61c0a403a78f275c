"""Statements that one entry affirms and another denies, word for word."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator

from agent_memory.domain.analysis.claims import Assertion
from agent_memory.domain.analysis.vocabulary import Vocabulary
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
class Stated:
    """One thing that an entry affirms, or, with words and a snippet, denies."""

    hash: int
    """Of its content words, 64 bits."""
    frame: tuple[str, ...] = ()
    snippet: str = ""


def stated(assertion: Assertion) -> Stated:
    """The statement as it is kept: of an affirmed one the hash is enough."""
    if not assertion.denied:
        return Stated(_hash(assertion.frame))
    return Stated(_hash(assertion.frame), tuple(sorted(assertion.frame)), assertion.snippet)


@frozen
class _Denial:
    snippet: str
    frame: tuple[int, ...]


class Assertions:
    """All statements of a store: of an affirmed one, 12 bytes are kept, the hash of its content words and whose it is."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self._frames = array("Q")
        self._entries = array("I")
        self._denials: dict[int, _Denial] = {}

    def add(self, entry: int, statements: Iterable[Stated]) -> None:
        """Remember what the entry at this position affirms and denies."""
        for each in statements:
            if each.frame:
                self._denials[len(self._frames)] = _Denial(each.snippet, self._words.numbers(each.frame))
            self._frames.append(each.hash)
            self._entries.append(entry)

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


def _hash(frame: frozenset[str]) -> int:
    text = "\n".join(sorted(frame)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
