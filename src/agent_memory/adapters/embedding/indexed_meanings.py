"""`Meanings`: how near the entries of an index are to a query, by vectors that the index keeps.

A note's vector is made when a search first misses it, and kept until the note changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen
from returns.result import Failure, Success

from agent_memory.adapters.embedding.static_vectors import load_numpy
from agent_memory.domain.searching.search import Nearness, Vectors
from agent_memory.results import as_result, sealed, unwrap
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.domain.entry import Listed
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

    @as_result
    def near(self, words: Sequence[tuple[str, float]]) -> Nearness:
        """See the port."""
        alike = [(word, 1.0) for word, _ in words]
        match sealed(self.embedder.embed_words(alike)):
            case Failure(error):  # the words are searched all the same
                return Nearness(notices=(f"Nothing was searched by meaning. {describe(error)}",))
            case Success(by_all):
                by_worth = unwrap(self.embedder.embed_words(words))
        left = unwrap(self.fill(_PATIENCE_SECONDS))
        vectors = unwrap(self.index.vectors(self.embedder.name))
        if not vectors.numbers or not any(by_all):
            return Nearness(notices=_notices(left))
        return _nearness(vectors, (by_all, by_worth), _notices(left))

    @as_result
    def fill(self, patience_seconds: float = math.inf) -> int:
        """Give the notes that have none their vectors, as far as time suffices; how many are left."""
        end = self.seconds() + patience_seconds
        numbers = unwrap(self.index.without_vector(self.embedder.name))
        for start in range(0, len(numbers), _AT_ONCE):
            is_late = start > 0 and self.seconds() > end
            # Where they cannot be kept just now (another process writes, the disk is full) the others are searched.
            if is_late or isinstance(self._put(numbers[start : start + _AT_ONCE]), Failure):
                return len(numbers) - start
        return 0

    @as_result
    def _put(self, numbers: Sequence[int]) -> None:
        notes: Mapping[int, Listed] = unwrap(self.index.notes(numbers))
        texts = {number: text for number, note in notes.items() if (text := self._text(note)) is not None}
        vectors = unwrap(self.embedder.embed(tuple(texts.values())))
        unwrap(self.index.put_vectors(self.embedder.name, dict(zip(texts, vectors, strict=True))))

    def _text(self, listed: Listed) -> str | None:
        from agent_memory.domain.similarity import meaning_text  # most searches find a vector of each note

        match sealed(self.store.read_again(listed)):
            case Success(stored):
                return meaning_text(stored.meta.title, stored.meta.description, stored.body)
            case Failure(_):  # it went, or cannot be read just now: another search tries again
                return None


def _nearness(vectors: Vectors, wanted: tuple[bytes, bytes], notices: tuple[str, ...]) -> Nearness:
    """All words alike find what is about the same, and rare words what is about the very thing: the middle of both found more
    than either (docs/search.md). Cosines are those with the first of the wanted vectors, 0 where either is all zeros; deviations
    are of cosines after the mean of all rows is taken off both: what all texts of a store have in common tells none from
    another."""
    numpy = load_numpy()

    def over(table: Any, lengths: Any) -> Any:
        return numpy.divide(table, lengths, out=numpy.zeros_like(table), where=lengths > _NO_LENGTH)

    def units(rows: Sequence[bytes]) -> Any:
        table = numpy.frombuffer(b"".join(rows), dtype=numpy.int8).reshape(len(rows), -1).astype(float)
        return over(table, numpy.linalg.norm(table, axis=1)[:, None])

    theirs, mine = units(vectors.rows), units(wanted)
    if theirs.shape[1] != mine.shape[1]:  # of another model
        return Nearness(notices=notices)
    mean = theirs.mean(axis=0)
    there = theirs.any(axis=1)[:, None]
    beside = numpy.where(there, theirs - mean, 0.0)
    lengths = numpy.linalg.norm(beside, axis=1)[:, None] * numpy.linalg.norm(mine - mean, axis=1)
    centred = over(beside @ (mine - mean).T, lengths)
    spread = centred.std(axis=0)
    deviations = numpy.where(spread > _NO_DEVIATION, (centred - centred.mean(axis=0)) / numpy.maximum(spread, 1e-9), 0)
    return Nearness(
        dict(zip(vectors.numbers, deviations.mean(axis=1).tolist(), strict=True)),
        dict(zip(vectors.numbers, (theirs @ mine[0]).tolist(), strict=True)),
        notices,
    )


def _notices(left: int) -> tuple[str, ...]:
    if not left:
        return ()
    notes = "One note is" if left == 1 else f"{left:,} notes are"
    return (f"{notes} not searched by meaning yet; the next searches go on with it.",)
