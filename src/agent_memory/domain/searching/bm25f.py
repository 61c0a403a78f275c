"""The arithmetic of the score: BM25F, and what words that only resemble the wanted one are worth.

Written once for one note and used everywhere, except in the loops over many postings, which do the same operations in the
same order: the tests hold them to exactly equal results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from attrs import frozen

from agent_memory.domain.searching.matching import FIELDS, TermWeights
from agent_memory.domain.searching.query_words import QueryWord

MAX_LOOKED_FOR = 64
"""Of a longer query the rarest words are looked for, the first ones of equals."""
MAX_STRETCHED = 8
"""Words of one query that others may stand for."""
MAX_OTHERS = 16
"""Terms that stand for one word: the most frequent that it begins, the nearest that it may be a slip of."""


@frozen
class Norm:
    """How a count in one field becomes its share: `weight * count / (base + slope * length)`."""

    weight: float
    base: float
    slope: float


def norms_of(weights: TermWeights, notes: int, lengths: Sequence[int]) -> tuple[Norm, ...]:
    """The norms of all fields, from the number of notes and the sum of each field's lengths over them."""
    averages = [length / notes if notes else 0.0 for length in lengths]
    return tuple(
        Norm(field.weight, 1.0 - field.b, field.b / average) if average else Norm(field.weight, 1.0, 0.0)
        for field, average in zip(weights.fields, averages, strict=True)
    )


def idf(df: int, notes: int) -> float:
    """What a word is worth that `df` of the notes have: above 0, and the more, the rarer."""
    return math.log(1.0 + (notes - df + 0.5) / (df + 0.5))


def weighted_count(counts: Sequence[int], lengths: Sequence[int], norms: Sequence[Norm]) -> float:
    """The counts of one term in all fields of a note as one."""
    total = 0.0
    for at in range(len(FIELDS)):
        if counts[at]:
            norm = norms[at]
            total += norm.weight * counts[at] / (norm.base + norm.slope * lengths[at])
    return total


def saturated(weighted: float, k1: float) -> float:
    """0 to 1: how much of a word's worth the weighted count earns."""
    return weighted / (k1 + weighted)


def least_of(scores: Iterable[float]) -> float:
    """What the scores of resembling words stay below: the least of the exact ones; no bound where there is none."""
    return min(scores, default=math.inf)


def stretched(words: Sequence[QueryWord]) -> tuple[QueryWord, ...]:
    """The words of a query that others may stand for: the first few, and none of a query that is a whole text."""
    return () if len(words) > MAX_LOOKED_FOR else tuple(word for word in words if word.stretches)[:MAX_STRETCHED]


def rarest(words: Sequence[tuple[QueryWord, int]]) -> list[QueryWord]:
    """The words that are looked for, in their order, from the words and how many notes have each."""
    if len(words) <= MAX_LOOKED_FOR:
        return [word for word, _ in words]
    by_df = sorted(range(len(words)), key=lambda at: words[at][1])
    return [words[at][0] for at in sorted(by_df[:MAX_LOOKED_FOR])]


def others(
    longer: Iterable[tuple[str, int]], slips: Sequence[str], weights: TermWeights
) -> tuple[tuple[str, float], ...]:
    """The terms that stand for a word, with what they are worth: of those that it begins (with the notes that have each)
    and those that it may be a slip of (the nearest first)."""
    begun = sorted(longer, key=lambda each: (-each[1], each[0])) if weights.prefix > 0 else []
    near = slips if weights.typo > 0 else ()
    found = dict.fromkeys((term for term, _ in begun[:MAX_OTHERS]), weights.prefix)
    for term in near:
        if len(found) < MAX_OTHERS:
            found.setdefault(term, weights.typo)
    return tuple(found.items())
