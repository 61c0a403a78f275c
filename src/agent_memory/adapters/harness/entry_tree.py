"""The tree that a transcript's entries form, in about 40 bytes an entry (P25)."""

from __future__ import annotations

from array import array

_MASK = (1 << 64) - 1
_FIRST_SLOTS = 1_024


class EntryTree:
    """Remembers each entry's parent; entries are known by their place in the file, from 0.

    An entry whose parent is not in the file, because its line is damaged, is taken for a child of the entry before it, so
    that nothing is cut off. Ids are told apart by a 64-bit hash.
    """

    def __init__(self) -> None:
        self._parents = array("q")
        self._slots = array("Q", bytes(8 * _FIRST_SLOTS))
        self._places = array("q", bytes(8 * _FIRST_SLOTS))

    def __len__(self) -> int:
        return len(self._parents)

    def add(self, id: str, parent_id: str | None) -> int:
        """The place of one entry more. An id that was there before means the newer one from now on."""
        place = len(self._parents)
        parent = -1 if parent_id is None else self._place_of(parent_id, place - 1)
        self._parents.append(parent)
        self._put(hash(id) & _MASK or 1, place)
        if len(self._parents) * 2 > len(self._slots):
            self._grow()
        return place

    def path(self) -> bytearray:
        """For each entry, 1 if the last one is it or grew from it, else 0."""
        on_path = bytearray(len(self._parents))
        place = len(self._parents) - 1
        while place >= 0 and not on_path[place]:
            on_path[place] = 1
            place = self._parents[place]
        return on_path

    def _place_of(self, id: str, otherwise: int) -> int:
        key = hash(id) & _MASK or 1
        slot = self._slot(key)
        return self._places[slot] if self._slots[slot] else otherwise

    def _put(self, key: int, place: int) -> None:
        slot = self._slot(key)
        self._slots[slot] = key
        self._places[slot] = place

    def _slot(self, key: int) -> int:
        slots, last = self._slots, len(self._slots) - 1
        at = key & last
        while slots[at] not in (0, key):
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        slots, places = self._slots, self._places
        self._slots = array("Q", bytes(16 * len(slots)))
        self._places = array("q", bytes(16 * len(slots)))
        for key, place in zip(slots, places, strict=True):
            if key:
                self._put(key, place)
