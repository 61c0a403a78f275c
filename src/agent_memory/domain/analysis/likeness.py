"""Which entries say nearly the same, or hold one another.

All pairs of a store would be too many. Two sets of which one holds a share c of the other have in common one of the
|x| - ⌈c·|x|⌉ + 1 rarest words of the smaller set x, so only entries that share such a word are compared (prefix filtering:
Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", 2007). Of these words the `_MOST_PROBED` rarest that any other
entry has are looked up, and those entries compared that share most of them. So a pair can be missed, if nearly all of these
words are among the few that the smaller entry has for itself, or if more than `_MOST_COMPARED` entries share as many of them,
as in a store of forms filled in.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import chain, islice

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.precedence import same_reach
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.vocabulary import Kind
from agent_memory.values import frozen

NEAR = 0.75
"""Share of the words of both that near duplicates have in common (Jaccard)."""
NEAR_SHORT = 0.85
"""The same where both together have fewer than `_SHORT_TERMS` words: one word more or less may be another thing."""
CONTAINED = 0.8
"""Share of the words of the smaller entry that the larger one holds, for an overlap."""
CONTAINED_FAR = 0.9
"""The same where the larger entry is `_FAR` times as large: it holds many words by chance."""

_SHORT_TERMS = 12
_FEWEST_TERMS = 4
_FEWEST_CONTAINED = 8
_FAR = 8
_MOST_PROBED = 6
_MANY_PROBED = 5
"""Of so many probed words a partner has two: four in five of its words are the same."""
_MOST_COMPARED = 64
_MOST_ALIKE = 8
_MOST_LOOKED_AT = 1_000


@frozen
class Alike:
    """Two entries and the words that they have in common."""

    one: Features
    """The smaller."""
    other: Features
    jaccard: float
    containment: float
    """Share of the smaller that the other holds."""
    is_near: bool
    """Near duplicates; else one overlaps the other."""


def alike_pairs(entries: Sequence[Features], words: Vocabulary) -> Iterator[Alike]:
    """Every pair that is nearly the same or of which one holds the other, by the content words of title and body; of many
    entries that are all alike, each with some of the others.

    Not taken for near duplicates are two entries each of which names a number or code that the other lacks: they say the
    like of different things.
    """
    spread = Counter(chain.from_iterable(each.terms for each in entries))
    marked = frozenset(number for number in spread if _names(words.word(number)))
    ordered = sorted((each for each in entries if len(each.terms) >= _FEWEST_TERMS), key=lambda e: (len(e.terms), e.id))
    rarest_first = _rarest_first(spread, words)
    probed = [*_probed(ordered, spread, rarest_first)]
    holders = _holders(ordered, frozenset(chain.from_iterable(probed)))
    for position, each in enumerate(ordered):
        candidates = _candidates(position, each, probed[position], holders, ordered)
        if candidates:
            mine = set(each.terms)
            found = (_compared(each, mine, ordered[candidate], marked) for candidate in candidates)
            yield from islice((alike for alike in found if alike is not None), _MOST_ALIKE)


def _names(word: str) -> bool:
    return word.startswith("`") or any(map(str.isdigit, word))


def _rarest_first(spread: Counter[int], words: Vocabulary) -> list[int]:
    """All words: those that are as rare by the alphabet."""
    return sorted(spread, key=lambda term: (spread[term], words.word(term)))


def _holders(ordered: Sequence[Features], terms: frozenset[int]) -> dict[int, array[int]]:
    """Of each of these words the positions of the entries that have it, ascending."""
    holders: dict[int, array[int]] = {term: array("I") for term in terms}
    noted = {term: positions.append for term, positions in holders.items()}
    for position, each in enumerate(ordered):
        for term in terms.intersection(each.terms):
            noted[term](position)
    return holders


def _probed(
    entries: Iterable[Features], spread: Counter[int], rarest_first: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Of each entry the words of which a partner has one, the rarest first."""
    ranks = [0] * (max(rarest_first, default=-1) + 1)
    for rank, term in enumerate(rarest_first):
        ranks[term] = rank
    rank_of = ranks.__getitem__
    first_shared = next((rank for rank, term in enumerate(rarest_first) if spread[term] > 1), len(rarest_first))
    for entry in entries:
        size = len(entry.terms)
        prefix = sorted(map(rank_of, entry.terms))[: size - math.ceil(CONTAINED * size) + 1]
        start = bisect_left(prefix, first_shared)
        yield tuple([rarest_first[rank] for rank in prefix[start : start + _MOST_PROBED]])


def _candidates(
    position: int,
    entry: Features,
    probed: Sequence[int],
    holders: dict[int, array[int]],
    ordered: Sequence[Features],
) -> list[int]:
    """Entries after this one that share probed words, those that share most of them first, then the nearest in length."""
    sharing: list[set[int]] = []
    some: set[int] = set()
    several: set[int] = set()
    for term in probed:
        positions = holders[term]
        start = bisect_right(positions, position)
        these = set(positions[start : start + _MOST_LOOKED_AT])
        several |= some & these
        some |= these
        sharing.append(these)
    likely = (
        (-sum([at in these for these in sharing]), at)
        for at in (several if len(probed) >= _MANY_PROBED else some)
        if same_reach(entry, ordered[at])
    )
    return [at for _, at in nsmallest(_MOST_COMPARED, likely)]


def _compared(one: Features, mine: set[int], other: Features, marked: frozenset[int]) -> Alike | None:
    common = len(mine.intersection(other.terms))
    containment, together = common / len(one.terms), len(one.terms) + len(other.terms) - common
    if containment < CONTAINED:
        return None
    jaccard = common / together
    if jaccard >= (NEAR if together >= _SHORT_TERMS else NEAR_SHORT):
        return None if _differ_in_names(mine, other, marked) else Alike(one, other, jaccard, containment, True)
    if _overlaps(one, other, containment):
        return Alike(one, other, jaccard, containment, False)
    return None


def _differ_in_names(mine: set[int], other: Features, marked: frozenset[int]) -> bool:
    theirs = set(other.terms)
    return not marked.isdisjoint(mine - theirs) and not marked.isdisjoint(theirs - mine)


def _overlaps(one: Features, other: Features, containment: float) -> bool:
    if len(one.terms) < _FEWEST_CONTAINED or not _same_subject(one, other):
        return False
    if Kind.HANDOFF in (one.kind, other.kind) and one.kind is not other.kind:
        return False  # it says again what the notes of its session say, and is gone in days
    return len(other.terms) < _FAR * len(one.terms) or containment >= CONTAINED_FAR


def _same_subject(one: Features, other: Features) -> bool:
    """Whether the titles, descriptions and tags share two words at least."""
    return len(set(one.about).intersection(other.about)) >= 2
