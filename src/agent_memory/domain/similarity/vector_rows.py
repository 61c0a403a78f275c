"""Many packed vectors one after the other, and how near each is to a few others: every one is looked at, so none is missed.

Scalar products are made in Python's long integers: one component of every vector at a time, each in four bytes of one integer. To
multiply that by a number and to add it to another is one instruction of Python's for all vectors. 10,000 vectors of 256 components
are multiplied with three others in 20 ms; to import numpy takes 70 (ADR 28).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from operator import mul

from agent_memory.domain.similarity.vectors import components_of, square_of
from agent_memory.values import frozen

MOST_FACTORS = ((1 << 32) - 1) // 255
"""What the factors of one other vector may add up to, their signs aside: then no lane runs over into the next."""
_LANE_BYTES = 4
_LEAST = 0 if sys.byteorder == "little" else _LANE_BYTES - 1
"""Where in a lane its least byte is."""
_RAISED = bytes(byte ^ 0x80 for byte in range(256))
"""A signed byte by itself and 128: no lane borrows from the next."""
_LARGEST_OF_MEAN = 0x7FFF
"""The mean is multiplied with each row as integers of 16 bits, of fewer where it has very many components: that is exact to
the fifth digit."""
_NO_LENGTH = 1e-6


@frozen
class VectorRows:
    """Packed vectors (`vectors.packed`) of as many components each, and what of them is the same whatever is asked."""

    data: bytes = b""
    """A signed byte a component, row after row."""
    squares: Sequence[int] = ()
    """The square of each one's length."""
    unit_sum: Sequence[float] = ()
    """The sum of all, each of length 1; as many numbers as a row has."""

    def __len__(self) -> int:
        return len(self.squares)

    def each(self) -> list[bytes]:
        """The vectors, one by one."""
        size = len(self.unit_sum)
        return [self.data[at * size : (at + 1) * size] for at in range(len(self))]


@frozen
class Cosines:
    """Of one vector with each row, -1 to 1; 0 where either is all zeros."""

    plain: Sequence[float]
    centred: Sequence[float]
    """After the mean of all rows, each of length 1, is taken off both: what all texts of a store have in common tells none
    from another."""


def rows_of(vectors: Sequence[bytes]) -> VectorRows:
    """These vectors, which have as many components each."""
    squares = [square_of(vector) for vector in vectors]
    total = [0.0] * (len(vectors[0]) if vectors else 0)
    for vector, square in zip(vectors, squares, strict=True):
        weight = 1 / sqrt(square) if square else 0.0
        total = [sum + weight * component for sum, component in zip(total, components_of(vector), strict=True)]
    return VectorRows(b"".join(vectors), squares, total)


def cosines_with(rows: VectorRows, wanted: Sequence[bytes]) -> tuple[Cosines, ...]:
    """How near each row is to each of the wanted vectors; one of another dimension is near to none."""
    if not len(rows) or any(len(each) != len(rows.unit_sum) for each in wanted):
        nowhere = [0.0] * len(rows)
        return tuple(Cosines(nowhere, nowhere) for _ in wanted)
    mean = [each / len(rows) for each in rows.unit_sum]
    scale = _scale_of(mean)
    others = [components_of(each) for each in wanted]
    *found, along_mean = lane_products(rows.data, [*others, [round(each * scale) for each in mean]])
    inverse = [1 / sqrt(square) if square else 0.0 for square in rows.squares]
    plain = [
        _times(each, inverse, 1 / sqrt(square_of(one)) if any(one) else 0.0)
        for each, one in zip(found, wanted, strict=True)
    ]
    along = _times(along_mean, inverse, 1 / scale if scale else 0.0)
    mean_square = sum(map(mul, mean, mean))
    beside = [
        sqrt(max(1 - 2 * each + mean_square, 0.0)) if there else 0.0 for each, there in zip(along, inverse, strict=True)
    ]
    return tuple(Cosines(each, _centred(each, along, beside, mean_square)) for each in plain)


def _scale_of(mean: Sequence[float]) -> float:
    largest, total = max(map(abs, mean)), sum(map(abs, mean))
    return min(_LARGEST_OF_MEAN / largest, (MOST_FACTORS - len(mean)) / total) if largest else 0.0


def _times(products: Iterable[float], inverse: Sequence[float], factor: float) -> list[float]:
    return [product * each * factor for product, each in zip(products, inverse, strict=True)]


def _centred(
    plain: Sequence[float], along: Sequence[float], beside: Sequence[float], mean_square: float
) -> list[float]:
    """`along`: the product of each row, of length 1, with the mean. `beside`: its length after the mean is taken off; 0 for a
    row of zeros."""
    middle = fsum(plain) / len(plain)
    mine = sqrt(max(1 - 2 * middle + mean_square, 0.0))
    rest = mean_square - middle
    return [
        (cosine - each + rest) / (length * mine) if length * mine > _NO_LENGTH else 0.0
        for cosine, each, length in zip(plain, along, beside, strict=True)
    ]


# -- scalar products --------------------------------------------------------------------------------------------------


def lane_products(rows: bytes, others: Sequence[Sequence[int]]) -> list[list[int]]:
    """For each of the others its scalar product with each row, exactly. Rows are signed bytes, as many a row as each other
    vector has components; of these see MOST_FACTORS."""
    dimensions = len(others[0]) if others else 0
    lanes = bytearray(len(rows) // max(dimensions, 1) * _LANE_BYTES)
    more, less = [0] * len(others), [0] * len(others)
    for component, factors in enumerate(zip(*others, strict=True)):
        lanes[_LEAST::_LANE_BYTES] = rows[component::dimensions].translate(_RAISED)
        column = int.from_bytes(lanes, sys.byteorder)
        for at, factor in enumerate(factors):
            if factor > 0:
                more[at] += column * factor
            elif factor < 0:
                less[at] += column * -factor
    return [
        _differences(_each(ups, lanes), _each(downs, lanes), 128 * sum(other))
        for other, ups, downs in zip(others, more, less, strict=True)
    ]


def _each(total: int, lanes: bytearray) -> memoryview[int]:
    return memoryview(total.to_bytes(len(lanes), sys.byteorder)).cast("I")


def _differences(ups: memoryview[int], downs: memoryview[int], raised_by: int) -> list[int]:
    return [up - down - raised_by for up, down in zip(ups, downs, strict=True)]
