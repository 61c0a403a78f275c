"""How far two statements speak of the same thing."""

from __future__ import annotations


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set of content words that the other one holds too, 0 to 1; 0 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0
