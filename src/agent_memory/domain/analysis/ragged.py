"""Rows of numbers in two arrays: fifty thousand short arrays would take several times the memory, and be read one by one."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, repeat
from operator import sub
from typing import Literal

from agent_memory.values import field, frozen

_MOST_CHANGES = 64
"""So many rows, and an eighth of all, may be others without the arrays being made anew."""


@frozen
class Ragged:
    """Rows of any length; one of which nothing was ever said is empty. What is like it but for a few rows shares its arrays."""

    values: array[int]
    """Of all rows, one row after the other."""
    starts: array[int]
    """Where each row begins among the values, and where the last one ends."""
    changes: Mapping[int, array[int]] = field(factory=lambda: dict[int, "array[int]"]())
    """Rows that are others by now."""

    @classmethod
    def empty(cls, typecode: Literal["I", "Q"] = "I") -> Ragged:
        """Without a row; the numbers have 4 bytes (`I`) or 8 (`Q`)."""
        return cls(array(typecode), array("I", [0]))

    def __len__(self) -> int:
        return max(len(self.starts) - 1, max(self.changes, default=-1) + 1)

    def row(self, at: int) -> array[int]:
        """The numbers of one row, not to be changed."""
        changed = self.changes.get(at)
        if changed is not None:
            return changed
        return self.values[self.starts[at] : self.starts[at + 1]] if at + 1 < len(self.starts) else self.values[:0]

    def size(self, at: int) -> int:
        """How many numbers a row has."""
        changed = self.changes.get(at)
        if changed is not None:
            return len(changed)
        return self.starts[at + 1] - self.starts[at] if at + 1 < len(self.starts) else 0

    def replaced(self, rows: Mapping[int, array[int]]) -> Ragged:
        """With these rows instead of those that are there."""
        if not rows:
            return self
        found = Ragged(self.values, self.starts, {**self.changes, **rows})
        return found if len(found.changes) <= _MOST_CHANGES + len(self.starts) // 8 else found.whole()

    def whole(self) -> Ragged:
        """The same, all of it in the two arrays."""
        if not self.changes:
            return self
        values = self.values[:0]
        for part in self.parts():
            values.frombytes(part)
        return Ragged(values, self.all_starts())

    def all_starts(self) -> array[int]:
        """Where each row would begin in the whole, and where the last one would end."""
        if not self.changes:
            return self.starts
        sizes = array("I", map(sub, self.starts[1:], self.starts))
        sizes.extend(repeat(0, len(self) - len(sizes)))
        for at, row in self.changes.items():
            sizes[at] = len(row)
        return array("I", accumulate(sizes, initial=0))

    def parts(self) -> Iterator[memoryview]:
        """The bytes of all values in the whole, in their order, which are not copied."""
        done = 0
        for at in sorted(self.changes):
            inside = at + 1 < len(self.starts)
            yield from _bytes(self.values, done, self.starts[at] if inside else len(self.values))
            done = self.starts[at + 1] if inside else len(self.values)
            yield from _bytes(self.changes[at], 0, len(self.changes[at]))
        yield from _bytes(self.values, done, len(self.values))

    def row_at(self, place: int) -> int:
        """The row to which the value at this place belongs, where the whole is in the arrays."""
        return bisect_right(self.starts, place) - 1


def _bytes(values: array[int], start: int, end: int) -> Iterator[memoryview]:
    if start < end:
        yield memoryview(values)[start:end].cast("B")
