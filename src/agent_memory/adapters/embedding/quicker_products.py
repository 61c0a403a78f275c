"""Scalar products of packed vectors by whichever way is the quicker: numpy's, once its import has paid."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.adapters.embedding.installed_numpy import installed_numpy
from agent_memory.domain.similarity.lanes import lane_products

_MANY_ROWS = 30_000
"""So many are compared without numpy in about the time of its import."""
_ROWS_AT_ONCE = 1_024
"""As 32-bit floats 1 MB: what is multiplied while it is in the processor's cache, and never all of it at once."""


class QuickerProducts:
    """As `lane_products`; by numpy, where it is installed, as soon as this object was asked for very many."""

    def __init__(self) -> None:
        self._rows = 0

    def __call__(self, rows: bytes, others: Sequence[Sequence[int]]) -> Sequence[Sequence[float]]:
        """By numpy to seven digits."""
        self._rows += len(rows) // max(map(len, others), default=1)
        found = numpy_products(rows, others) if self._rows > _MANY_ROWS else None
        return lane_products(rows, others) if found is None else found


def numpy_products(rows: bytes, others: Sequence[Sequence[int]]) -> Sequence[Sequence[float]] | None:
    """As `lane_products`, to seven digits; None where numpy is not installed."""
    numpy = installed_numpy()
    if numpy is None:
        return None
    wanted = numpy.array(others, numpy.float32)
    table = numpy.frombuffer(rows, numpy.int8).reshape(-1, wanted.shape[1])
    found = numpy.empty((len(wanted), len(table)), numpy.float32)
    for start in range(0, len(table), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        some = table[part].astype(numpy.float32)
        # One at a time: a product of matrices is given to threads, which turn in circles.
        for products, other in zip(found, wanted, strict=True):
            products[part] = some @ other
    by_other: list[list[float]] = found.tolist()
    return by_other
