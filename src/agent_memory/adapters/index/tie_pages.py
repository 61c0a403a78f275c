"""By what notes are found but by words: their names, the targets of their links, and the sessions they come from.

Of each segment and each of these sorts the entries are in order of the hash of what is looked for, cut into pages by the
first bits of the hash: a question reads the few pages that it needs, and a page that is not there was lost. An entry is a
hash (8 bytes), a value (8 bytes, signed) and an ordinal (4 bytes); a page has all hashes, then all values, then all ordinals.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.adapters.index.seals import RuinedIndexError, check
from agent_memory.values import frozen

NAMES, TARGETS, PLACES = SORTS = range(3)
"""The value of a name tells what it is (`name_value`), that of a target how it is referred to, that of a place its turn."""

NO_TURN = -1
"""The turn of a source that names a session alone."""

HASH_BITS = 64
_ENTRY_BYTES = 20
_MOST_KEPT = 2_048
"""So many pages are kept in memory: some 6 MB."""

_ROWS_AT_ONCE = 256


def name_value(is_alias: bool, is_archived: bool) -> int:
    """The value of a name: the less, the rather it is meant."""
    return 2 * is_archived + is_alias


ARCHIVED_ALIAS = name_value(True, True)
"""What resolves nothing."""


@frozen
class TieShape:
    """How the entries of one sort are cut into pages."""

    bits: int
    """Of a hash, that tell the page."""
    entries: int


@frozen
class TiePage:
    """Some entries, in order."""

    hashes: array[int]
    values: array[int]
    ordinals: array[int]

    def of(self, hash: int) -> range:
        """Where the entries of a hash are."""
        start = bisect_left(self.hashes, hash)
        return range(start, bisect_right(self.hashes, hash, start))

    def around(self, there: range, value: int, reach: int) -> Iterator[tuple[int, int]]:
        """Of those of these entries of one hash that have about this value: their ordinals and values."""
        start = bisect_left(self.values, value - reach, there.start, there.stop)
        stop = bisect_right(self.values, value + reach, start, there.stop)
        return zip(self.ordinals[start:stop], self.values[start:stop], strict=True)


def page_said(segment: int, sort: int, page: int) -> str:
    """What the checksum of a page is of, beside its entries."""
    return f"{segment} {sort} {page}"


def read_pages(
    connection: sqlite3.Connection, segment: int, sort: int, pages: Sequence[int]
) -> Iterator[tuple[int, TiePage]]:
    """Some pages of a segment. RuinedIndexError for one that is not as it was written, or not there."""
    for start in range(0, len(pages), _ROWS_AT_ONCE):
        some = pages[start : start + _ROWS_AT_ONCE]
        sql = f"SELECT page, seal, entries FROM ties WHERE segment = ? AND sort = ? AND page IN ({','.join('?' * len(some))})"
        rows = connection.execute(sql, (segment, sort, *some)).fetchall()
        if len(rows) != len(some):
            raise RuinedIndexError
        for page, sealed, run in rows:
            check(sealed, page_said(segment, sort, page), run)
            yield page, _parsed(run)


def _parsed(run: bytes) -> TiePage:
    entries = len(run) // _ENTRY_BYTES
    found = TiePage(array("Q"), array("q"), array("I"))
    found.hashes.frombytes(run[: 8 * entries])
    found.values.frombytes(run[8 * entries : 16 * entries])
    found.ordinals.frombytes(run[16 * entries :])
    return found


class TiePages:
    """Pages that were read; they never change."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, int], TiePage] = {}

    def of(
        self, connection: sqlite3.Connection, segment: int, sort: int, shape: TieShape, hashes: Iterable[int]
    ) -> dict[int, TiePage]:
        """By hash, the page that has the entries of these hashes, if there are any."""
        if not shape.entries:
            return {}
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        shift = HASH_BITS - shape.bits
        wanted = {hash: (segment, sort, hash >> shift) for hash in hashes}
        unread = sorted({page for *_, page in wanted.values() if (segment, sort, page) not in self._kept})
        for page, found in read_pages(connection, segment, sort, unread):
            self._kept[segment, sort, page] = found
        return {hash: self._kept[key] for hash, key in wanted.items()}
