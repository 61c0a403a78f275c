"""What a run found and left as it was, since it takes judgement."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.domain.actions import Action, ids_of
from agent_memory.domain.findings import Analysis, Finding, FindingKind

_KINDS = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)


def left_to_judge(analysis: Analysis, done: Iterable[Action]) -> tuple[Finding, ...]:
    """Contradictions, duplicates and near-duplicates of which at least two entries are as they were, the worst first.

    Duplicates of which a run has merged some are no question any more: the next run goes on.
    """
    touched = {id for action in done for id in ids_of(action)}
    findings = (finding for kind in _KINDS for finding in analysis.of_kind(kind))
    return tuple(each for each in findings if len(set(each.ids) - touched) > 1 and not _is_under_way(each, touched))


def _is_under_way(finding: Finding, touched: set[str]) -> bool:
    return finding.kind is FindingKind.DUPLICATE and not touched.isdisjoint(finding.ids)
