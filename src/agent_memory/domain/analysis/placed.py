"""The entries of a store by their slots (see `gathered`): of 50,000 those are unpacked in which something may be found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.packed_entries import column_of
from agent_memory.domain.vocabulary import Kind


class Placed:
    """Some of `live`; `places` says where each is there, by slot."""

    __slots__ = ("_ids", "_kinds", "_live", "_scopes", "places")

    def __init__(self, live: Sequence[Listed], places: Mapping[int, int]) -> None:
        self.places = places
        self._live = live
        self._ids: Sequence[str] = column_of(live, "meta.id")
        self._scopes: Sequence[str] = column_of(live, "meta.scope")
        self._kinds: Sequence[Kind] = column_of(live, "meta.kind")

    def with_places(self, places: Mapping[int, int]) -> Placed:
        """Others of the same."""
        if places is self.places:
            return self
        other = Placed.__new__(Placed)
        other.places = places
        for name in ("_live", "_ids", "_scopes", "_kinds"):
            setattr(other, name, getattr(self, name))
        return other

    def without(self, ids: Collection[str]) -> Placed:
        """The others than those of these ids."""
        if not ids:
            return self
        return self.with_places({slot: place for slot, place in self.places.items() if self._ids[place] not in ids})

    def id(self, slot: int) -> str:
        """That of one entry."""
        return self._ids[self.places[slot]]

    def scope(self, slot: int) -> str:
        """That of one entry."""
        return self._scopes[self.places[slot]]

    def kind(self, slot: int) -> Kind:
        """That of one entry."""
        return self._kinds[self.places[slot]]

    def slots(self) -> Mapping[str, int]:
        """Those of all, by id."""
        return dict(zip(map(self._ids.__getitem__, self.places.values()), self.places, strict=True))

    def metas(self, slots: Iterable[int]) -> Iterator[Meta]:
        """The frontmatter of these."""
        return (self._live[self.places[slot]].meta for slot in slots)
