"""How strongly an entry competes for a place in front of agents, where no agent judges or two want the same place."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.entry import Meta, Usage
from agent_memory.domain.findings import Profile
from agent_memory.domain.instants import DAY_MS, has_passed
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Importance, Kind, Origin

HEADING_CHARS = 100
"""What is written around an entry that is shown whole, besides its title: heading mark, origin, date, blank lines."""
CLEARLY_BETTER = 1.25
"""A challenger takes the place of another only with at least this many times its score."""

_STEP_DAYS = 30
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

    @property
    def whole_chars(self) -> int:
        """About as many characters as the entry takes where it is shown whole."""
        return len(self.meta.title) + HEADING_CHARS + self.body_chars


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
    doublings = min((max(usage.count, 0) + 1).bit_length() - 1, _MOST_DOUBLINGS)
    changed_at_ms = max(meta.updated_at_ms, usage.last_at_ms or 0)
    steps = min(max(now_ms - changed_at_ms, 0) // (_STEP_DAYS * DAY_MS), _OLDEST_STEP)
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


def tier_facts(meta: Meta, profile: Profile, usage: Usage, now_ms: int) -> TierFacts:
    """The facts of one live entry."""
    return TierFacts(meta, profile.body_chars, best_now(meta, now_ms), score(meta, usage, now_ms))


def best_now(meta: Meta, now_ms: int) -> Tier:
    """The nearest tier that a live entry may have. What has expired is cold, unless a person pinned it."""
    has_expired = has_passed(meta.expires_at_ms, now_ms)
    return Tier.COLD if has_expired and not meta.pinned else best_tier(meta)
