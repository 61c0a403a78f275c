"""Writing what `tie_pages` reads."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from agent_memory.adapters.index.seals import seal
from agent_memory.adapters.index.tie_pages import HASH_BITS, TieShape, page_said, read_pages

_PAGE_ENTRIES_BITS = 7
"""A page has about so many entries, as a power of two: of many notes that are looked for each needs a page."""
_ROWS_AT_ONCE = 256
_INSERT = "INSERT INTO ties VALUES (?, ?, ?, ?, ?)"

TieEntry = tuple[int, int, int]
"""Hash, value, ordinal."""
_PageRow = tuple[int, int, int, int, bytes]


def shape_for(entries: int) -> int:
    """How many bits tell the page where there are so many entries at most."""
    return max((entries - 1).bit_length() - _PAGE_ENTRIES_BITS, 0) if entries else 0


def write_ties(
    connection: sqlite3.Connection, segment: int, sort: int, bits: int, entries: Iterable[TieEntry]
) -> TieShape:
    """Keep the entries, which ascend, as pages of a segment."""
    shift = HASH_BITS - bits
    count, next_page = 0, 0
    rows: list[_PageRow] = []
    for page, some in groupby(entries, key=lambda entry: entry[0] >> shift):
        found = list(some)
        rows += [_row(segment, sort, empty, ()) for empty in range(next_page, page)]
        rows.append(_row(segment, sort, page, found))
        count, next_page = count + len(found), page + 1
        if len(rows) >= _ROWS_AT_ONCE:
            connection.executemany(_INSERT, rows)
            rows.clear()
    rows += [_row(segment, sort, empty, ()) for empty in range(next_page, 1 << bits if count else 0)]
    connection.executemany(_INSERT, rows)
    return TieShape(bits, count)


def _row(segment: int, sort: int, page: int, entries: Sequence[TieEntry]) -> _PageRow:
    hashes, values, ordinals = zip(*entries, strict=True) if entries else ((), (), ())
    run = array("Q", hashes).tobytes() + array("q", values).tobytes() + array("I", ordinals).tobytes()
    return segment, sort, page, seal(page_said(segment, sort, page), run), run


def all_ties(
    connection: sqlite3.Connection, segment: int, sort: int, shape: TieShape, places: Sequence[int]
) -> Iterator[TieEntry]:
    """All entries of a segment in order, each with where its ordinal has gone; those of notes that are gone (below 0) left
    out."""
    for page in range(1 << shape.bits if shape.entries else 0):
        ((_, found),) = read_pages(connection, segment, sort, (page,))
        for hash, value, ordinal in zip(found.hashes, found.values, found.ordinals, strict=True):
            place = places[ordinal]
            if place >= 0:
                yield hash, value, place
