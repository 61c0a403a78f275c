"""Which notes may be injected, in which section, in which order (P19, P20): of those that `place` lets through what the person
said, or vouched for, or an agent concluded unless it is an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop
from itertools import chain, compress, islice
from operator import neg

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.injecting.place import Place, may_be_injected, those_let_through
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.tiering.eligibility import best_tier, cites_a_turn, told_of
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Kind
from agent_memory.values import frozen

SECTION_OF: Mapping[Kind, str] = {
    Kind.PROJECT: "project",
    Kind.HANDOFF: "handoff",
    Kind.TASK: "tasks",
    Kind.CONVENTION: "conventions",
    Kind.PREFERENCE: "conventions",
    Kind.DECISION: "decisions",
    Kind.LESSON: "lessons",
    Kind.FACT: "facts",
}

MOST_A_SECTION = 12
"""So many of each section are made ready: what a session knows already leaves room for others."""

_POINTS: Mapping[Importance, int] = {importance: points for points, importance in enumerate(Importance)}
_PINNED = 8
_HERE = 2

_Rank = tuple[int, int, str, str, int]
"""What sorts notes, the best first, and the place of one among them."""


@frozen
class Shown:
    """A note that may be injected."""

    stored: StoredEntry
    section: str
    whole: bool
    """False: only its title and description may be shown."""


def shown(stored: StoredEntry, section: str | None = None) -> Shown | None:
    """How much of a note may be shown; None for nothing. `section` is that of its kind unless it is named."""
    told = told_of(stored)
    if told is None:
        return None
    is_whole = (best_tier(told.meta) is Tier.HOT or cites_a_turn(told.meta)) and not told.listed.conflicted
    return Shown(told, section or SECTION_OF[told.meta.kind], is_whole)


def candidates(
    listed: Sequence[Listed], read: Callable[[Listed], StoredEntry | None], around: Place
) -> Iterator[Shown]:
    """Of each section the best notes, the best first; only of those are the bodies read."""
    fit = those_let_through(listed, around)
    sections = [SECTION_OF[kind] for kind in column_of(fit, "meta.kind")]
    ranks = _ranks(fit, around.scope)
    for section in dict.fromkeys(sections):
        best = _best_first(compress(ranks, map(section.__eq__, sections)))
        yield from islice(_fit(map(fit.__getitem__, best), read, around), MOST_A_SECTION)


def _fit(best: Iterable[Listed], read: Callable[[Listed], StoredEntry | None], around: Place) -> Iterator[Shown]:
    for each in best:
        stored = read(each)
        fit = None if stored is None or not may_be_injected(stored.listed, around) else shown(stored)
        if fit is not None:
            yield fit


def _best_first(ranks: Iterable[_Rank]) -> Iterator[int]:
    """Their places, in the order of rank; of thousands hardly more than a dozen are asked for, so they are not sorted."""
    ranked = list(ranks)
    heapify(ranked)
    while ranked:
        yield heappop(ranked)[-1]


def _ranks(entries: Sequence[Listed], scope: str) -> list[_Rank]:
    """Pinned, then what is important and of this place; then the newest."""
    kinds, importances = column_of(entries, "meta.kind"), column_of(entries, "meta.importance")
    alike = list(
        zip(kinds, importances, column_of(entries, "meta.pinned"), column_of(entries, "meta.scope"), strict=True)
    )
    points = {each: _points(*each, scope) for each in set(alike)}
    newest_first = map(neg, column_of(entries, "meta.updated_at_ms"))
    ids, paths = column_of(entries, "meta.id"), column_of(entries, "path")
    most_first = map(neg, map(points.__getitem__, alike))
    return list(zip(most_first, newest_first, ids, paths, range(len(alike)), strict=True))


def _points(kind: Kind, importance: Importance, is_pinned: bool, whose: str, scope: str) -> int:
    """A handoff is of the last session, so only its age counts."""
    points = 0 if kind is Kind.HANDOFF else _POINTS[importance]
    return points + _PINNED * is_pinned + (_HERE if whose == scope != GLOBAL_SCOPE else 0)


def good_until_ms(listed: Sequence[Listed], around: Place) -> int | None:
    """When the first of these notes runs out; None where none ever does."""
    of_here = chosen(listed, map(around.scopes.__contains__, column_of(listed, "meta.scope")))
    ends = chain(column_of(of_here, "meta.expires_at_ms"), column_of(of_here, "meta.valid_until_ms"))
    return min((end for end in ends if end is not None and end > around.now_ms), default=None)
