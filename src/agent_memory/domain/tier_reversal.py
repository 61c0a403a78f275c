"""Taking back what a run did to the tiers, where later changes are to stay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agent_memory.domain.tiers import Tier, TierList


def reverse_tiers(now: TierList, before: TierList, after: TierList) -> TierList:
    """`now`, but with each entry that went from one tier to another between `before` and `after`, and has stayed there
    since, back in the tier that it had.

    Everything else stays in its place; what comes back follows the entry that it followed in `before`.
    """
    current, earlier, later = _tiers_of(now), _tiers_of(before), _tiers_of(after)
    moved = {id for id in earlier.keys() | later.keys() if earlier.get(id) is not later.get(id)}
    back = {id for id in moved if current.get(id) is later.get(id)}
    return TierList(_with_back(now.hot, before.hot, back), _with_back(now.warm, before.warm, back))


def _tiers_of(tiers: TierList) -> Mapping[str, Tier]:
    """The tier of each id that is not cold."""
    return {**dict.fromkeys(tiers.warm, Tier.WARM), **dict.fromkeys(tiers.hot, Tier.HOT)}


def _with_back(now: Sequence[str], before: Sequence[str], back: set[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(id for id in now if id not in back)
    following: defaultdict[str | None, list[str]] = defaultdict(list)
    predecessor: str | None = None
    for id in before:
        if id in back:
            following[predecessor].append(id)
        elif id in kept:
            predecessor = id
    return (*following[None], *(each for id in kept for each in (id, *following[id])))
