"""All vectors of an index as one matrix, and which of them are nearest to a query: each is looked at, so none is missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_memory.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROWS_AT_ONCE = 1_024
"""As 32-bit floats 1 MB: what is multiplied while it is in the processor's cache, and never all of it at once."""

_NO_LENGTH = 1e-6


@frozen
class Neighbour:
    """A vector by its row, 0 for the first, and its cosine with the query, -1 to 1."""

    row: int
    cosine: float


@frozen
class VectorMatrix:
    """Packed vectors (`similarity.vectors`), one a row. Needs numpy. 250,000 of 256 components take 65 MB."""

    _rows: NDArray[np.int8]
    _lengths: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self._rows)

    def cosines(self, query: bytes) -> NDArray[np.float32]:
        """The cosine of the query with each row; 0 for rows of zeros, and everywhere for a query of another dimension."""
        import numpy

        found = numpy.zeros(len(self._rows), numpy.float32)
        wanted = numpy.frombuffer(query, numpy.int8).astype(numpy.float32)
        length = float(numpy.linalg.norm(wanted))
        if not length or wanted.shape[0] != self._rows.shape[1]:
            return found
        wanted /= length
        for start in range(0, len(self._rows), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            found[rows] = self._rows[rows].astype(numpy.float32) @ wanted
        return numpy.divide(found, self._lengths, out=found, where=self._lengths > 0)

    def centred_cosines(self, query: bytes) -> NDArray[np.float32]:
        """The cosine of the query with each row, after the mean of all rows is taken off both: what all texts of a store
        have in common tells none from another."""
        import numpy

        found = self.cosines(query)
        if not len(found):
            return found
        weights = numpy.divide(1.0, self._lengths, out=numpy.zeros_like(self._lengths), where=self._lengths > 0)
        mean = numpy.zeros(self._rows.shape[1], numpy.float32)
        along = numpy.empty(len(self._rows), numpy.float32)
        parts = [slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(self._rows), _ROWS_AT_ONCE)]
        for part in parts:
            mean += weights[part] @ self._rows[part].astype(numpy.float32)
        mean /= len(self._rows)
        for part in parts:
            along[part] = (self._rows[part].astype(numpy.float32) @ mean) * weights[part]
        square, middle = float(mean @ mean), float(found.mean())
        left = numpy.sqrt(numpy.maximum(1 - 2 * along + square, 0) * max(1 - 2 * middle + square, 0))
        centred = numpy.zeros_like(found)
        numpy.divide(found - along - middle + square, left, out=centred, where=(left > _NO_LENGTH) & (weights > 0))
        return centred

    def nearest(self, query: bytes, count: int, among: Sequence[int] | None = None) -> tuple[Neighbour, ...]:
        """The `count` rows nearest to the query, nearest first, of equals the first rows; with `among` only of these rows.
        Rows at a right angle or farther have nothing of it, and are left out."""
        import numpy

        scores = self.cosines(query)
        rows = numpy.flatnonzero(scores > 0) if among is None else numpy.unique(numpy.asarray(among, numpy.intp))
        rows = rows[scores[rows] > 0]
        if 0 < count < len(rows):
            least = numpy.partition(scores[rows], len(rows) - count)[len(rows) - count]
            rows = rows[scores[rows] >= least]
        ordered = rows[numpy.argsort(-scores[rows], kind="stable")][: max(count, 0)]
        return tuple(Neighbour(int(row), float(scores[row])) for row in ordered)


def vector_matrix(vectors: bytes | Sequence[bytes], dimensions: int) -> VectorMatrix | None:
    """The matrix of packed vectors, given one after the other or as one run of bytes; None without numpy, and where the
    bytes are not whole vectors."""
    try:
        import numpy
    except ImportError:
        return None
    run = vectors if isinstance(vectors, bytes) else b"".join(vectors)
    if dimensions <= 0 or len(run) % dimensions:
        return None
    rows = numpy.frombuffer(run, numpy.int8).reshape(-1, dimensions)
    lengths = numpy.empty(len(rows), numpy.float32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        lengths[part] = numpy.linalg.norm(rows[part].astype(numpy.float32), axis=1)
    return VectorMatrix(rows, lengths)
