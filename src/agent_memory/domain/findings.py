"""What a deterministic look at the store finds: what an agent should judge, and what a person should know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import evolve, field, frozen


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
    ORPHAN = "orphan"
    """No link leads to it or away from it, it has no tag in common with any other, and nobody has read it."""
    STALE = "stale"
    """Neither read nor changed for long."""


WORST_FIRST = {kind: place for place, kind in enumerate(FindingKind)}


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
class Profile:
    """The size of a body."""

    body_chars: int
    body_lines: int
    """Those that are not blank."""


@frozen
class Analysis:
    """All findings, worst first, and the profile of each live entry, by id."""

    findings: tuple[Finding, ...] = ()
    profiles: Mapping[str, Profile] = field(factory=dict[str, Profile])

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind, worst first."""
        return tuple(each for each in self.findings if each.kind is kind)

    def with_findings(self, more: Iterable[Finding]) -> Analysis:
        """With more findings, each after those of its kind."""
        together = sorted((*self.findings, *more), key=lambda each: WORST_FIRST[each.kind])
        return evolve(self, findings=tuple(together))

    def without(self, ids: frozenset[str]) -> Analysis:
        """The findings that name none of these entries, and the profiles of the others: what may be told to someone who must
        not know of these."""
        if not ids:
            return self
        return Analysis(
            tuple(each for each in self.findings if ids.isdisjoint(each.ids)),
            {id: each for id, each in self.profiles.items() if id not in ids},
        )
