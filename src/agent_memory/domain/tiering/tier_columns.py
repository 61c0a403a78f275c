"""Tiers and scores of all entries of a store at once, in columns, without unpacking any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.domain.entry import Listed, Meta, Usage
from agent_memory.domain.entry_reads import reads_in
from agent_memory.domain.instants import has_passed
from agent_memory.domain.row_answers import row_answers
from agent_memory.domain.tiering.score import best_now, doublings_of, parts_at, steps_since
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Importance, Kind, Origin, Sensitivity
from agent_memory.values import frozen


@frozen
class TierColumns:
    """Of each entry, in their order, what `score.tier_facts` says of it."""

    best: Sequence[Tier]
    scores: Sequence[float]
    reads: Sequence[int]


def tier_columns(entries: Sequence[Listed], usage: Mapping[str, Usage], now_ms: int) -> TierColumns:
    """The columns of these entries."""
    counts, instants = reads_in(entries, usage)
    updated = [each.meta.updated_at_ms for each in entries]
    found = row_answers(
        _best_and_score,
        [each.meta.kind for each in entries],
        [each.meta.importance for each in entries],
        [each.meta.origin for each in entries],
        [each.meta.sensitivity for each in entries],
        [each.meta.pinned for each in entries],
        [each.meta.promoted_by for each in entries],
        [has_passed(at_ms, now_ms) for at_ms in [each.meta.expires_at_ms for each in entries]],
        row_answers(doublings_of, counts),
        [steps_since(changed, last, now_ms) for changed, last in zip(updated, instants, strict=True)],
    )
    return TierColumns([best for best, _ in found], [score for _, score in found], counts)


def _best_and_score(
    kind: Kind,
    importance: Importance,
    origin: Origin,
    sensitivity: Sensitivity,
    pinned: bool,
    promoted_by: str | None,
    has_expired: bool,
    doublings: int,
    steps: int,
) -> tuple[Tier, float]:
    # It stands for all entries that have these in common, so that the rules are written down once.
    like = Meta(
        *("", "", 0, 0),
        kind=kind,
        importance=importance,
        origin=origin,
        sensitivity=sensitivity,
        pinned=pinned,
        promoted_by=promoted_by,
    )
    best = best_now(like, has_expired=has_expired)
    return best, parts_at(like, doublings, steps).total
