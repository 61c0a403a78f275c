"""`Meanings`: how near the entries of an index are to a query, by vectors that the index keeps.

A note's vector is made when a search first misses it, and kept until the note changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from math import fsum, sqrt
from operator import mul

from returns.result import Failure, Result, Success

from agent_memory.adapters.embedding.vector_matrix import vector_matrix
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.indexed_note import IndexedNote, Vectors
from agent_memory.domain.searching.matching import NoteFilter
from agent_memory.domain.searching.nearness import Nearness
from agent_memory.domain.searching.note_terms import is_cut_from
from agent_memory.domain.similarity.meaning_text import meaning_text
from agent_memory.domain.similarity.vectors import centred_cosines, cosines
from agent_memory.errors import Error
from agent_memory.ports import Embedder, Index, Store
from agent_memory.values import frozen
from agent_memory.wording import describe

_AT_ONCE = 256
"""Notes that are embedded and kept together: a search that is killed loses no more than these."""
_PATIENCE_SECONDS = 1.0
"""How long a search waits for the vectors of new notes: some thousand."""
_NO_DEVIATION = 1e-6
"""All entries are equally near, but for rounding."""
_MANY_VECTORS = 1_000
"""So many take in pure Python about as long as the import of numpy."""


@frozen
class IndexedMeanings:
    """See the port."""

    index: Index
    store: Store
    embedder: Embedder
    seconds: Callable[[], float] = time.monotonic

    def near(self, query: str, count: int, also: Sequence[int], among: NoteFilter) -> Result[Nearness, Error]:
        """See the port."""

        def asked(left: int, vectors: Vectors, wanted: tuple[bytes, ...]) -> Result[Nearness, Error]:
            if not vectors.numbers or not any(wanted[0]):
                return Success(Nearness(notices=_notices(left)))
            plain, centred = (
                dict(zip(vectors.numbers, each, strict=True)) for each in _cosines(wanted[0], vectors.rows)
            )
            return self.index.among(among).map(
                lambda allowed: _nearness(
                    plain, centred, [*_nearest(plain, centred, count, allowed), *also], _notices(left)
                )
            )

        match sealed(self.embedder.embed((query,))):
            case Failure(error):  # the words are searched all the same
                return Success(Nearness(notices=(f"Nothing was searched by meaning. {describe(error)}",)))
            case Success(wanted):
                return self._fill().bind(
                    lambda left: self.index.vectors(self.embedder.name).bind(
                        lambda vectors: asked(left, vectors, wanted)
                    )
                )

    def _fill(self) -> Result[int, Error]:
        """Give the notes that have none their vectors, as far as time suffices; how many are left."""
        end = self.seconds() + _PATIENCE_SECONDS
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
        match sealed(self.store.read_again(note.listed)):
            case Success(stored):
                title = "" if is_cut_from(stored.meta.title, stored.body) else stored.meta.title
                return meaning_text(title, stored.meta.description, stored.body)
            case Failure(_):  # it went, or cannot be read just now: another search tries again
                return None


def _cosines(wanted: bytes, rows: Sequence[bytes]) -> tuple[Iterable[float], Iterable[float]]:
    """Plain, and after the mean of all is taken off."""
    matrix = vector_matrix(rows, len(wanted)) if len(rows) >= _MANY_VECTORS else None
    if matrix is None:
        return cosines(wanted, rows), centred_cosines(wanted, rows)
    return matrix.cosines(wanted).tolist(), matrix.centred_cosines(wanted).tolist()


def _nearest(
    plain: Mapping[int, float], centred: Mapping[int, float], count: int, allowed: frozenset[int]
) -> list[int]:
    """The numbers of the nearest, those that are at a right angle or farther left out; of equals the newest first."""
    near = ((centred[number], number) for number, cosine in plain.items() if cosine > 0 and number in allowed)
    return [number for _, number in nlargest(count, near)]


def _nearness(
    plain: Mapping[int, float], centred: Mapping[int, float], numbers: Iterable[int], notices: tuple[str, ...]
) -> Nearness:
    all, count = centred.values(), len(centred)
    mean = fsum(all) / count
    deviation = sqrt(max(fsum(map(mul, all, all)) / count - mean * mean, 0.0))
    found = {number: plain[number] for number in numbers if number in plain}
    deviations = {
        number: (centred[number] - mean) / deviation if deviation > _NO_DEVIATION else 0.0 for number in found
    }
    return Nearness(deviations, found, notices)


def _notices(left: int) -> tuple[str, ...]:
    if not left:
        return ()
    notes = "One note is" if left == 1 else f"{left:,} notes are"
    return (f"{notes} not searched by meaning yet; the next searches go on with it.",)
