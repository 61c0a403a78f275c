"""From the findings of an analysis, which an agent is shown, to symptoms for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent_memory.domain.checkup import catalogue as of
from agent_memory.domain.checkup.symptom import Ailment, Symptom
from agent_memory.domain.findings import Analysis, Finding, FindingKind

_AILMENTS: Mapping[FindingKind, Ailment] = {
    FindingKind.CONTRADICTION: of.CONTRADICTION,
    FindingKind.DUPLICATE: of.DUPLICATE,
    FindingKind.NEAR_DUPLICATE: of.NEAR_DUPLICATE,
    FindingKind.OVERLAP: of.OVERLAP,
    FindingKind.SURPLUS: of.SURPLUS,
    FindingKind.OVERSIZED: of.OVERSIZED,
    FindingKind.FRAGMENTED: of.FRAGMENTED,
    FindingKind.DANGLING_LINK: of.UNRESOLVED_LINK,
    FindingKind.ORPHAN: of.ORPHAN,
    FindingKind.STALE: of.STALE,
}
"""Expired entries are not among them: how bad that is depends on how long a defrag is overdue (`note_checks`)."""


def examine_analysis(analysis: Analysis, paths: Mapping[str, str]) -> Iterator[Symptom]:
    """One symptom a finding, worst first. `paths` are those of the live entries, by id."""
    for finding in analysis.findings:
        ailment = _AILMENTS.get(finding.kind)
        if ailment is not None:
            yield ailment.found(_subject(finding, paths), _sentence(finding))


def _subject(finding: Finding, paths: Mapping[str, str]) -> str:
    first = paths.get(finding.ids[0]) if finding.ids else None
    return first if first is not None else " ".join(finding.ids)


def _sentence(finding: Finding) -> str:
    reason = finding.reason.rstrip(".")
    others = [id for id in finding.ids[1:] if id not in reason]
    with_whom = f" (with {', '.join(others)})" if others else ""
    begins_with_id = reason.startswith("id__")
    return f"{reason if begins_with_id else reason[:1].upper() + reason[1:]}{with_whom}"
