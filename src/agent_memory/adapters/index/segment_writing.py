"""Writing segments: the postings of what a batch brings, and several segments, or one with many dead, as one."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter

from agent_memory.adapters.index.postings import FieldPostings, note_count, parse_postings, render_postings
from agent_memory.adapters.index.segments import Segment, dead_numbers
from agent_memory.domain.searching.matching import FIELDS
from agent_memory.domain.searching.note_terms import FieldTerms
from agent_memory.values import define, field

FAN = 4
"""So many neighbours of one size become one segment: a query looks into about three of each size."""
DEAD_PART = 0.25
_ROWS_AT_ONCE = 5_000
_GONE = -1

_INSERT = "INSERT INTO postings VALUES (?, ?, ?, ?)"


@define
class SegmentDraft:
    """The postings of a segment to be, gathered note by note."""

    numbers: array[int] = field(factory=lambda: array("Q"))
    lengths: tuple[array[int], ...] = field(factory=lambda: tuple(array("I") for _ in FIELDS))
    _fields: tuple[dict[str, tuple[array[int], bytearray]], ...] = field(factory=lambda: tuple({} for _ in FIELDS))

    def add(self, number: int, terms: Sequence[FieldTerms]) -> None:
        """One note more; numbers ascend."""
        ordinal = len(self.numbers)
        self.numbers.append(number)
        for lengths, postings, each in zip(self.lengths, self._fields, terms, strict=True):
            lengths.append(each.length)
            for term, count in each.counts.items():
                found = postings.get(term)
                if found is None:
                    found = postings[term] = (array("I"), bytearray())
                found[0].append(ordinal)
                found[1].append(count)

    def rows(self, segment: int) -> Iterator[tuple[int, str, int, bytes]]:
        """The rows of `postings`, by term."""
        for term in sorted(set[str]().union(*self._fields)):
            fields = [
                FieldPostings(at, *found)
                for at, postings in enumerate(self._fields)
                if (found := postings.get(term)) is not None
            ]
            yield segment, term, note_count(fields, frozenset()), render_postings(fields)


def write_segment(connection: sqlite3.Connection, draft: SegmentDraft) -> None:
    """Add it as the last segment."""
    if draft.numbers:
        id = _next_id(connection)
        _put_segment(connection, id, draft.numbers, draft.lengths)
        connection.executemany(_INSERT, draft.rows(id))


def merge_some(connection: sqlite3.Connection, segments: Sequence[Segment], most_notes: int | None) -> bool:
    """Write anew what is due: one run of segments, of at most so many notes. False where nothing is."""
    dead = dead_numbers(connection)
    for run in _due(segments, dead):
        if most_notes is None or sum(len(segment.numbers) for segment in run) <= most_notes:
            _write_anew(connection, run, dead)
            return True
    return False


def _due(segments: Sequence[Segment], dead: Sequence[int]) -> Iterator[Sequence[Segment]]:
    """Runs of neighbours: one with too many dead, and the last ones once there are enough of one size among them."""
    for segment in segments:
        gone = sum(segment.ordinal_of(number) is not None for number in dead)
        if gone > DEAD_PART * len(segment.numbers):
            yield (segment,)
    sizes = [_size(segment) for segment in segments]
    for size in range(max(sizes, default=0) + 1):
        start = len(sizes)
        while start and sizes[start - 1] <= size:
            start -= 1
        if sizes[start:].count(size) >= FAN:
            yield segments[start:]


def _size(segment: Segment) -> int:
    """1 to 3 notes are one size, 4 to 15 the next, and so on."""
    return (len(segment.numbers).bit_length() - 1) // (FAN.bit_length() - 1)


def _write_anew(connection: sqlite3.Connection, run: Sequence[Segment], dead: Sequence[int]) -> None:
    gone = {number for number in dead if any(segment.ordinal_of(number) is not None for segment in run)}
    numbers = array("Q")
    lengths = tuple(array("I") for _ in FIELDS)
    moved: list[Sequence[int]] = []
    for segment in run:
        if gone.isdisjoint(segment.numbers):
            moved.append(range(len(numbers), len(numbers) + len(segment.numbers)))
            numbers.extend(segment.numbers)
            for kept, known in zip(lengths, segment.lengths, strict=True):
                kept.extend(known)
            continue
        places = array("q")
        for ordinal, number in enumerate(segment.numbers):
            places.append(_GONE if number in gone else len(numbers))
            if number not in gone:
                numbers.append(number)
                for kept, known in zip(lengths, segment.lengths, strict=True):
                    kept.append(known[ordinal])
        moved.append(places)
    id = _next_id(connection)
    if numbers:
        for some in _chunks(_merged_rows(connection, id, run, moved)):
            connection.executemany(_INSERT, some)
        _put_segment(connection, id, numbers, lengths)
    for segment in run:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment.id,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment.id,))
    connection.executemany("DELETE FROM dead WHERE number = ?", [(number,) for number in gone])


def _merged_rows(
    connection: sqlite3.Connection, id: int, run: Sequence[Segment], moved: Sequence[Sequence[int]]
) -> Iterator[tuple[int, str, int, bytes]]:
    rows: Iterator[Iterable[tuple[str, int, bytes]]] = (
        connection.execute("SELECT term, ?, fields FROM postings WHERE segment = ? ORDER BY term", (at, segment.id))
        for at, segment in enumerate(run)
    )
    for term, group in groupby(merge(*rows, key=itemgetter(0, 1)), key=itemgetter(0)):
        fields: tuple[tuple[list[int], list[int]], ...] = tuple(([], []) for _ in FIELDS)
        for _, position, blob in group:
            places = moved[position]
            for field_at, ordinals, counts in parse_postings(blob):
                if isinstance(places, range):  # none of its notes is dead: all move by as much
                    by = places[ordinals[-1]] - ordinals[-1]
                    fields[field_at][0].extend([ordinal + by for ordinal in ordinals])
                    fields[field_at][1].extend(counts)
                    continue
                for ordinal, count in zip(ordinals, counts, strict=True):
                    if (place := places[ordinal]) != _GONE:
                        fields[field_at][0].append(place)
                        fields[field_at][1].append(count)
        kept = [FieldPostings(at, *each) for at, each in enumerate(fields) if each[0]]
        if kept:
            yield id, term, note_count(kept, frozenset()), render_postings(kept)


def _chunks(rows: Iterator[tuple[int, str, int, bytes]]) -> Iterable[list[tuple[int, str, int, bytes]]]:
    # So that a large merge is never in memory as a whole.
    some: list[tuple[int, str, int, bytes]] = []
    for row in rows:
        some.append(row)
        if len(some) == _ROWS_AT_ONCE:
            yield some
            some = []
    yield some


def _put_segment(connection: sqlite3.Connection, id: int, numbers: array[int], lengths: Sequence[array[int]]) -> None:
    joined = b"".join(each.tobytes() for each in lengths)
    connection.execute("INSERT INTO segments VALUES (?, ?, ?)", (id, numbers.tobytes(), joined))


def _next_id(connection: sqlite3.Connection) -> int:
    """Never one that was used before: whoever keeps segments in memory knows them by it."""
    connection.execute("INSERT INTO about VALUES ('segment', 1) ON CONFLICT DO UPDATE SET value = value + 1")
    return int(connection.execute("SELECT value FROM about WHERE name = 'segment'").fetchone()[0])
