"""Which entries a prompt shows in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.findings import Analysis
from agent_memory.domain.planning.related import NOTE_OVERHEAD_CHARS, tags_chars
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity

_PAIR = 2


def ids_to_show(analysis: Analysis, live: Sequence[Listed], max_chars: int, tiers: TierList) -> tuple[str, ...]:
    """The ids to show in full within `max_chars` characters of prompt, the most urgent first.

    All that may be shown, if they fit. Else the entries of findings, worst first, each group whole before any in part (a
    part has at least two, the winner among them: one side of a duplicate says nothing); then hot and warm ones while there
    is room. Never secret or conflicted ones, and none for a finding of which every entry is pinned.
    """
    showable = [each.meta for each in live if not (each.conflicted or each.meta.sensitivity is Sensitivity.SECRET)]
    sizes = {meta.id: shown_chars(meta, analysis) for meta in showable}
    pinned = frozenset(meta.id for meta in showable if meta.pinned)
    tiered = [(id,) for id in (*tiers.hot, *tiers.warm) if id in sizes]
    # Only findings of which all entries may be shown, and one of them changed.
    urgent = [
        each.ids for each in analysis.findings if sizes.keys() >= set(each.ids) and not pinned.issuperset(each.ids)
    ]
    if sum(sizes.values()) <= max_chars:
        return tuple(dict.fromkeys((*chain(*urgent, *tiered), *sorted(sizes))))
    room = _Room(sizes, max_chars)
    room.take_whole(urgent)
    room.take_parts(urgent)
    room.take_whole(tiered)
    return room.taken


def shown_chars(meta: Meta, analysis: Analysis) -> int:
    """How many characters an entry may take in a prompt when it is shown in full (as `planning.related.note_chars`)."""
    profile = analysis.profiles.get(meta.id)
    words = len(meta.title) + len(meta.description) + len(meta.scope) + tags_chars(meta.tags)
    return NOTE_OVERHEAD_CHARS + words + (0 if profile is None else profile.body_chars)


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
