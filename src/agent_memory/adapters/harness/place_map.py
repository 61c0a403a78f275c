"""Where in a file each id was, in about 32 bytes an id (P25)."""

from __future__ import annotations

from array import array

_MASK = (1 << 64) - 1
_FIRST_SLOTS = 1_024


class PlaceMap:
    """A number for each id; ids are told apart by a 64-bit hash."""

    def __init__(self) -> None:
        self._keys = array("Q", bytes(8 * _FIRST_SLOTS))
        self._places = array("q", bytes(8 * _FIRST_SLOTS))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, id: str) -> int | None:
        """The place of an id; None where it has none."""
        slot = self._slot(_key(id))
        return self._places[slot] if self._keys[slot] else None

    def put(self, id: str, place: int) -> None:
        """From now on the id is there."""
        self._put(_key(id), place)
        if self._count * 2 > len(self._keys):
            keys, places = self._keys, self._places
            self._keys, self._places = array("Q", bytes(16 * len(keys))), array("q", bytes(16 * len(keys)))
            self._count = 0
            for key, old_place in zip(keys, places, strict=True):
                if key:
                    self._put(key, old_place)

    def _put(self, key: int, place: int) -> None:
        slot = self._slot(key)
        self._count += self._keys[slot] == 0
        self._keys[slot] = key
        self._places[slot] = place

    def _slot(self, key: int) -> int:
        keys, last = self._keys, len(self._keys) - 1
        at = key & last
        while keys[at] not in (0, key):
            at = (at + 1) & last
        return at


def _key(id: str) -> int:
    return hash(id) & _MASK or 1
