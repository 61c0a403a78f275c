"""Which entries a prompt shows in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from operator import not_

from agent_memory.domain.entry import Listed
from agent_memory.domain.findings import Analysis, Finding, OneEach
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.planning.related import NOTE_OVERHEAD_CHARS
from agent_memory.domain.secret_entries import are_secret
from agent_memory.domain.tiers import TierList

_PAIR = 2


def ids_to_show(analysis: Analysis, live: Sequence[Listed], max_chars: int, tiers: TierList) -> tuple[str, ...]:
    """The ids to show in full within `max_chars` characters of prompt, the most urgent first.

    All that may be shown, if they fit. Else the entries of findings, worst first, each group whole before any in part (a
    part has at least two, the winner among them: one side of a duplicate says nothing); then hot and warm ones while there
    is room. Never secret or conflicted ones, and none for a finding of which every entry is pinned.
    """
    stays_hidden = list(map(bool.__or__, are_secret(live), column_of(live, "conflicted")))
    showable = chosen(live, map(not_, stays_hidden)) if any(stays_hidden) else live
    ids = column_of(showable, "meta.id")
    sizes = dict(zip(ids, shown_chars(showable, analysis), strict=True))
    hidden = frozenset(column_of(chosen(live, stays_hidden), "meta.id")).difference(sizes)
    pinned = frozenset(compress(ids, column_of(showable, "meta.pinned")))
    tiered = [(id,) for id in (*tiers.hot, *tiers.warm) if id in sizes]
    # Only findings of which all entries may be shown, and one of them changed.
    urgent = [_urgent(part, pinned) for part in analysis.findings.without(hidden).parts]
    if sum(sizes.values()) <= max_chars:
        groups = chain(*(zip(part.ids_worst_first()) if isinstance(part, OneEach) else part for part in urgent), tiered)
        return tuple(dict.fromkeys((*chain.from_iterable(groups), *sorted(ids))))
    room = _Room(sizes, max_chars)
    for part in urgent:
        if isinstance(part, OneEach):
            room.take_each(part)
        else:
            room.take_whole(part)
    room.take_parts(chain.from_iterable(part for part in urgent if not isinstance(part, OneEach)))
    room.take_whole(tiered)
    return room.taken


def _urgent(part: tuple[Finding, ...] | OneEach, pinned: frozenset[str]) -> list[tuple[str, ...]] | OneEach:
    if isinstance(part, OneEach):
        return part.without(pinned)
    return [each.ids for each in part if not pinned.issuperset(each.ids)]


def shown_chars(entries: Sequence[Listed], analysis: Analysis) -> list[int]:
    """How many characters each may take in a prompt when it is shown in full (as `planning.related.note_chars`)."""
    tags = column_of(entries, "meta.tags")
    sizes: Iterable[int] = map(NOTE_OVERHEAD_CHARS.__add__, analysis.profiles.body_chars(column_of(entries, "meta.id")))
    for texts in (
        *(column_of(entries, f"meta.{name}") for name in ("title", "description", "scope")),
        map("".join, tags),
        tags,
    ):
        sizes = map(int.__add__, sizes, map(len, texts))
    return list(sizes)


def findings_without(analysis: Analysis, ids: frozenset[str]) -> Analysis:
    """The findings that name none of `ids`, and the profiles of the others: what may be told to who is not to know of these."""
    if not ids:
        return analysis
    return Analysis(analysis.findings.without(ids), analysis.profiles.without(ids))


class _Room:
    """Ids taken while there is room for their entries."""

    def __init__(self, sizes: Mapping[str, int], max_chars: int) -> None:
        self._sizes = sizes
        self._left = max_chars
        self._taken: dict[str, None] = {}

    @property
    def taken(self) -> tuple[str, ...]:
        return tuple(self._taken)

    def take_whole(self, groups: Iterable[tuple[str, ...]]) -> None:
        """Take each group if there is room for all of it."""
        for group in groups:
            self._take(group)

    def take_each(self, findings: OneEach) -> None:
        """Take the entry of each if there is room for it."""
        if all(map(self._take, zip(findings.ids_worst_first()))):
            return
        # For most there will be no room from now on.
        fitting = frozenset(id for id, size in self._sizes.items() if size <= self._left)
        for group in zip(findings.only(fitting).ids_worst_first()):
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
