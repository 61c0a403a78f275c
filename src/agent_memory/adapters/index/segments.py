"""Segments: the postings of some notes, written once. A change adds a small one; a few of about one size become one.

The numbers of a segment's notes ascend, and all of a later segment are above those of an earlier one. A note that is no
more stays in its segment, and in `dead`, until the segment is written anew: with others, or when a quarter of it is dead.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Sequence

from agent_memory.adapters.index.index_database import RuinedIndexError
from agent_memory.domain.searching.matching import FIELDS
from agent_memory.values import frozen


@frozen
class Segment:
    """The notes of a segment by ordinal: their numbers, ascending, and the length of each of their fields."""

    id: int
    numbers: Sequence[int]
    lengths: tuple[Sequence[int], ...]
    length_sums: tuple[int, ...]

    def ordinal_of(self, number: int) -> int | None:
        """The ordinal of a note, if it is in this segment."""
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None


def load_segment(connection: sqlite3.Connection, id: int) -> Segment:
    """One segment. RuinedIndexError for one that contradicts itself."""
    row = connection.execute("SELECT numbers, lengths FROM segments WHERE id = ?", (id,)).fetchone()
    numbers, all_lengths = array("Q"), array("I")
    try:
        numbers.frombytes(row[0])
        all_lengths.frombytes(row[1])
    except (TypeError, ValueError):
        raise RuinedIndexError from None
    size = len(numbers)
    if len(all_lengths) != size * len(FIELDS):
        raise RuinedIndexError
    lengths = tuple(all_lengths[at * size : (at + 1) * size] for at in range(len(FIELDS)))
    return Segment(id, numbers, lengths, tuple(map(sum, lengths)))


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
    """Notes that are in a segment but are no more."""
    return [int(number) for (number,) in connection.execute("SELECT number FROM dead")]
