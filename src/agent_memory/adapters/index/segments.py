"""Segments: the postings of some notes, written once. A change adds a small one; a few of about one size become one.

The numbers of a segment's notes ascend, and all of a later segment are above those of an earlier one. A note that is no
more stays in its segment, and in `dead`, until the segment is written anew: with others, or when a quarter of it is dead.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from agent_memory.adapters.index.index_database import RuinedIndexError
from agent_memory.adapters.index.postings import width_of
from agent_memory.domain.searching.matching import FIELDS
from agent_memory.values import frozen

_WIDTHS = "BHI"
"""Type codes (`array`) of lengths: those of a field are as wide as the longest needs."""


@frozen
class Segment:
    """The notes of a segment by ordinal: their numbers, ascending, and the length of each of their fields."""

    id: int
    numbers: Sequence[int]
    """A range, where none is missing between the first and the last."""
    lengths: tuple[Sequence[int], ...]
    length_sums: tuple[int, ...]

    @property
    def width(self) -> str:
        """The type code of ordinals in its postings."""
        return width_of(len(self.numbers))

    def ordinal_of(self, number: int) -> int | None:
        """The ordinal of a note, if it is in this segment."""
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def ordinals_of(self, numbers: Sequence[int]) -> frozenset[int]:
        """The ordinals of those of these ascending numbers that are in this segment."""
        first = self.numbers[0]
        some = numbers[bisect_left(numbers, first) : bisect_right(numbers, self.numbers[-1])]
        if isinstance(self.numbers, range):
            return frozenset([number - first for number in some])
        return frozenset(at for number in some if (at := self.ordinal_of(number)) is not None)


def put_segment(
    connection: sqlite3.Connection, id: int, numbers: Sequence[int], lengths: Sequence[Sequence[int]]
) -> None:
    """Keep a segment's notes."""
    is_run = numbers[-1] - numbers[0] + 1 == len(numbers)
    columns = [array(_width_for(max(each)), each) for each in lengths]
    connection.execute(
        "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(id, numbers[0], len(numbers), None if is_run else array("Q", numbers).tobytes()),
            b"".join(column.typecode.encode() + column.tobytes() for column in columns),
            " ".join(str(sum(column)) for column in columns),
        ),
    )


def load_segment(connection: sqlite3.Connection, id: int) -> Segment:
    """One segment. RuinedIndexError for one that contradicts itself."""
    first, size, listed, lengths, sums = connection.execute(
        "SELECT first, notes, numbers, lengths, length_sums FROM segments WHERE id = ?", (id,)
    ).fetchone()
    if not isinstance(size, int) or size < 1:
        raise RuinedIndexError
    try:
        numbers: Sequence[int] = range(first, first + size)
        if listed is not None:
            numbers = array("Q")
            numbers.frombytes(listed)
        columns = tuple(_columns(lengths, size))
        length_sums = tuple(map(int, sums.split()))
    except (TypeError, ValueError, AttributeError):
        raise RuinedIndexError from None
    if {len(numbers), *map(len, columns)} != {size} or {len(columns), len(length_sums)} != {len(FIELDS)}:
        raise RuinedIndexError
    return Segment(id, numbers, columns, length_sums)


def _columns(run: bytes, size: int) -> Iterator[array[int]]:
    at = 0
    while at < len(run):
        column: array[int] = array(_WIDTHS[_WIDTHS.index(chr(run[at]))])
        end = at + 1 + size * column.itemsize
        column.frombytes(run[at + 1 : end])
        yield column
        at = end


def _width_for(most: int) -> str:
    return next(code for code in _WIDTHS if most < 1 << 8 * array(code).itemsize)


class Segments:
    """All segments, in the order of their numbers. They never change, so that each is loaded once by whoever keeps this."""

    def __init__(self) -> None:
        self._loaded: dict[int, Segment] = {}

    def all(self, connection: sqlite3.Connection) -> list[Segment]:
        """Those of today."""
        ids = [int(id) for (id,) in connection.execute("SELECT id FROM segments")]
        self._loaded = {id: self._loaded.get(id) or load_segment(connection, id) for id in ids}
        return sorted(self._loaded.values(), key=lambda segment: segment.numbers[0])


def dead_numbers(connection: sqlite3.Connection) -> list[int]:
    """Notes that are in a segment but are no more, in the order of their numbers."""
    return [int(number) for (number,) in connection.execute("SELECT number FROM dead ORDER BY number")]
