"""In which order people and agents are told of entries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from agent_memory.domain.entry import Listed


def newest_first(entries: Sequence[Listed]) -> list[int]:
    """The places of these, the last changed first; of those that were changed together, by id."""
    changed_at_ms, ids = [each.meta.updated_at_ms for each in entries], [each.meta.id for each in entries]
    return [place for _, _, place in sorted(zip([-at_ms for at_ms in changed_at_ms], ids, count()))]
