"""What a deterministic look at the store finds: what an agent should judge, and what a person should know."""

from __future__ import annotations

from enum import StrEnum

from agent_memory.domain.analysis.outlines import NO_PROFILES, Profiles
from agent_memory.values import frozen


class FindingKind(StrEnum):
    """Declared from the worst to the least."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    """The bodies are the same but for white space and links."""
    NEAR_DUPLICATE = "near-duplicate"
    OVERLAP = "overlap"
    EXPIRED = "expired"
    SURPLUS = "surplus"
    """Over a cap that a person has set on the size of the store, and worth least."""
    OVERSIZED = "oversized"
    FRAGMENTED = "fragmented"
    """Several very short entries about one subject."""
    DANGLING_LINK = "dangling-link"
    ONE_WAY_LINK = "one-way-link"
    ORPHAN = "orphan"
    """No link leads to it or away from it, it has no tag in common with any other, and nobody has read it."""
    STALE = "stale"


@frozen
class Finding:
    """One thing found about some entries."""

    kind: FindingKind
    ids: tuple[str, ...]
    """The entry that should win comes first: newer, better sourced."""
    reason: str
    """In words, with the measure and the value that made it a finding."""
    score: float = 0.0
    """How bad, 0 to 1, among findings of the same kind."""


@frozen
class Analysis:
    """All findings, worst first, and the profile of each live entry, by id."""

    findings: tuple[Finding, ...] = ()
    profiles: Profiles = NO_PROFILES

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind, worst first."""
        return tuple(each for each in self.findings if each.kind is kind)
