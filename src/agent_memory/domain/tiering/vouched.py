"""Whose word lifts an entry over every rule of origin (P19). Apart from the rules themselves, so that listing is fast."""

from __future__ import annotations

from agent_memory.domain.entry import Meta
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, Sensitivity

BY_A_PERSON = "person"
"""`promotedBy` of an entry that a person vouches for."""


def is_vouched_for(meta: Meta) -> bool:
    """Whether a person ran `memory promote` or `memory pin` on the entry. A `pinned: true` alone, which an import can
    bring along, is nobody's word."""
    return meta.promoted_by == BY_A_PERSON and meta.sensitivity is not Sensitivity.SECRET


def best_tier(meta: Meta) -> Tier:
    """The nearest tier that an entry may have, whoever proposes another.

    Secret: cold, whatever else holds. What the person said or vouches for: hot, and nothing else is. What an agent
    concluded: warm. What a foreign source said: cold.
    """
    if meta.sensitivity is Sensitivity.SECRET:
        return Tier.COLD
    if is_vouched_for(meta) or meta.origin is Origin.USER:
        return Tier.HOT
    return Tier.COLD if meta.origin is Origin.EXTERNAL else Tier.WARM
