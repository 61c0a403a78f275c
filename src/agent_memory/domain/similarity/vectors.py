"""A text's meaning as a vector of signed bytes, small enough to be kept for every entry.

A vector is scaled so that its largest component is 127: comparing two takes their lengths into account. On 187 notes and
2,760 turns of conversation the ranking by such vectors found as much as the one by 32-bit floats.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from operator import mul

_LARGEST = 127


def packed(components: Sequence[float]) -> bytes:
    """The vector as one signed byte a component, the largest at ±127; zeros stay zeros."""
    largest = max(map(abs, components), default=0.0)
    if not largest or not math.isfinite(largest):
        return bytes(len(components))
    scale = _LARGEST / largest
    return array("b", [round(component * scale) for component in components]).tobytes()


def cosine(one: bytes, other: bytes) -> float:
    """The cosine of two packed vectors, -1 to 1; 0 where one is all zeros or they are of different lengths. It takes some 20 µs
    for 256 components, and no numpy."""
    mine, theirs = memoryview(one).cast("b"), memoryview(other).cast("b")
    lengths = sum(map(mul, mine, mine)) * sum(map(mul, theirs, theirs))
    return sum(map(mul, mine, theirs)) / math.sqrt(lengths) if lengths and len(one) == len(other) else 0.0
