"""Segments: the postings of some notes, written once. A change adds a small one; a few of about one size become one.

The numbers of a segment's notes ascend, and all of a later segment are above those of an earlier one. A note that is no
more stays in its segment, marked as dead, until the segment is written anew: with others, or when a quarter of it is dead.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.adapters.index.facts import SEGMENTS, fact, put_fact
from agent_memory.adapters.index.postings import width_of
from agent_memory.adapters.index.seals import RuinedIndexError, check, seal
from agent_memory.adapters.index.tie_pages import TiePages, TieShape
from agent_memory.values import field, frozen

MOST_RELATIONS = 10_000
"""Those of so many notes are kept in memory: some 5 MB."""
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
    terms: int
    """How many terms its notes have."""
    ties: tuple[TieShape, ...]
    """By sort (`tie_pages`)."""
    archived: frozenset[int] = frozenset()
    """The ordinals of archived notes."""
    private: frozenset[int] = frozenset()
    """The ordinals of private ones."""

    @property
    def width(self) -> str:
        """The type code of ordinals in its postings."""
        return width_of(len(self.numbers))

    def ordinal_of(self, number: int) -> int | None:
        """The ordinal of a note, if it is in this segment."""
        if isinstance(self.numbers, range):
            at = number - self.numbers.start
            return at if 0 <= at < len(self.numbers) else None
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def ordinals_of(self, numbers: Sequence[int]) -> frozenset[int]:
        """The ordinals of those of these ascending numbers that are in this segment."""
        return frozenset(at for number in self.those_among(numbers) if (at := self.ordinal_of(number)) is not None)

    def those_among(self, numbers: Sequence[int]) -> list[int]:
        """Those of these ascending numbers that are in this segment."""
        some = list(numbers[bisect_left(numbers, self.numbers[0]) : bisect_right(numbers, self.numbers[-1])])
        return some if isinstance(self.numbers, range) else [each for each in some if self.ordinal_of(each) is not None]


def put_segment(connection: sqlite3.Connection, segment: Segment) -> None:
    """Keep a segment's notes, none of them dead."""
    numbers = segment.numbers
    is_run = numbers[-1] - numbers[0] + 1 == len(numbers)
    columns = [array(_width_for(max(each)), each) for each in segment.lengths]
    row = (
        *(segment.id, numbers[0], len(numbers), None if is_run else array("Q", numbers).tobytes()),
        b"".join(column.typecode.encode() + column.tobytes() for column in columns),
        " ".join(map(str, segment.length_sums)),
        segment.terms,
        " ".join(f"{shape.bits} {shape.entries}" for shape in segment.ties),
        *(array("I", sorted(some)).tobytes() for some in (segment.archived, segment.private)),
    )
    connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row)))
    _put_dead(connection, segment.id, b"")
    put_fact(connection, SEGMENTS, " ".join((*str(fact(connection, SEGMENTS)).split(), str(segment.id))))


def drop_segments(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """What `put_segment` kept of them."""
    out = set(ids)
    for id in out:
        connection.execute("DELETE FROM segments WHERE id = ?", (id,))
        connection.execute("DELETE FROM dead WHERE segment = ?", (id,))
    left = (id for id in str(fact(connection, SEGMENTS)).split() if int(id) not in out)
    put_fact(connection, SEGMENTS, " ".join(left))


def _seal(*row: object) -> int:
    runs = [each for each in row if isinstance(each, bytes)]
    return seal(" ".join(f"{len(each)}b" if isinstance(each, bytes) else str(each) for each in row), *runs)


def load_segment(connection: sqlite3.Connection, id: int) -> Segment:
    """One segment. RuinedIndexError for one that is not as it was written, or not there."""
    sql = """
        SELECT first, notes, numbers, lengths, length_sums, terms, ties, archived, private, seal
        FROM segments WHERE id = ?
    """
    found = connection.execute(sql, (id,)).fetchone()
    if found is None:
        raise RuinedIndexError
    *row, sealed = found
    if sealed != _seal(id, *row):
        raise RuinedIndexError
    first, size, listed, lengths, sums, terms, ties, archived, private = row
    numbers: Sequence[int] = range(first, first + size)
    if listed is not None:
        numbers = array("Q")
        numbers.frombytes(listed)
    shapes = iter(map(int, ties.split()))
    return Segment(
        *(id, numbers, tuple(_columns(lengths, size)), tuple(map(int, sums.split())), terms),
        tuple(TieShape(bits, entries) for bits, entries in zip(shapes, shapes, strict=True)),
        *(frozenset(memoryview(some).cast("I")) for some in (archived, private)),
    )


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


# -- which of their notes are no more ---------------------------------------------------------------------------------


def _put_dead(connection: sqlite3.Connection, segment: int, marks: bytes) -> None:
    """`marks` has a bit an ordinal, the lowest first."""
    row = (segment, marks, seal(str(segment), marks))
    connection.execute("INSERT OR REPLACE INTO dead VALUES (?, ?, ?)", row)


def _dead_marks(connection: sqlite3.Connection, segment: int) -> bytes:
    row = connection.execute("SELECT marks, seal FROM dead WHERE segment = ?", (segment,)).fetchone()
    if row is None:
        raise RuinedIndexError
    check(row[1], str(segment), row[0])
    return bytes(row[0])


def _marked(marks: bytes) -> frozenset[int]:
    return frozenset(8 * at + bit for at, byte in enumerate(marks) if byte for bit in range(8) if byte >> bit & 1)


def mark_dead(connection: sqlite3.Connection, segments: Sequence[Segment], numbers: Sequence[int]) -> None:
    """Tell that these notes, ascending, are no more: they are passed over until their segment is written anew."""
    for segment in segments:
        if ordinals := segment.ordinals_of(numbers):
            marks = bytearray(_dead_marks(connection, segment.id) or bytes((len(segment.numbers) + 7) // 8))
            for ordinal in ordinals:
                marks[ordinal >> 3] |= 1 << (ordinal & 7)
            _put_dead(connection, segment.id, bytes(marks))


# -- all of them ------------------------------------------------------------------------------------------------------


@frozen
class Relations:
    """What one note says of others."""

    names: list[str]
    """Its id, and its aliases."""
    places: list[tuple[str, int]]
    """Sessions, and turns (`NO_TURN` for none)."""
    links: list[tuple[str, str]]
    """Names, and how it refers to them."""


@frozen
class LiveNotes:
    """Which notes there are, as of one state of the index."""

    segments: tuple[Segment, ...]
    """In the order of their numbers."""
    gone: tuple[frozenset[int], ...]
    """Ordinals of the dead, by segment."""
    pages: TiePages = field(factory=TiePages)
    relations: dict[int, Relations] = field(factory=dict[int, "Relations"])
    """Those that were read, by number; a number means one note for ever."""

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(segment.numbers) - len(out) for segment, out in zip(self.segments, self.gone, strict=True))

    def place_of(self, number: int) -> tuple[int, int] | None:
        """The position of a note's segment, and its ordinal in it; None for what is no note."""
        at = bisect_right(self.segments, number, key=_first_number) - 1
        ordinal = self.segments[at].ordinal_of(number) if at >= 0 else None
        return None if ordinal is None or ordinal in self.gone[at] else (at, ordinal)

    def those_among(self, numbers: Sequence[int]) -> list[int]:
        """Those of these ascending numbers that are notes."""
        found: list[int] = []
        for segment, out in zip(self.segments, self.gone, strict=True):
            some = segment.those_among(numbers)
            found += [number for number in some if segment.ordinal_of(number) not in out] if out else some
        return found

    def numbers(self) -> Iterator[int]:
        """All of them, ascending."""
        for segment, out in zip(self.segments, self.gone, strict=True):
            if out:
                yield from (number for ordinal, number in enumerate(segment.numbers) if ordinal not in out)
            else:
                yield from segment.numbers


def _first_number(segment: Segment) -> int:
    return segment.numbers[0]


class Segments:
    """All segments. They never change, so that each is loaded once by whoever keeps this."""

    def __init__(self) -> None:
        self._loaded: dict[int, Segment] = {}
        self._pages = TiePages()
        self._relations: dict[int, Relations] = {}
        self._live: tuple[tuple[int, int], LiveNotes] | None = None

    def live(self, connection: sqlite3.Connection) -> LiveNotes:
        """The notes of today, read again where anything was written since. Within a transaction of the caller."""
        version = index_version(connection)
        if self._live is None or self._live[0] != version:
            ids = [int(id) for id in str(fact(connection, SEGMENTS)).split()]
            self._loaded = {id: self._loaded.get(id) or load_segment(connection, id) for id in ids}
            segments = tuple(sorted(self._loaded.values(), key=_first_number))
            gone = tuple(_marked(_dead_marks(connection, segment.id)) for segment in segments)
            self._live = version, LiveNotes(segments, gone, self._pages, self._relations)
        return self._live[1]


def index_version(connection: sqlite3.Connection) -> tuple[int, int]:
    """Another one after anything was written, by whomever."""
    return data_version(connection), connection.total_changes


def data_version(connection: sqlite3.Connection) -> int:
    """Another one after somebody else has written."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
