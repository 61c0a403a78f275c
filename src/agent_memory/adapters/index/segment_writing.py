"""Writing segments: what a batch brings, and several segments, or one with many dead, as one."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter

from agent_memory.adapters.index.facts import LAST_SEGMENT, next_number
from agent_memory.adapters.index.note_filtering import put_updates, read_updates
from agent_memory.adapters.index.postings import (
    check_postings,
    moved,
    parse_postings,
    postings_row,
    render_group,
    render_ones,
    width_of,
)
from agent_memory.adapters.index.seals import RuinedIndexError
from agent_memory.adapters.index.segments import LiveNotes, Segment, drop_segments, put_segment
from agent_memory.adapters.index.tie_pages import SORTS, TieShape
from agent_memory.adapters.index.tie_writing import TieEntry, all_ties, shape_for, write_ties
from agent_memory.adapters.index.vocabulary_writing import VocabularyDraft
from agent_memory.domain.searching.matching import FIELDS
from agent_memory.domain.searching.note_terms import FieldTerms
from agent_memory.values import define, field, frozen

FAN = 4
"""So many neighbours of one size become one segment: a query looks into about three of each size."""
DEAD_PART = 0.25
_ROWS_AT_ONCE = 5_000
_GONE = -1
_BITS = 8
"""Of a count."""
_IN_NO_FIELD = 0
"""The counts of a label."""

_INSERT = "INSERT INTO postings VALUES (?, ?, ?, ?, ?)"
_TABLES = ("postings", "vocabulary", "ties", "updates")
"""What has rows of a segment, beside its own."""

_Row = tuple[int, str, int, int, bytes]
_Groups = defaultdict[int, defaultdict[str, list[int]]]


def _no_groups() -> _Groups:
    return defaultdict(lambda: defaultdict(list))


@frozen
class NoteDraft:
    """What a segment has to know of a note."""

    terms: Sequence[FieldTerms]
    labels: Iterable[str]
    """Terms that stand for labels."""
    ties: Sequence[Iterable[tuple[int, int]]]
    """Hashes and values by sort (`tie_pages`)."""
    updated_at_ms: int
    is_archived: bool = False
    is_private: bool = False


@define
class SegmentDraft:
    """A segment to be, gathered note by note."""

    numbers: list[int] = field(factory=list[int])
    lengths: tuple[list[int], ...] = field(factory=lambda: tuple(list[int]() for _ in FIELDS))
    updates: list[int] = field(factory=list[int])
    ties: tuple[list[TieEntry], ...] = field(factory=lambda: tuple(list[TieEntry]() for _ in SORTS))
    archived: list[int] = field(factory=list[int])
    private: list[int] = field(factory=list[int])
    _groups: _Groups = field(factory=_no_groups)
    """Ordinals by the counts of all fields, as one number, and by term."""

    def add(self, number: int, note: NoteDraft) -> None:
        """One note more; numbers ascend."""
        ordinal = len(self.numbers)
        self.numbers.append(number)
        self.updates.append(note.updated_at_ms)
        self.archived += [ordinal] if note.is_archived else []
        self.private += [ordinal] if note.is_private else []
        for entries, ties in zip(self.ties, note.ties, strict=True):
            entries += [(hash, value, ordinal) for hash, value in ties]
        for lengths, each in zip(self.lengths, note.terms, strict=True):
            lengths.append(each.length)
        counted = dict.fromkeys(note.labels, _IN_NO_FIELD)
        *others, body = note.terms
        for at, each in enumerate(others):
            for term, count in each.counts.items():
                counted[term] = counted.get(term, 0) + (count << _BITS * at)
        groups, shift = self._groups, _BITS * len(others)
        once = groups[1 << shift]
        for term, count in body.counts.items():  # nearly all words of a note are in its body alone, once
            if term in counted:
                counted[term] += count << shift
            elif count == 1:
                once[term].append(ordinal)
            else:
                groups[count << shift][term].append(ordinal)
        for term, counts in counted.items():
            groups[counts][term].append(ordinal)

    def rows(self, segment: int) -> Iterator[_Row]:
        """The rows of `postings`, by term."""
        width = width_of(len(self.numbers))
        render_one = render_ones(width)
        blobs: dict[str, bytes] = {}
        df: dict[str, int] = {}
        for counts, by_term in sorted(
            (each.to_bytes(len(FIELDS), "little"), some) for each, some in self._groups.items()
        ):
            for term, ordinals in by_term.items():
                size = len(ordinals)
                group = (
                    render_one(counts, 1, ordinals[0]) if size == 1 else render_group(counts, array(width, ordinals))
                )
                if term in blobs:
                    blobs[term] += group
                    df[term] += size
                else:
                    blobs[term] = group
                    df[term] = size
        for term in sorted(blobs):
            yield postings_row(segment, term, df[term], blobs[term])


def write_segment(connection: sqlite3.Connection, draft: SegmentDraft) -> Segment | None:
    """Add it as the last segment; None where it has no notes."""
    if not draft.numbers:
        return None
    id = next_number(connection, LAST_SEGMENT)
    count = _write_postings(connection, id, draft.rows(id))
    put_updates(connection, id, draft.updates)
    shapes = tuple(
        write_ties(connection, id, sort, shape_for(len(entries)), sorted(entries))
        for sort, entries in zip(SORTS, draft.ties, strict=True)
    )
    segment = Segment(
        *(id, draft.numbers, draft.lengths, tuple(map(sum, draft.lengths)), count, shapes),
        *(frozenset(draft.archived), frozenset(draft.private)),
    )
    put_segment(connection, segment)
    return segment


def _write_postings(connection: sqlite3.Connection, segment: int, rows: Iterator[_Row]) -> int:
    """Keep these, which ascend, and the vocabulary that they make; how many they are."""
    vocabulary = VocabularyDraft(connection, segment)
    for some in _chunks(rows):
        connection.executemany(_INSERT, some)
        for row in some:
            vocabulary.add(row[1], row[2])
    vocabulary.finish()
    return vocabulary.count


def merge_some(connection: sqlite3.Connection, live: LiveNotes, most_notes: int | None) -> bool:
    """Write anew what is due: one run of segments, of at most so many notes. False where nothing is."""
    for start, end in _due(live):
        if most_notes is None or sum(len(segment.numbers) for segment in live.segments[start:end]) <= most_notes:
            _write_anew(connection, live.segments[start:end], live.gone[start:end])
            return True
    return False


def _due(live: LiveNotes) -> Iterator[tuple[int, int]]:
    """Runs of neighbours: one with too many dead, and the last ones once there are enough of one size among them."""
    for at, (segment, gone) in enumerate(zip(live.segments, live.gone, strict=True)):
        if len(gone) > DEAD_PART * len(segment.numbers):
            yield at, at + 1
    sizes = [_size(segment) for segment in live.segments]
    for size in range(max(sizes, default=0) + 1):
        start = len(sizes)
        while start and sizes[start - 1] <= size:
            start -= 1
        if sizes[start:].count(size) >= FAN:
            yield start, len(sizes)


def _size(segment: Segment) -> int:
    """1 to 3 notes are one size, 4 to 15 the next, and so on."""
    return (len(segment.numbers).bit_length() - 1) // (FAN.bit_length() - 1)


def _write_anew(connection: sqlite3.Connection, run: Sequence[Segment], dead: Sequence[frozenset[int]]) -> None:
    numbers: list[int] = []
    lengths = tuple(list[int]() for _ in FIELDS)
    updates: list[int] = []
    places: list[Sequence[int]] = []
    for segment, gone in zip(run, dead, strict=True):
        places.append(_places(len(numbers), len(segment.numbers), gone))
        kept = [at for at in range(len(segment.numbers)) if at not in gone] if gone else None
        changed = read_updates(connection, segment.id)
        numbers += segment.numbers if kept is None else [segment.numbers[at] for at in kept]
        updates += changed if kept is None else [changed[at] for at in kept]
        for column, known in zip(lengths, segment.lengths, strict=True):
            column += known if kept is None else [known[at] for at in kept]
    if numbers:
        id = next_number(connection, LAST_SEGMENT)
        rows = _merged_rows(connection, id, run, places, width_of(len(numbers)))
        count = _write_postings(connection, id, rows)
        put_updates(connection, id, updates)
        shapes = tuple(_merged_ties(connection, id, sort, run, places) for sort in SORTS)
        archived, private = (
            frozenset(place for each, to in zip(some, places, strict=True) for at in each if (place := to[at]) != _GONE)
            for some in ([segment.archived for segment in run], [segment.private for segment in run])
        )
        put_segment(
            connection, Segment(id, numbers, lengths, tuple(map(sum, lengths)), count, shapes, archived, private)
        )
    for segment in run:
        for table in _TABLES:
            connection.execute(f"DELETE FROM {table} WHERE segment = ?", (segment.id,))
    drop_segments(connection, [segment.id for segment in run])


def _merged_ties(
    connection: sqlite3.Connection, id: int, sort: int, run: Sequence[Segment], places: Sequence[Sequence[int]]
) -> TieShape:
    most = sum(segment.ties[sort].entries for segment in run)
    entries = (
        all_ties(connection, segment.id, sort, segment.ties[sort], to) for segment, to in zip(run, places, strict=True)
    )
    return write_ties(connection, id, sort, shape_for(most), merge(*entries))


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
    if count != segment.terms:
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


def _chunks(rows: Iterator[_Row]) -> Iterable[list[_Row]]:
    # So that a large merge is never in memory as a whole.
    some: list[_Row] = []
    for row in rows:
        some.append(row)
        if len(some) == _ROWS_AT_ONCE:
            yield some
            some = []
    yield some
