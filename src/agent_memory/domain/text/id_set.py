"""A set of record ids that takes about 16 bytes each, so that millions fit (P25)."""

from __future__ import annotations

from array import array

_MASK = (1 << 64) - 1


class IdSet:
    """Remembers ids by a 64-bit hash: with five million of them, the chance that two are taken for one is 1 in 10⁶."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._count = 0

    def add(self, id: str) -> bool:
        """Whether it is new here; it is in the set afterwards."""
        key = _key(id)
        at = self._slot(key)
        if self._slots[at]:
            return False
        self._slots[at] = key
        self._count += 1
        if self._count * 2 > len(self._slots):
            self._grow()
        return True

    def __contains__(self, id: str) -> bool:
        return self._slots[self._slot(_key(id))] != 0

    def __len__(self) -> int:
        return self._count

    def _slot(self, key: int) -> int:
        slots, last = self._slots, len(self._slots) - 1
        at = key & last
        while slots[at] not in (0, key):
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        keys = self._slots
        self._slots = array("Q", bytes(8 * 2 * len(keys)))
        for key in keys:
            if key:
                self._slots[self._slot(key)] = key


def _key(id: str) -> int:
    return hash(id) & _MASK or 1
