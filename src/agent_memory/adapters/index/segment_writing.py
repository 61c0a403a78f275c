"""Writing segments: the postings of what a batch brings, and several segments, or one with many dead, as one."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter

from agent_memory.adapters.index.index_database import RuinedIndexError
from agent_memory.adapters.index.postings import (
    check_postings,
    moved,
    parse_postings,
    postings_row,
    render_group,
    width_of,
)
from agent_memory.adapters.index.segments import Segment, dead_numbers, put_segment
from agent_memory.domain.searching.matching import FIELDS
from agent_memory.domain.searching.note_terms import FieldTerms
from agent_memory.values import define, field

FAN = 4
"""So many neighbours of one size become one segment: a query looks into about three of each size."""
DEAD_PART = 0.25
_ROWS_AT_ONCE = 5_000
_GONE = -1
_BITS = 8
"""Of a count."""

_INSERT = "INSERT INTO postings VALUES (?, ?, ?, ?, ?)"

_Row = tuple[int, str, int, int, bytes]
_Groups = defaultdict[int, defaultdict[str, list[int]]]


def _no_groups() -> _Groups:
    return defaultdict(lambda: defaultdict(list))


@define
class SegmentDraft:
    """The postings of a segment to be, gathered note by note."""

    numbers: list[int] = field(factory=list[int])
    lengths: tuple[list[int], ...] = field(factory=lambda: tuple(list[int]() for _ in FIELDS))
    _groups: _Groups = field(factory=_no_groups)
    """Ordinals by the counts of all fields, as one number, and by term."""

    def add(self, number: int, terms: Sequence[FieldTerms]) -> None:
        """One note more; numbers ascend."""
        ordinal = len(self.numbers)
        self.numbers.append(number)
        counted: dict[str, int] = {}
        for at, (lengths, each) in enumerate(zip(self.lengths, terms, strict=True)):
            lengths.append(each.length)
            shift = _BITS * at
            for term, count in each.counts.items():
                counted[term] = counted.get(term, 0) + (count << shift)
        groups = self._groups
        for term, counts in counted.items():
            groups[counts][term].append(ordinal)

    def rows(self, segment: int) -> Iterator[_Row]:
        """The rows of `postings`, by term."""
        width = width_of(len(self.numbers))
        blobs: defaultdict[str, list[bytes]] = defaultdict(list)
        df: dict[str, int] = {}
        for counts, by_term in sorted(
            (each.to_bytes(len(FIELDS), "little"), some) for each, some in self._groups.items()
        ):
            for term, ordinals in by_term.items():
                blobs[term].append(render_group(counts, array(width, ordinals)))
                df[term] = df.get(term, 0) + len(ordinals)
        for term in sorted(blobs):
            yield postings_row(segment, term, df[term], b"".join(blobs[term]))


def write_segment(connection: sqlite3.Connection, draft: SegmentDraft) -> None:
    """Add it as the last segment."""
    if draft.numbers:
        id = _next_id(connection)
        terms: list[str] = []
        connection.executemany(_INSERT, _noting(draft.rows(id), terms))
        put_segment(connection, id, draft.numbers, draft.lengths, terms)


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
        if len(segment.ordinals_of(dead)) > DEAD_PART * len(segment.numbers):
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
    numbers: list[int] = []
    lengths = tuple(list[int]() for _ in FIELDS)
    places: list[Sequence[int]] = []
    gone_numbers: list[int] = []
    for segment in run:
        gone = segment.ordinals_of(dead)
        gone_numbers += [segment.numbers[at] for at in gone]
        places.append(_places(len(numbers), len(segment.numbers), gone))
        kept = [at for at in range(len(segment.numbers)) if at not in gone] if gone else None
        numbers += segment.numbers if kept is None else [segment.numbers[at] for at in kept]
        for column, known in zip(lengths, segment.lengths, strict=True):
            column += known if kept is None else [known[at] for at in kept]
    id = _next_id(connection)
    if numbers:
        terms: list[str] = []
        for some in _chunks(_noting(_merged_rows(connection, id, run, places, width_of(len(numbers))), terms)):
            connection.executemany(_INSERT, some)
        put_segment(connection, id, numbers, lengths, terms)
    for segment in run:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment.id,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment.id,))
    connection.executemany("DELETE FROM dead WHERE number = ?", [(number,) for number in gone_numbers])


def _places(start: int, size: int, gone: frozenset[int]) -> Sequence[int]:
    """Where each ordinal goes: a range where none is gone."""
    if not gone:
        return range(start, start + size)
    places = array("q")
    for ordinal in range(size):
        places.append(_GONE if ordinal in gone else start)
        start += ordinal not in gone
    return places


def _rows_of(connection: sqlite3.Connection, at: int, segment: Segment) -> Iterator[tuple[str, int, bytes]]:
    """The terms of a segment in order, each with the segment's place in the run and its postings. RuinedIndexError where one
    is damaged or gone, lest the new segment have the damage and a good seal."""
    count = 0
    sql = "SELECT term, df, seal, grouped FROM postings WHERE segment = ? ORDER BY term"
    for term, df, sealed, grouped in connection.execute(sql, (segment.id,)):
        check_postings(segment.id, term, df, sealed, grouped)
        count += 1
        yield term, at, grouped
    if count != len(segment.terms):
        raise RuinedIndexError


def _merged_rows(
    connection: sqlite3.Connection, id: int, run: Sequence[Segment], places: Sequence[Sequence[int]], width: str
) -> Iterator[_Row]:
    rows = (_rows_of(connection, at, segment) for at, segment in enumerate(run))
    for term, group in groupby(merge(*rows, key=itemgetter(0, 1)), key=itemgetter(0)):
        merged: dict[bytes, array[int]] = {}
        for _, position, blob in group:
            for counts, ordinals in parse_postings(blob, run[position].width):
                found = _placed(ordinals, places[position], width)
                if (known := merged.get(counts)) is None:
                    merged[counts] = found
                else:
                    known += found
        df = sum(map(len, merged.values()))
        if df:
            grouped = b"".join(render_group(each, merged[each]) for each in sorted(merged) if merged[each])
            yield postings_row(id, term, df, grouped)


def _placed(ordinals: array[int], places: Sequence[int], width: str) -> array[int]:
    if isinstance(places, range):  # none of its notes is gone: all move by as much
        if ordinals[-1] >= len(places):
            raise IndexError("a posting beyond its segment")
        return moved(ordinals, places.start, width)
    return array(width, [place for ordinal in ordinals if (place := places[ordinal]) != _GONE])


def _noting(rows: Iterator[_Row], terms: list[str]) -> Iterator[_Row]:
    """The rows, their terms noted on the way."""
    for row in rows:
        terms.append(row[1])
        yield row


def _chunks(rows: Iterator[_Row]) -> Iterable[list[_Row]]:
    # So that a large merge is never in memory as a whole.
    some: list[_Row] = []
    for row in rows:
        some.append(row)
        if len(some) == _ROWS_AT_ONCE:
            yield some
            some = []
    yield some


def _next_id(connection: sqlite3.Connection) -> int:
    """Never one that was used before: whoever keeps segments in memory knows them by it."""
    connection.execute("INSERT INTO about VALUES ('segment', 1) ON CONFLICT DO UPDATE SET value = value + 1")
    return int(connection.execute("SELECT value FROM about WHERE name = 'segment'").fetchone()[0])
