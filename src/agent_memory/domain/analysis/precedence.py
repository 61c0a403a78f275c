"""Which of two entries is to be believed, and which entries can be compared at all."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Origin

_TRUST = list(Origin)


def precedence(entry: Features) -> tuple[bool, bool, int, int, bool, str]:
    """Sorts the entry that should win first: what a person pinned or promoted, then what is newer, then what is better
    sourced (the user before the agent, with cited turns before without). What is external wins against nothing else: a page
    must not get its way by being read last."""
    return (
        not (entry.pinned or entry.promoted),
        entry.origin is Origin.EXTERNAL,
        -(entry.valid_from_ms if entry.valid_from_ms is not None else entry.updated_at_ms),
        _TRUST.index(entry.origin),
        not entry.cites_turns,
        entry.id,
    )


def in_precedence(entries: Iterable[Features]) -> tuple[Features, ...]:
    """The entries, the winner first."""
    return tuple(sorted(entries, key=precedence))


def same_reach(one_scope: str, other_scope: str) -> bool:
    """Whether there is a place in which both hold: of one scope, or one of them global."""
    return one_scope == other_scope or GLOBAL_SCOPE in (one_scope, other_scope)


def across_scopes(one: Features, other: Features) -> str:
    """What a reason says of a pair that cannot be merged; empty where it can."""
    if one.scope == other.scope:
        return ""
    return (
        f"; one is global, the other belongs to {other.scope if one.is_global else one.scope}, so they cannot be merged"
    )
