"""Whose word lifts an entry over every rule of origin (P19). Apart from the rules themselves, so that listing is fast."""

from __future__ import annotations

from agent_memory.domain.entry import Meta
from agent_memory.domain.vocabulary import Sensitivity

BY_A_PERSON = "person"
"""`promotedBy` of an entry that a person vouches for."""


def is_vouched_for(meta: Meta) -> bool:
    """Whether a person ran `memory promote` or `memory pin` on the entry. A `pinned: true` alone, which an import can
    bring along, is nobody's word."""
    return meta.promoted_by == BY_A_PERSON and meta.sensitivity is not Sensitivity.SECRET
