"""Scalar products of very many packed vectors with a few others, by numpy."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.domain.similarity.lanes import lane_products

_ROWS_AT_ONCE = 1_024
"""As 32-bit floats 1 MB: what is multiplied while it is in the processor's cache, and never all of it at once."""


def numpy_products(rows: bytes, others: Sequence[Sequence[int]]) -> Sequence[Sequence[float]]:
    """As `lane_products`, to seven digits; by these where numpy is not installed."""
    try:
        import numpy
    except ImportError:
        return lane_products(rows, others)

    wanted = numpy.array(others, numpy.float32).T
    table = numpy.frombuffer(rows, numpy.int8).reshape(-1, wanted.shape[0])
    found = numpy.empty((len(table), wanted.shape[1]), numpy.float32)
    for start in range(0, len(table), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        found[part] = table[part].astype(numpy.float32) @ wanted
    products: list[list[float]] = found.T.tolist()
    return products
