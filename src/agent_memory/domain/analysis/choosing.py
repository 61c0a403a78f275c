"""Which entries a prompt shows in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.planning.related import NOTE_OVERHEAD_CHARS, tags_chars
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity

_FOR_PEOPLE = (FindingKind.ONE_WAY_LINK,)
"""Not worth reading two bodies for."""
_PAIR = 2


def ids_to_show(analysis: Analysis, live: Sequence[Listed], max_chars: int, tiers: TierList) -> tuple[str, ...]:
    """The ids to show in full within `max_chars` characters of prompt, the most urgent first.

    All that may be shown, if they fit. Else the entries of findings, worst first, each group whole before any in part (a
    part has at least two, the winner among them: one side of a duplicate says nothing); then hot and warm ones while there
    is room. Never secret or conflicted ones, and none for a finding of which every entry is pinned.
    """
    may_be_shown = [
        sensitivity is not Sensitivity.SECRET and not is_conflicted
        for sensitivity, is_conflicted in zip(
            column_of(live, "meta.sensitivity"), column_of(live, "conflicted"), strict=True
        )
    ]
    showable = live if all(may_be_shown) else chosen(live, may_be_shown)
    ids = column_of(showable, "meta.id")
    sizes = dict(zip(ids, shown_chars(showable, analysis), strict=True))
    hidden = frozenset(column_of(live, "meta.id")).difference(sizes) if showable is not live else frozenset[str]()
    pinned = frozenset(compress(ids, column_of(showable, "meta.pinned")))
    # Only findings of which all entries may be shown, and one of them changed.
    urgent = [
        each.ids
        for each in analysis.findings
        if each.kind not in _FOR_PEOPLE and hidden.isdisjoint(each.ids) and not pinned.issuperset(each.ids)
    ]
    tiered = [(id,) for id in (*tiers.hot, *tiers.warm) if id in sizes]
    if sum(sizes.values()) <= max_chars:
        return tuple(dict.fromkeys((*chain.from_iterable((*urgent, *tiered)), *sorted(ids))))
    room = _Room(sizes, max_chars)
    room.take_whole(urgent)
    room.take_parts(urgent)
    room.take_whole(tiered)
    return room.taken


def shown_chars(entries: Sequence[Listed], analysis: Analysis) -> list[int]:
    """How many characters each may take in a prompt when it is shown in full (as `planning.related.note_chars`)."""
    bodies = analysis.profiles.body_chars(column_of(entries, "meta.id"))
    tags = map(tags_chars, column_of(entries, "meta.tags"))
    texts = (map(len, column_of(entries, field)) for field in ("meta.title", "meta.description", "meta.scope"))
    return [
        NOTE_OVERHEAD_CHARS + title + description + scope + of_tags + body
        for title, description, scope, of_tags, body in zip(*texts, tags, bodies, strict=True)
    ]


def findings_without(analysis: Analysis, ids: frozenset[str]) -> Analysis:
    """The findings that name none of `ids`, and the profiles of the others: what may be told to who is not to know of these."""
    if not ids:
        return analysis
    findings = tuple(each for each in analysis.findings if ids.isdisjoint(each.ids))
    return Analysis(findings, analysis.profiles.without(ids))


class _Room:
    """Ids taken while there is room for their entries."""

    def __init__(self, sizes: Mapping[str, int], max_chars: int) -> None:
        self._sizes = sizes
        self._left = max_chars
        self._least = min(sizes.values(), default=0)
        self._taken: dict[str, None] = {}

    @property
    def taken(self) -> tuple[str, ...]:
        return tuple(self._taken)

    def take_whole(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Take each group if there is room for all of it."""
        sizes, taken = self._sizes, self._taken
        for group in groups:
            if sizes[group[0]] > self._left and group[0] not in taken:
                if self._left < self._least:
                    return
                continue  # most are one entry, and there is no room for most
            self._take(group)

    def take_parts(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Take as much of the beginning of each group as there is room for, two at least."""
        for group in groups:
            if len(group) > _PAIR:
                any(self._take(group[:size]) for size in range(len(group) - 1, _PAIR - 1, -1))

    def _take(self, group: tuple[str, ...]) -> bool:
        missing = [id for id in group if id not in self._taken]
        needed = sum(map(self._sizes.__getitem__, missing))
        if needed > self._left:
            return False
        self._taken.update(dict.fromkeys(missing))
        self._left -= needed
        return True
