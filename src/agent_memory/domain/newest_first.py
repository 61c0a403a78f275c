"""In which order people and agents are told of entries."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.domain.entry import Listed


def newest_first(entries: Sequence[Listed]) -> list[int]:
    """The places of these, the last changed first; of those that were changed together, by id."""
    return sorted(range(len(entries)), key=lambda at: (-entries[at].meta.updated_at_ms, entries[at].meta.id))
