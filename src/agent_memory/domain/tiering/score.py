"""How strongly an entry competes for a place in front of agents, where no agent judges or two want the same place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from agent_memory.domain.entry import Listed, Meta, Usage, reads_of
from agent_memory.domain.findings import Profile
from agent_memory.domain.instants import has_passed
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Importance, Kind, Origin

CLEARLY_BETTER = 1.25
"""A challenger takes the place of another only with at least this many times its score."""

_STEP_DAYS = 30
_DAY_MS = 86_400_000
_OF_IMPORTANCE: Mapping[Importance, float] = {
    Importance.LOW: 1.0,
    Importance.MEDIUM: 2.0,
    Importance.HIGH: 4.0,
    Importance.CRITICAL: 8.0,
}
_OF_ORIGIN: Mapping[Origin, float] = {Origin.USER: 1.0, Origin.AGENT: 0.8, Origin.EXTERNAL: 0.7}
_PINNED = 1_000.0
_A_DOUBLING = 0.2
_MOST_DOUBLINGS = 8
_A_STEP_OLDER = 0.85
_OLDEST_STEP = 8


@frozen
class TierFacts:
    """What tiering knows of one live entry."""

    meta: Meta
    body_chars: int
    best: Tier
    """The nearest tier that it may have."""
    score: float


@frozen
class ScoreParts:
    """What a score is made of: the product of the four, and the pin added."""

    importance: float
    use: float
    recency: float
    origin: float
    pin: float = 0.0

    @property
    def total(self) -> float:
        return self.pin + self.importance * self.use * self.recency * self.origin


def score(meta: Meta, usage: Usage, now_ms: int) -> float:
    """Importance (1, 2, 4, 8) x use x recency x origin; a pin adds 1,000. Always above 0.

    Use: 1, and 0.2 more for each doubling of the reads, up to 8. Recency: 0.85 for each whole 30 days since the last read
    or change, down to 8 steps; always 1 for what a person prefers or has agreed on (`is_ageless`). Origin: the person 1, an
    agent 0.8, anything else 0.7. No single step of use or time makes one entry `CLEARLY_BETTER` than its equal, so that a score does not swing from run to run.
    """
    return score_parts(meta, usage, now_ms).total


def score_parts(meta: Meta, usage: Usage, now_ms: int) -> ScoreParts:
    """The factors of `score`."""
    return parts_at(meta, doublings_of(usage.count), steps_since(meta.updated_at_ms, usage.last_at_ms, now_ms))


def parts_at(meta: Meta, doublings: int, steps: int) -> ScoreParts:
    """The same by `doublings_of` its reads, and `steps_since` its last read or change."""
    return ScoreParts(
        importance=_OF_IMPORTANCE[meta.importance],
        use=1 + _A_DOUBLING * doublings,
        recency=1.0 if is_ageless(meta) else _A_STEP_OLDER**steps,
        origin=_OF_ORIGIN[meta.origin],
        pin=_PINNED if meta.pinned else 0.0,
    )


def is_ageless(meta: Meta) -> bool:
    """Whether the entry holds until it is replaced: what a person prefers, or has agreed on. Such an entry is in front of
    every session, where nobody has to open it, so that no read would ever show that it is of use."""
    return meta.kind in (Kind.PREFERENCE, Kind.CONVENTION) and (meta.origin is Origin.USER or is_vouched_for(meta))


def doublings_of(reads: int) -> int:
    """How often 1 must be doubled for so many reads."""
    return min((max(reads, 0) + 1).bit_length() - 1, _MOST_DOUBLINGS)


def steps_since(updated_at_ms: int, last_at_ms: int | None, now_ms: int) -> int:
    """Whole 30 days since the change or the last read, whichever is later."""
    return min(max(now_ms - max(updated_at_ms, last_at_ms or 0), 0) // (_STEP_DAYS * _DAY_MS), _OLDEST_STEP)


def tier_facts(meta: Meta, profile: Profile, usage: Usage, now_ms: int) -> TierFacts:
    """The facts of one live entry."""
    has_expired = has_passed(meta.expires_at_ms, now_ms)
    best = best_now(meta, has_expired=has_expired)
    return TierFacts(meta, profile.body_chars, best, score(meta, usage, now_ms))


def best_now(meta: Meta, *, has_expired: bool) -> Tier:
    """The nearest tier that a live entry may have. What has expired is cold, unless a person pinned it."""
    return Tier.COLD if has_expired and not meta.pinned else best_tier(meta)


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
