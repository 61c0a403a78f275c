"""Which notes may be injected, in which section, in which order (P19, P20): of those that `place` lets through what the person
said, or vouched for, or an agent concluded unless it is an order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heapify, heappop
from itertools import islice

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.injecting.place import Place, may_be_injected
from agent_memory.domain.injecting.without_orders import without_orders
from agent_memory.domain.tiering.eligibility import best_tier, is_directive_entry
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


@frozen
class Shown:
    """A note that may be injected."""

    stored: StoredEntry
    section: str
    whole: bool
    """False: only its title and description may be shown."""


def shown(stored: StoredEntry, section: str | None = None) -> Shown | None:
    """How much of a note may be shown; None for nothing. `section` is that of its kind unless it is named."""
    nearest = best_tier(stored.meta, is_directive_entry(stored.meta, stored.body))
    if nearest is Tier.COLD and stored.meta.kind is Kind.HANDOFF:
        told = without_orders(stored)
        nearest = Tier.COLD if told is None else best_tier(stored.meta, is_directive=False)
        stored = told or stored
    if nearest is Tier.COLD:
        return None
    is_whole = nearest is Tier.HOT and not stored.listed.conflicted
    return Shown(stored, section or SECTION_OF[stored.meta.kind], is_whole)


def candidates(
    listed: Iterable[Listed], read: Callable[[Listed], StoredEntry | None], around: Place
) -> Iterator[Shown]:
    """Of each section the best notes, the best first; only of those are the bodies read."""
    by_section: dict[str, list[Listed]] = {}
    for each in listed:
        if may_be_injected(each, around):
            by_section.setdefault(SECTION_OF[each.meta.kind], []).append(each)
    for section, found in by_section.items():
        yield from islice(_fit(_best_first(found, around.scope, section), read, around), MOST_A_SECTION)


def _fit(best: Iterable[Listed], read: Callable[[Listed], StoredEntry | None], around: Place) -> Iterator[Shown]:
    for each in best:
        stored = read(each)
        fit = None if stored is None or not may_be_injected(stored.listed, around) else shown(stored)
        if fit is not None:
            yield fit


def _best_first(found: Iterable[Listed], scope: str, section: str) -> Iterator[Listed]:
    """In the order of rank; of thousands hardly more than a dozen are asked for, so they are not sorted."""
    ranked = [(*_rank(each.meta, scope, section), each.path, each) for each in found]
    heapify(ranked)
    while ranked:
        yield heappop(ranked)[-1]


def _rank(meta: Meta, scope: str, section: str) -> tuple[int, int, str]:
    """Pinned, then what is important and of this place; then the newest. A handoff is of the last session, so only its age
    counts."""
    points = 0 if section == "handoff" else _POINTS[meta.importance]
    points += _PINNED * meta.pinned + (_HERE if meta.scope == scope != GLOBAL_SCOPE else 0)
    return -points, -meta.updated_at_ms, meta.id


def good_until_ms(listed: Iterable[Listed], around: Place) -> int | None:
    """When the first of these notes runs out; None where none ever does."""
    scopes = around.scopes
    ends = (
        end
        for each in listed
        if each.meta.scope in scopes
        for end in (each.meta.expires_at_ms, each.meta.valid_until_ms)
        if end is not None and end > around.now_ms
    )
    return min(ends, default=None)
