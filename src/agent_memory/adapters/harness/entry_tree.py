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
        self._said = bytearray()
        self._places = PlaceMap()

    def add(self, id: str, parent_id: str | None, *, says: bool = True) -> int:
        """The place of one entry more, which says something, or is only a note on the session. An id that was there before
        means the newer one from now on."""
        place = len(self._parents)
        parent = -1 if parent_id is None else self._places.get(parent_id)
        self._parents.append(place - 1 if parent is None else parent)
        self._places.put(id, place)
        self._said.append(says)
        return place

    def path(self) -> bytearray:
        """For each entry, 1 if the last one is it or grew from it, else 0. Who went back to before the first message, and said
        nothing there yet, has left nothing: then the last one that says something counts."""
        path = self._path_to(len(self._parents) - 1)
        if any(map(int.__and__, path, self._said)):
            return path
        return self._path_to(self._said.rfind(1))

    def _path_to(self, place: int) -> bytearray:
        on_path = bytearray(len(self._parents))
        while place >= 0:
            on_path[place] = 1
            place = self._parents[place]
        return on_path
