"""How near an entry may come by whose word it is (P19), and the tier list as it holds between two tierings. Apart from the
rules by which tiers are decided, so that listing is fast."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.vocabulary import Origin, Tier, TierList

BY_A_PERSON = "person"
"""`promotedBy` of an entry that a person vouches for."""


def is_vouched_for(meta: Meta) -> bool:
    """Whether a person ran `memory promote` or `memory pin` on the entry. A `pinned: true` alone, which an import can
    bring along, is nobody's word."""
    return meta.promoted_by == BY_A_PERSON and not meta.is_secret


def best_tier(meta: Meta) -> Tier:
    """The nearest tier that an entry may have, whoever proposes another.

    Secret: cold, whatever else holds. What the person said or vouches for: hot, and nothing else is. What an agent
    concluded: warm. What a foreign source said: cold.
    """
    if meta.is_secret:
        return Tier.COLD
    if is_vouched_for(meta) or meta.origin is Origin.USER:
        return Tier.HOT
    return Tier.COLD if meta.origin is Origin.EXTERNAL else Tier.WARM


def needs_vouching(meta: Meta) -> bool:
    """Whether an entry is hot only at a person's word for it."""
    return meta.is_secret or meta.origin is not Origin.USER


def standing_tiers(tiers: TierList, live: Iterable[Meta]) -> TierList:
    """The list, and hot at its end what is pinned, and what is promoted and in no list yet; the oldest first."""
    hot, warm = frozenset(tiers.hot), frozenset(tiers.warm)
    added = [
        meta
        for meta in live
        if (meta.pinned or is_vouched_for(meta))
        and meta.id not in hot
        and not meta.is_secret
        and (meta.pinned or meta.id not in warm)
    ]
    new = tuple(meta.id for meta in sorted(added, key=lambda meta: (meta.created_at_ms, meta.id)))
    return TierList((*tiers.hot, *new), tuple(id for id in tiers.warm if id not in new))


def tiers_of(tiers: TierList, live: Sequence[Listed]) -> Mapping[str, Tier]:
    """The tier in which each of these is told, by id; of what is cold nothing. No nearer than what it says of itself allows,
    whatever the list says."""
    standing = standing_tiers(tiers, (each.meta for each in live))
    listed = {**dict.fromkeys(standing.warm, Tier.WARM), **dict.fromkeys(standing.hot, Tier.HOT)}
    far = list(Tier).index
    told = (each.meta for each in live if each.meta.id in listed)
    return {meta.id: max(listed[meta.id], best_tier(meta), key=far) for meta in told}


def with_warm(tiers: TierList, id: str) -> TierList:
    """The list with the entry told in one line, before all others that are; where it is in the list already, as it was."""
    return tiers if id in tiers.hot or id in tiers.warm else TierList(tiers.hot, (id, *tiers.warm))


def with_hot(tiers: TierList, id: str) -> TierList:
    """The list with the entry hot: where it is, if it is so already, else before all others, so that it is sure to be seen."""
    if id in tiers.hot:
        return tiers
    return TierList((id, *tiers.hot), tiers.without({id}).warm)
