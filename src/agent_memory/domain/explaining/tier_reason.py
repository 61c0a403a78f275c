"""Why an entry is in its tier."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.entry import Meta, Usage
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.tiering.eligibility import why_not_nearer
from agent_memory.domain.tiering.score import ScoreParts, is_ageless, score_parts
from agent_memory.domain.tiering.standing import best_tier, is_vouched_for
from agent_memory.domain.tiers import Tier

_SHOWN: dict[Tier, str] = {
    Tier.HOT: "It is hot: the managed section shows all of it, as far as there is room.",
    Tier.WARM: "It is warm: the managed section shows one line of it, as far as there is room.",
    Tier.COLD: "It is cold: the managed section does not show it.",
}


@frozen
class TierStanding:
    """All that an entry's tier depends on."""

    meta: Meta
    tier: Tier
    usage: Usage
    now_ms: int
    archived: bool = False
    tiers_decided: bool = True
    """Some defrag has decided what is hot."""
    decided_since: bool = True
    """Tiers were decided after the entry was written."""
    weakest_hot: float | None = None
    """The lowest score among the hot entries that are not pinned and share a section with it, itself left out."""

    @property
    def best(self) -> Tier:
        """The nearest tier that it may have."""
        return best_tier(self.meta)

    @property
    def parts(self) -> ScoreParts:
        """What its score is made of."""
        return score_parts(self.meta, self.usage, self.now_ms)


def tier_reason(standing: TierStanding) -> tuple[str, ...]:
    """Why the entry is where it is, in sentences: first what the tier means, then what put it there."""
    if standing.archived:
        return ("It is archived.",)
    shown = _SHOWN[standing.tier]
    because = _why_hot(standing) if standing.tier is Tier.HOT else _why_not_hot(standing)
    return (shown, because)


def score_in_words(standing: TierStanding) -> str:
    """`Its score is 2.38: importance medium 2 × read 3 times 1.4 × last read or changed 45 days ago 0.85 × origin user 1.`"""
    meta, parts = standing.meta, standing.parts
    count = standing.usage.count
    factors = (
        f"importance {meta.importance} {parts.importance:g}",
        f"read {count} time{'' if count == 1 else 's'} {parts.use:g}",
        f"{_age_in_words(standing)} {parts.recency:.2g}",
        f"origin {meta.origin} {parts.origin:g}",
    )
    return f"Its score is {parts.total - parts.pin:.2f}: {' × '.join(factors)}."


def _age_in_words(standing: TierStanding) -> str:
    if is_ageless(standing.meta):
        return "what a person wants does not age"
    last_ms = max(standing.meta.updated_at_ms, standing.usage.last_at_ms or 0)
    days = max(standing.now_ms - last_ms, 0) // DAY_MS
    ago = "today" if days == 0 else f"{days} day{'' if days == 1 else 's'} ago"
    return f"last read or changed {ago}"


def _why_hot(standing: TierStanding) -> str:
    if standing.meta.pinned:
        return "You pinned it; `memory unpin` lets it compete for its place again."
    if standing.best is not Tier.HOT:
        return f"The next defrag takes it out: {why_not_nearer(standing.meta)}."
    if is_vouched_for(standing.meta):
        return "You vouched for it with `memory promote`."
    return "Defrag chose it; it stays until it is left out twice in a row, or a clearly better note needs its room."


def _why_not_hot(standing: TierStanding) -> str:
    meta = standing.meta
    if has_passed(meta.expires_at_ms, standing.now_ms):
        return f"It expired on {iso_of(meta.expires_at_ms)[:10]}; the next defrag archives it."
    if standing.best is not Tier.HOT:
        nearest = "It can be warm at most" if standing.best is Tier.WARM else "It is shown to nobody unasked"
        return f"{nearest}: {why_not_nearer(meta)}."
    if not standing.tiers_decided:
        return "No defrag has decided yet what is hot; `memory defrag` does."
    if not standing.decided_since:
        return "It was written after the last defrag; the next one looks at it."
    if meta.valid_until_ms is not None and meta.valid_until_ms <= standing.now_ms:
        return f"It stopped being true on {iso_of(meta.valid_until_ms)[:10]}."
    return _why_outrun(standing)


def _why_outrun(standing: TierStanding) -> str:
    weakest = "" if standing.weakest_hot is None else f"; the lowest score among them is {standing.weakest_hot:.2f}"
    return f"It may be hot, and others are in front of it{weakest}. `memory pin` puts it in front and keeps it there."
