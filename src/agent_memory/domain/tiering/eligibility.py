"""How near to an agent an entry may come unasked (P19)."""

from __future__ import annotations

from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.planning.directives import is_directive, is_directive_kind
from agent_memory.domain.tiering.vouched import is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Origin, Sensitivity
from agent_memory.values import evolve


def is_directive_entry(meta: Meta, body: str) -> bool:
    """Whether title, description or body tell a reader what to do, or the kind does."""
    return is_directive_kind(meta.kind) or is_directive(f"{meta.title}\n{meta.description}\n{body}")


def best_tier(meta: Meta, is_directive: bool) -> Tier:
    """The nearest tier that an entry may have, whoever proposes another.

    Secret: cold, whatever else holds. What a person vouches for or said: hot. What an agent concluded: hot, unless it
    tells an agent what to do (cold), or cites no turn of a session and no person pinned it (warm). What only tools, pages
    or files said: cold.
    """
    if meta.sensitivity is Sensitivity.SECRET:
        return Tier.COLD
    if is_vouched_for(meta) or meta.origin is Origin.USER:
        return Tier.HOT
    if meta.origin is Origin.EXTERNAL or is_directive:
        return Tier.COLD
    return Tier.HOT if meta.pinned or cites_a_turn(meta) else Tier.WARM


def cites_a_turn(meta: Meta) -> bool:
    """Whether the entry says from which turns of a session it comes."""
    return any(source.turns for source in meta.sources)


def needs_vouching(entry: MemoryEntry) -> bool:
    """Whether an entry that says this comes before an agent unasked only at a person's word for it."""
    unvouched = evolve(entry.meta, promoted_by=None)
    return best_tier(unvouched, is_directive_entry(unvouched, entry.body)) is Tier.COLD


def why_not_nearer(meta: Meta, is_directive: bool) -> str:
    """Why an entry may not be hot, in words; empty where it may."""
    if best_tier(meta, is_directive) is Tier.HOT:
        return ""
    if meta.sensitivity is Sensitivity.SECRET:
        return "it is secret"
    if meta.origin is Origin.EXTERNAL:
        return "only a tool, a page or a file said it; `memory promote` vouches for it"
    if is_directive:
        return "it tells an agent what to do, and no person said so; `memory promote` vouches for it"
    return "it names no turn of a session that it comes from"
