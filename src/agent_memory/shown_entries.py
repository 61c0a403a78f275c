"""Entries as `list` shows them: of a large store each is put together when somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import cast, overload

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.tiers import Tier
from agent_memory.values import frozen


@frozen
class ShownEntry:
    """An entry as `list` shows it: usage includes every host's ledger."""

    listed: Listed
    usage: Usage
    tier: Tier = Tier.COLD
    open_boxes: tuple[str, ...] = ()
    """What is not ticked off in it, where that was asked for."""


class ShownEntries(Sequence[ShownEntry]):
    """Some of them, in an order: what each is put together from, by its place."""

    __slots__ = ("listed", "open_boxes", "tiers", "usages")

    def __init__(
        self,
        listed: Sequence[Listed],
        usages: Sequence[Usage],
        tiers: Sequence[Tier],
        open_boxes: Sequence[tuple[str, ...]] | None = None,
    ) -> None:
        self.listed = listed
        self.usages = usages
        self.tiers = tiers
        self.open_boxes = [()] * len(tiers) if open_boxes is None else open_boxes

    @classmethod
    def of(cls, entries: Sequence[ShownEntry]) -> ShownEntries:
        """Just these."""
        return cls(
            [each.listed for each in entries],
            [each.usage for each in entries],
            [each.tier for each in entries],
            [each.open_boxes for each in entries],
        )

    @overload
    def __getitem__(self, at: int) -> ShownEntry: ...
    @overload
    def __getitem__(self, at: slice) -> ShownEntries: ...
    def __getitem__(self, at: int | slice) -> ShownEntry | ShownEntries:
        if isinstance(at, slice):
            return ShownEntries(self.listed[at], self.usages[at], self.tiers[at], self.open_boxes[at])
        return ShownEntry(self.listed[at], self.usages[at], self.tiers[at], self.open_boxes[at])

    def __len__(self) -> int:
        return len(self.tiers)

    def __iter__(self) -> Iterator[ShownEntry]:
        return starmap(ShownEntry, zip(self.listed, self.usages, self.tiers, self.open_boxes, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShownEntries | tuple) and tuple(self) == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
