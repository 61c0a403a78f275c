"""The score by words, and which terms may stand for a word of the query.

The score is BM25 over title and text: of each word the counts are summed, one in the title worth more, normed by the note's length,
and then saturated. A word's worth is `ln(1 + (N - df + 0.5) / (df + 0.5))`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from agent_memory.domain.searching.terms import QueryWord

TITLE_WEIGHT = 1.5
K1 = 1.2
"""How late a word that occurs again stops to count."""
B = 0.5
"""How much a long note counts less: 0 not at all, 1 in proportion to its length."""
RESEMBLING = 0.25
"""What a term that stands for the wanted one is worth, relative to the least of the exact hits."""

MAX_LOOKED_FOR = 64
"""Of a longer query the rarest words are looked for, the first ones of equals."""
MAX_STRETCHED = 8
"""Words of one query that others may stand for."""
MAX_OTHERS = 16
"""Terms that stand for one word: the most frequent that it begins, the nearest that it may be a slip of."""

_LONG_CHARS, _VERY_LONG_CHARS = 5, 9


def idf(df: int, notes: int) -> float:
    """What a word is worth that `df` of the notes have: above 0, and the more, the rarer."""
    return math.log(1.0 + (notes - df + 0.5) / (df + 0.5))


def saturated(in_title: int, in_text: int, length: int, mean_length: float) -> float:
    """0 to 1: how much of a word's worth a note earns."""
    norm = 1.0 - B + B * length / mean_length if mean_length else 1.0
    weighted = (TITLE_WEIGHT * in_title + in_text) / norm
    return weighted / (K1 + weighted)


def resembling_scores(
    exact: Mapping[int, float], others: Iterable[tuple[str, Mapping[int, float]]]
) -> tuple[dict[int, float], dict[int, str]]:
    """The scores by terms that stand for a word, of notes without the word itself, and the best such term of each. `exact` and
    `others` have full scores; none that only resembles comes near the least of the exact ones."""
    least = min(exact.values(), default=math.inf)
    scores: dict[int, float] = {}
    terms: dict[int, str] = {}
    for term, found in others:
        most = max(found.values(), default=0.0)
        factor = RESEMBLING * (min(least / most, 1.0) if most else 0.0)
        for number, score in found.items():
            if number not in exact and factor * score > scores.get(number, 0.0):
                scores[number], terms[number] = factor * score, term
    return scores, terms


def stretched(words: Sequence[QueryWord]) -> tuple[QueryWord, ...]:
    """The words of a query that others may stand for: the first few, and none of a query that is a whole text."""
    return () if len(words) > MAX_LOOKED_FOR else tuple(word for word in words if word.stretches)[:MAX_STRETCHED]


def rarest(words: Mapping[QueryWord, int]) -> list[QueryWord]:
    """The words that are looked for, in their order, from the words and how many notes have each."""
    wanted = set(sorted(words, key=words.__getitem__)[:MAX_LOOKED_FOR])
    return [word for word in words if word in wanted]


def standing_for(longer: Iterable[tuple[str, int]], slips: Iterable[str]) -> list[str]:
    """The terms that stand for a word: of those that it begins (with the notes that have each) and those that it may be a slip
    of (the nearest first)."""
    begun = [term for term, _ in sorted(longer, key=lambda each: (-each[1], each[0]))[:MAX_OTHERS]]
    return list(dict.fromkeys((*begun, *slips)))[:MAX_OTHERS]


def slips_allowed(term: str) -> int:
    """How many slips a term of this length may have: none, one, or two. Names with digits or signs have none."""
    if not term.isalpha() or len(term) < _LONG_CHARS:
        return 0
    return 1 if len(term) < _VERY_LONG_CHARS else 2


def slips_of(term: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The candidates that begin with the same character and differ by as many slips as are allowed, the least first; and
    the term's own beginnings, up to three characters shorter: what an ending has hidden from the stemmer."""
    most = slips_allowed(term)
    if not most:
        return ()
    found: list[tuple[int, str]] = []
    for other in candidates:
        if other == term or other[:1] != term[0]:
            continue
        if len(other) >= _LONG_CHARS and len(term) - len(other) in (1, 2, 3) and term.startswith(other):
            found.append((1, other))
        elif abs(len(other) - len(term)) <= most and (slips := _slips_between(term, other, most)) <= most:
            found.append((slips, other))
    return tuple(other for _, other in sorted(found))


def _slips_between(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between them (optimal string alignment); `most + 1`
    where there are more than `most`."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
