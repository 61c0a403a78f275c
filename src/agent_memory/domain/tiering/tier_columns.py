"""Tiers and scores of all entries of a store at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.entry_reads import reads_of
from agent_memory.domain.instants import has_passed
from agent_memory.domain.tiering.score import best_now, score
from agent_memory.domain.tiers import Tier


@frozen
class TierColumns:
    """Of each entry, in their order, what `score.tier_facts` says of it."""

    best: Sequence[Tier]
    scores: Sequence[float]
    reads: Sequence[int]


def tier_columns(entries: Sequence[Listed], usage: Mapping[str, Usage], now_ms: int) -> TierColumns:
    """The columns of these entries."""
    metas = [each.meta for each in entries]
    reads = [reads_of(meta, usage) for meta in metas]
    best = [best_now(meta, has_expired=has_passed(meta.expires_at_ms, now_ms)) for meta in metas]
    scores = [score(meta, each, now_ms) for meta, each in zip(metas, reads, strict=True)]
    return TierColumns(best, scores, [each.count for each in reads])
