"""The tree that a transcript's entries form, in about 40 bytes an entry (P25)."""

from __future__ import annotations

from array import array

from agent_memory.adapters.harness.place_map import PlaceMap


class EntryTree:
    """Remembers each entry's parent; entries are known by their place in the file, from 0.

    An entry whose parent is not in the file, because its line is damaged, is taken for a child of the entry before it, so
    that nothing is cut off.
    """

    def __init__(self) -> None:
        self._parents = array("q")
        self._places = PlaceMap()

    def add(self, id: str, parent_id: str | None) -> int:
        """The place of one entry more. An id that was there before means the newer one from now on."""
        place = len(self._parents)
        parent = -1 if parent_id is None else self._places.get(parent_id)
        self._parents.append(place - 1 if parent is None else parent)
        self._places.put(id, place)
        return place

    def path(self) -> bytearray:
        """For each entry, 1 if the last one is it or grew from it, else 0."""
        on_path = bytearray(len(self._parents))
        place = len(self._parents) - 1
        while place >= 0:
            on_path[place] = 1
            place = self._parents[place]
        return on_path
