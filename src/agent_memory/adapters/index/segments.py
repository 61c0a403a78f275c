"""Segments: the postings of some notes, written once. A change adds a small one; a few of about one size become one.

The numbers of a segment's notes ascend, and all of a later segment are above those of an earlier one. A note that is no
more stays in its segment, and in `dead`, until the segment is written anew: with others, or when a quarter of it is dead.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.adapters.index.index_database import RuinedIndexError
from agent_memory.adapters.index.postings import width_of
from agent_memory.adapters.index.seals import is_among, parse_hashes, render_hashes, seal
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
    terms: array[int]
    """The hashes of all terms that its notes have, ascending."""

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

    def has_any(self, terms: Iterable[str]) -> bool:
        """Whether any of these terms is one of its notes'."""
        return any(is_among(self.terms, term) for term in terms)


def put_segment(
    connection: sqlite3.Connection,
    id: int,
    numbers: Sequence[int],
    lengths: Sequence[Sequence[int]],
    terms: Iterable[str],
) -> None:
    """Keep a segment's notes, and which terms they have."""
    is_run = numbers[-1] - numbers[0] + 1 == len(numbers)
    columns = [array(_width_for(max(each)), each) for each in lengths]
    row = (
        *(id, numbers[0], len(numbers), None if is_run else array("Q", numbers).tobytes()),
        b"".join(column.typecode.encode() + column.tobytes() for column in columns),
        " ".join(str(sum(column)) for column in columns),
        render_hashes(terms),
    )
    connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row)))


def _seal(id: int, first: int, size: int, listed: bytes | None, lengths: bytes, sums: str, terms: bytes) -> int:
    return seal(f"{id} {first} {size} {sums}", listed or b"", lengths, terms)


def load_segment(connection: sqlite3.Connection, id: int) -> Segment:
    """One segment. RuinedIndexError for one that is not as it was written."""
    sql = "SELECT first, notes, numbers, lengths, length_sums, terms, seal FROM segments WHERE id = ?"
    *row, sealed = connection.execute(sql, (id,)).fetchone()
    try:
        is_whole = sealed == _seal(id, *row)
    except TypeError:
        is_whole = False
    if not is_whole:
        raise RuinedIndexError
    first, size, listed, lengths, sums, terms = row
    numbers: Sequence[int] = range(first, first + size)
    if listed is not None:
        numbers = array("Q")
        numbers.frombytes(listed)
    return Segment(id, numbers, tuple(_columns(lengths, size)), tuple(map(int, sums.split())), parse_hashes(terms))


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

    def check_gone(self, connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
        """RuinedIndexError where one of these ascending numbers, of which there is no note, has postings and is not dead."""
        left = sorted(set(numbers).difference(dead_numbers(connection)))
        if any(segment.ordinals_of(left) for segment in self.all(connection)):
            raise RuinedIndexError


def dead_numbers(connection: sqlite3.Connection) -> list[int]:
    """Notes that are in a segment but are no more, in the order of their numbers."""
    return [int(number) for (number,) in connection.execute("SELECT number FROM dead ORDER BY number")]
