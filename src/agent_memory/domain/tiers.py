"""Tiers: what of the store is in front of every agent."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

TIERS_FILE = "state/tiers.json"
"""Where a store keeps its tier list, relative to the root."""


class Tier(StrEnum):
    """Declared from the nearest to the farthest."""

    HOT = "hot"
    """Inlined in the managed section."""
    WARM = "warm"
    """One line in the managed section."""
    COLD = "cold"
    """Found by search."""


@frozen
class TierList:
    """`state/tiers.json`: ids in the order in which they are shown; an id in neither is cold. No id is in both."""

    hot: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()

    def of(self, id: str) -> Tier:
        return Tier.HOT if id in self.hot else Tier.WARM if id in self.warm else Tier.COLD

    def where_unseen(self, current: TierList, seen: frozenset[str]) -> TierList:
        """This list with every entry that is not among `seen` where it is in `current`: who was not shown an entry has
        not left it out."""
        unseen = TierList(
            tuple(id for id in current.hot if id not in seen), tuple(id for id in current.warm if id not in seen)
        )
        kept = {*unseen.hot, *unseen.warm}
        return TierList(
            (*(id for id in self.hot if id not in kept), *unseen.hot),
            (*(id for id in self.warm if id not in kept), *unseen.warm),
        )
