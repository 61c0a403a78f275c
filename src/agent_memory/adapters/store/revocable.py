"""Mappings whose last changes can be taken back, at the price of these changes and not of a copy."""

from __future__ import annotations

from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_ABSENT = object()


class Revocable:
    """Remembers what each value was that is put through it."""

    def __init__(self) -> None:
        self._earlier: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(self, mapping: dict[K, V], key: K, value: V) -> None:
        """Set the value."""
        self._earlier.append((mapping, key, mapping.get(key, _ABSENT)))
        mapping[key] = value

    def mark(self) -> int:
        """A point to go back to."""
        return len(self._earlier)

    def go_back(self, mark: int) -> None:
        """Undo every change since the mark, last first."""
        while len(self._earlier) > mark:
            mapping, key, value = self._earlier.pop()
            if value is _ABSENT:
                del mapping[key]
            else:
                mapping[key] = value
