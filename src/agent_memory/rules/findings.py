"""Findings of the analysis: what an agent should judge, and what a person should know."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Set
from enum import StrEnum

from attrs import evolve, field, frozen

from agent_memory.note.note import Listed


class FindingKind(StrEnum):
    """The kinds of findings, worst first."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    """The bodies are the same but for white space and links."""
    NEAR_DUPLICATE = "near-duplicate"
    OVERLAP = "overlap"
    EXPIRED = "expired"
    SURPLUS = "surplus"
    """Over a limit that a person has set on the size of the store, and of least value."""
    OVERSIZED = "oversized"
    DANGLING_LINK = "dangling-link"
    ORPHAN = "orphan"
    """No link leads to it or from it, it shares no tag with another note, and nobody has read it."""
    STALE = "stale"
    """Neither read nor changed for a long time."""


WORST_FIRST = {kind: place for place, kind in enumerate(FindingKind)}


@frozen
class Finding:
    kind: FindingKind
    ids: tuple[str, ...]
    """The note that should win comes first: newer, better sourced."""
    reason: str
    """In words, with the measured value that made it a finding."""
    score: float = 0.0
    """Severity from 0 to 1, among findings of the same kind."""


@frozen
class Analysis:
    """All findings, worst first, and the characters of each live note's body, by id."""

    findings: tuple[Finding, ...] = ()
    body_chars: Mapping[str, int] = field(factory=dict[str, int])

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.kind is kind)

    def with_findings(self, more: Iterable[Finding]) -> Analysis:
        """Returns the analysis with more findings, each after those of its kind."""
        together = sorted((*self.findings, *more), key=lambda each: WORST_FIRST[each.kind])
        return evolve(self, findings=tuple(together))

    def without(self, ids: frozenset[str]) -> Analysis:
        """Returns the findings that name none of these notes, and the sizes of the others: the part that may be shown
        to somebody who must not know of these."""
        if not ids:
            return self
        return Analysis(
            tuple(each for each in self.findings if ids.isdisjoint(each.ids)),
            {id: chars for id, chars in self.body_chars.items() if id not in ids},
        )


def store_fingerprint(live: Iterable[Listed]) -> str:
    """Returns the SHA-256 over the ids of the live notes and the bytes of their files, in any order, in hex."""
    lines = sorted(f"{each.meta.id} {each.content_hash}\n" for each in live)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


_NEEDS_NO_JUDGEMENT = frozenset({FindingKind.EXPIRED, FindingKind.SURPLUS})
"""Findings that do not need an agent's judgement."""


@frozen
class Candidates:
    """Findings by their fingerprints. Of two with the same one, the last replaces the first."""

    findings: Mapping[str, Finding]

    def any_new(self, judged: frozenset[str]) -> bool:
        """Returns whether any finding has not been judged before."""
        return any(key not in judged and each.kind not in _NEEDS_NO_JUDGEMENT for key, each in self.findings.items())

    def new_first(self, judged: frozenset[str]) -> tuple[Finding, ...]:
        """Returns the findings with those that nobody has judged yet first: a large store takes several runs."""
        return tuple(self.findings[key] for key in sorted(self.findings, key=judged.__contains__))

    def without(self, hidden: frozenset[str]) -> Candidates:
        """Returns the findings that name none of these notes."""
        return Candidates({key: each for key, each in self.findings.items() if hidden.isdisjoint(each.ids)})

    def judged(self, seen: frozenset[str], before: frozenset[str]) -> frozenset[str]:
        """Returns the findings that count as judged once an agent saw these notes. If no new one could be shown to it,
        the rest will not fit next time either, and counts as judged."""
        whole = {key for key, each in self.findings.items() if seen.issuperset(each.ids)}
        every = frozenset(self.findings)
        return (before & every) | whole if whole - before else every


def candidates_of(findings: Iterable[Finding], hashes: Mapping[str, str]) -> Candidates:
    """Returns all findings by fingerprint, given the content hash of each live note by id. The fingerprint covers the
    kind and the bytes of the notes, in any order."""
    found: dict[str, Finding] = {}
    for each in findings:
        text = "\n".join(sorted({f"{id} {hashes.get(id, '')}" for id in each.ids}))
        found[f"{each.kind.value} {hashlib.sha256(text.encode()).hexdigest()[:32]}"] = each
    return Candidates(found)


_KINDS = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)


def left_to_judge(analysis: Analysis, touched: Set[str]) -> tuple[Finding, ...]:
    """Returns contradictions, duplicates and near duplicates of which at least two notes are unchanged, worst first.

    Duplicates that a run has merged in part are left out: the next run goes on with them.
    """
    findings = (finding for kind in _KINDS for finding in analysis.of_kind(kind))
    return tuple(
        each
        for each in findings
        if len(set(each.ids) - touched) > 1 and (each.kind is not FindingKind.DUPLICATE or touched.isdisjoint(each.ids))
    )
