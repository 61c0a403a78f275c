"""Which entries a prompt shows in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, Finding, FindingKind
from agent_memory.domain.planning.related import NOTE_OVERHEAD_CHARS
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity

_FOR_PEOPLE = (FindingKind.ONE_WAY_LINK,)
"""Not worth reading two bodies for."""
_PAIR = 2


def ids_to_show(analysis: Analysis, live: Iterable[Listed], max_chars: int, tiers: TierList) -> tuple[str, ...]:
    """The ids to show in full within `max_chars` characters of prompt, the most urgent first.

    All that may be shown, if they fit. Else the entries of findings, worst first, each group whole before any in part (a
    part has at least two, the winner among them: one side of a duplicate says nothing); then hot and warm ones while there
    is room. Never secret or conflicted ones, and none for a finding of which every entry is pinned.
    """
    showable = {each.meta.id: each for each in live if _may_be_shown(each)}
    sizes = {id: shown_chars(each, analysis) for id, each in showable.items()}
    urgent = [
        tuple(id for id in finding.ids if id in showable)
        for finding in analysis.findings
        if finding.kind not in _FOR_PEOPLE and _can_be_mended(finding, showable)
    ]
    tiered = [(id,) for id in (*tiers.hot, *tiers.warm) if id in showable]
    if sum(sizes.values()) <= max_chars:
        others = [(id,) for id in sorted(showable)]
        return tuple(dict.fromkeys(id for group in (*urgent, *tiered, *others) for id in group))
    room = _Room(sizes, max_chars)
    for group in urgent:
        room.take_whole(group)
    for group in urgent:
        room.take_part(group)
    for group in tiered:
        room.take_whole(group)
    return room.taken


def shown_chars(listed: Listed, analysis: Analysis) -> int:
    """How many characters an entry may take in a prompt when it is shown in full (as `planning.related.note_chars`)."""
    meta, profile = listed.meta, analysis.profiles.get(listed.meta.id)
    tags = sum(len(tag) + 1 for tag in meta.tags)
    body_chars = profile.body_chars if profile else 0
    return NOTE_OVERHEAD_CHARS + len(meta.title) + len(meta.description) + tags + len(meta.scope) + body_chars


def findings_about(analysis: Analysis, ids: Iterable[str]) -> Analysis:
    """The findings whose entries are all among `ids`, and the profiles of those: what may be told to who knows only these."""
    known = frozenset(ids)
    findings = tuple(each for each in analysis.findings if known.issuperset(each.ids))
    return Analysis(findings, {id: profile for id, profile in analysis.profiles.items() if id in known})


def _may_be_shown(listed: Listed) -> bool:
    return listed.meta.sensitivity is not Sensitivity.SECRET and not listed.conflicted


def _can_be_mended(finding: Finding, showable: Mapping[str, Listed]) -> bool:
    """Whether all its entries may be shown, and one of them changed."""
    return all(id in showable for id in finding.ids) and any(not showable[id].meta.pinned for id in finding.ids)


class _Room:
    """Ids taken while there is room for their entries."""

    def __init__(self, sizes: Mapping[str, int], max_chars: int) -> None:
        self._sizes = sizes
        self._left = max_chars
        self._taken: dict[str, None] = {}

    @property
    def taken(self) -> tuple[str, ...]:
        return tuple(self._taken)

    def take_whole(self, group: tuple[str, ...]) -> None:
        """Take the group if there is room for all of it."""
        missing = [id for id in group if id not in self._taken]
        needed = sum(self._sizes[id] for id in missing)
        if needed <= self._left:
            self._taken.update(dict.fromkeys(missing))
            self._left -= needed

    def take_part(self, group: tuple[str, ...]) -> None:
        """Take as much of the beginning of the group as there is room for, two at least."""
        for size in range(len(group) - 1, _PAIR - 1, -1):
            if sum(self._sizes[id] for id in group[:size] if id not in self._taken) <= self._left:
                self.take_whole(group[:size])
                return
