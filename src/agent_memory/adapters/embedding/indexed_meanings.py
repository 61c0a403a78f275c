"""`Meanings`: how near the entries of an index are to a query, by vectors that the index keeps.

A note's vector is made when a search first misses it, and kept until the note changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from math import fsum, sqrt
from operator import mul
from typing import TYPE_CHECKING, Any

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.embedding.static_vectors import load_numpy
from agent_memory.domain.searching.nearness import Nearness
from agent_memory.errors import Error
from agent_memory.results import sealed
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.domain.searching.indexed_note import IndexedNote, Vectors
    from agent_memory.domain.searching.matching import NoteFilter
    from agent_memory.domain.searching.query_meaning import WeighedWord
    from agent_memory.ports import Embedder, Index, Store

_AT_ONCE = 256
"""Notes that are embedded and kept together: a search that is killed loses no more than these."""
_PATIENCE_SECONDS = 1.0
"""How long a search waits for the vectors of new notes: some thousand."""
_NO_LENGTH = 1e-6
_NO_DEVIATION = 1e-6
"""All entries are equally near, but for rounding."""


@frozen
class IndexedMeanings:
    """See the port."""

    index: Index
    store: Store
    embedder: Embedder
    seconds: Callable[[], float] = time.monotonic

    def near(
        self, words: Sequence[WeighedWord], count: int, also: Sequence[int], among: NoteFilter
    ) -> Result[Nearness, Error]:
        """See the port."""

        def asked(left: int, vectors: Vectors, wanted: tuple[bytes, bytes]) -> Result[Nearness, Error]:
            if not vectors.numbers or not any(wanted[0]):
                return Success(Nearness(notices=_notices(left)))
            found = _found(vectors, wanted)
            return self.index.among(among).map(
                lambda allowed: found.nearness([*found.nearest(count, allowed), *also], _notices(left))
            )

        match sealed(self._wanted(words)):
            case Failure(error):  # the words are searched all the same
                return Success(Nearness(notices=(f"Nothing was searched by meaning. {describe(error)}",)))
            case Success(wanted):
                return self.fill(_PATIENCE_SECONDS).bind(
                    lambda left: self.index.vectors(self.embedder.name).bind(
                        lambda vectors: asked(left, vectors, wanted)
                    )
                )

    def _wanted(self, words: Sequence[WeighedWord]) -> Result[tuple[bytes, bytes], Error]:
        """What the words mean, each counting alike, and each by what it is worth."""
        alike = [(word, 1.0) for word, _ in words]
        return self.embedder.embed_words(alike).bind(
            lambda one: self.embedder.embed_words(words).map(lambda other: (one, other))
        )

    def fill(self, patience_seconds: float = math.inf) -> Result[int, Error]:
        """Give the notes that have none their vectors, as far as time suffices; how many are left."""
        end = self.seconds() + patience_seconds
        match sealed(self.index.without_vector(self.embedder.name)):
            case Failure(error):
                return Failure(error)
            case Success(numbers):
                pass
        for start in range(0, len(numbers), _AT_ONCE):
            is_late = start > 0 and self.seconds() > end
            # Where they cannot be kept just now (another process writes, the disk is full) the others are searched.
            if is_late or isinstance(self.index.notes(numbers[start : start + _AT_ONCE]).bind(self._put), Failure):
                return Success(len(numbers) - start)
        return Success(0)

    def _put(self, notes: Mapping[int, IndexedNote]) -> Result[None, Error]:
        texts = {number: text for number, note in notes.items() if (text := self._text(note)) is not None}
        return self.embedder.embed(tuple(texts.values())).bind(
            lambda vectors: self.index.put_vectors(self.embedder.name, dict(zip(texts, vectors, strict=True)))
        )

    def _text(self, note: IndexedNote) -> str | None:
        # Most searches find a vector of each note.
        from agent_memory.domain.searching.note_terms import is_cut_from
        from agent_memory.domain.similarity.meaning_text import meaning_text

        match sealed(self.store.read_again(note.listed)):
            case Success(stored):
                title = "" if is_cut_from(stored.meta.title, stored.body) else stored.meta.title
                return meaning_text(title, stored.meta.description, stored.body)
            case Failure(_):  # it went, or cannot be read just now: another search tries again
                return None


@frozen
class _Found:
    """How near all entries are, by the index's numbers."""

    cosines: Mapping[int, float]
    deviations: Mapping[int, float]

    def nearest(self, count: int, allowed: frozenset[int]) -> list[int]:
        """The nearest, those that are at a right angle or farther left out; of equals the newest first."""
        near = (
            (self.deviations[number], number)
            for number, cosine in self.cosines.items()
            if cosine > 0 and number in allowed
        )
        return [number for _, number in nlargest(count, near)]

    def nearness(self, numbers: Iterable[int], notices: tuple[str, ...]) -> Nearness:
        """That of these entries."""
        known = [number for number in dict.fromkeys(numbers) if number in self.cosines]
        return Nearness(
            {number: self.deviations[number] for number in known},
            {number: self.cosines[number] for number in known},
            notices,
        )


def _found(vectors: Vectors, wanted: tuple[bytes, bytes]) -> _Found:
    """All words alike find what is about the same, and rare words what is about the very thing: the middle of both found
    more than either (docs/search.md)."""
    plain, centred = _cosines(vectors.rows, wanted)
    deviations = [(one + other) / 2 for one, other in zip(*map(_deviations, centred), strict=True)]
    return _Found(dict(zip(vectors.numbers, plain, strict=True)), dict(zip(vectors.numbers, deviations, strict=True)))


def _cosines(rows: Sequence[bytes], wanted: Sequence[bytes]) -> tuple[list[float], list[list[float]]]:
    """How near each row is to the first of the wanted vectors, -1 to 1, 0 where either is all zeros; and to each of them
    after the mean of all rows is taken off both: what all texts of a store have in common tells none from another."""
    numpy = load_numpy()

    def units(vectors: Sequence[bytes]) -> Any:
        table = numpy.frombuffer(b"".join(vectors), dtype=numpy.int8).reshape(len(vectors), -1).astype(float)
        return _times_inverse(table, numpy.linalg.norm(table, axis=1)[:, None])

    def _times_inverse(table: Any, lengths: Any) -> Any:
        return numpy.divide(table, lengths, out=numpy.zeros_like(table), where=lengths > _NO_LENGTH)

    theirs, mine = units(rows), units(wanted)
    if theirs.shape[1] != mine.shape[1]:  # of another model
        return [0.0] * len(rows), [[0.0] * len(rows) for _ in wanted]
    mean = theirs.mean(axis=0)
    there = theirs.any(axis=1)[:, None]
    beside = numpy.where(there, theirs - mean, 0.0)
    lengths = numpy.linalg.norm(beside, axis=1)[:, None] * numpy.linalg.norm(mine - mean, axis=1)
    centred = _times_inverse(beside @ (mine - mean).T, lengths)
    return (theirs @ mine[0]).tolist(), centred.T.tolist()


def _deviations(cosines: Sequence[float]) -> list[float]:
    """By how many standard deviations each differs from their mean."""
    mean = fsum(cosines) / len(cosines)
    deviation = sqrt(max(fsum(map(mul, cosines, cosines)) / len(cosines) - mean * mean, 0.0))
    return [(each - mean) / deviation if deviation > _NO_DEVIATION else 0.0 for each in cosines]


def _notices(left: int) -> tuple[str, ...]:
    if not left:
        return ()
    notes = "One note is" if left == 1 else f"{left:,} notes are"
    return (f"{notes} not searched by meaning yet; the next searches go on with it.",)
