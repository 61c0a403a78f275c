"""What an agent would be asked to judge, and what it has judged: nobody is asked the same twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from agent_memory.domain.analysis.fingerprints import finding_fingerprint
from agent_memory.domain.findings import Finding, FindingKind

_NEEDS_NO_JUDGEMENT = frozenset({FindingKind.EXPIRED, FindingKind.SURPLUS})
"""Findings for which no agent has to be asked."""


@frozen
class Candidates:
    """Findings by their fingerprints. Of two with the same one the last stands in the place of the first."""

    findings: Mapping[str, Finding]

    def any_new(self, judged: frozenset[str]) -> bool:
        """Whether there is any to be judged that was not."""
        return any(key not in judged and each.kind not in _NEEDS_NO_JUDGEMENT for key, each in self.findings.items())

    def new_first(self, judged: frozenset[str]) -> tuple[Finding, ...]:
        """Those that nobody has judged yet before the others: a large store is gone through in several runs."""
        return tuple(self.findings[key] for key in sorted(self.findings, key=judged.__contains__))

    def without(self, hidden: frozenset[str]) -> Candidates:
        """Those that name none of these entries."""
        return Candidates({key: each for key, each in self.findings.items() if hidden.isdisjoint(each.ids)})

    def judged(self, seen: frozenset[str], before: frozenset[str]) -> frozenset[str]:
        """Those that an agent has judged once it saw these entries, or knows what there is to be known of them. Where it could
        be shown none that is new, the rest will not fit next time either, and counts as judged."""
        whole = {key for key, each in self.findings.items() if seen.issuperset(each.ids)}
        every = frozenset(self.findings)
        return (before & every) | whole if whole - before else every


def candidates_of(findings: Iterable[Finding], hashes: Mapping[str, str]) -> Candidates:
    """All findings, given the content hash of each live entry by id."""
    return Candidates({finding_fingerprint(each, hashes): each for each in findings})
