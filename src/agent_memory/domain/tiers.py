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
        """The tier of an entry."""
        return Tier.HOT if id in self.hot else Tier.WARM if id in self.warm else Tier.COLD
