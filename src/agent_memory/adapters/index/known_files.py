"""The files that an index knows: what each looked like and held when it was read. Kept in order by one who writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from zlib import crc32

from agent_memory.adapters.index.facts import FILES, fact, put_fact
from agent_memory.adapters.index.seals import RuinedIndexError, check, seal
from agent_memory.adapters.index.segments import data_version
from agent_memory.values import frozen

_COLUMNS = "path, look, content_hash, mtime_ns, number, shadowed_by, seal"


@frozen
class KnownFile:
    """One file."""

    path: str
    look: int | None
    """See `directory_state.look_of`; None where what was read may not be what is there: it is read again."""
    content_hash: str = ""
    mtime_ns: int = 0
    number: int | None = None
    """Of the note that it holds, if that is in the index."""
    shadowed_by: str | None = None
    """What says which note stands above the one that it holds."""


def names_sum(prefix: str, names: Sequence[str]) -> int:
    """What the paths of these files come to, in no order: each is the prefix and a name."""
    try:
        return _sum(prefix, map(str.encode, names))
    except UnicodeEncodeError:
        return _sum(prefix, (name.encode("utf-8", "surrogateescape") for name in names))


def _sum(prefix: str, names: Iterable[bytes]) -> int:
    return sum(map(crc32, names, repeat(crc32(prefix.encode()))))


def path_sum(path: str) -> int:
    """What the path of one file adds to that."""
    return crc32(path.encode("utf-8", "surrogateescape"))


class KnownFiles:
    """All of them. What they look like is kept in memory for as long as nobody else writes to the index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._looks: set[int] | None = None
        """None while nobody has asked."""
        self._sums = (0, 0, 0)
        """Files that were believed, all their looks added up, and all paths."""
        self._version: int | None = None
        """Of the index, when these were as it has them; None where they are not."""
        self._kept_as: int | None = None

    def looks(self) -> set[int]:
        """What all believed files look like, as of the transaction of the caller. RuinedIndexError where some are missing."""
        self.begin()
        if self._looks is None:
            sql = "SELECT look FROM files INDEXED BY looks WHERE look IS NOT NULL"
            found = [look for (look,) in self._connection.execute(sql)]
            if (len(found), sum(found)) != self._sums[:2]:
                raise RuinedIndexError
            self._looks = set(found)
        return self._looks

    def begin(self) -> None:
        """What all come to is as of the transaction of the caller."""
        version = data_version(self._connection)
        if self._version != version:
            count, looks_total, paths_total = map(int, str(fact(self._connection, FILES)).split())
            self._looks, self._sums = None, (count, looks_total, paths_total)
            self._version = version

    @property
    def paths_total(self) -> int:
        """What all paths come to (`names_sum`)."""
        return self._sums[2]

    def with_look(self, look: int | None) -> Iterator[str]:
        """The paths of the files that looked so; None for those that were not believed. RuinedIndexError for none."""
        sql = f"SELECT {_COLUMNS} FROM files WHERE look IS ?"
        found = [_parsed(row) for row in self._connection.execute(sql, (look,)).fetchall()]
        if not found and look is not None:
            raise RuinedIndexError
        return (file.path for file in found)

    def all_paths(self) -> set[str]:
        """Those of all files: for the few times that looks are not enough."""
        return {path for (path,) in self._connection.execute("SELECT path FROM files").fetchall()}

    def shadowed_by(self, note: str) -> list[KnownFile]:
        """The files that this note stands above."""
        sql = f"SELECT {_COLUMNS} FROM files WHERE shadowed_by = ?"
        return [_parsed(row) for row in self._connection.execute(sql, (note,)).fetchall()]

    def get(self, path: str) -> KnownFile | None:
        """One of them. RuinedIndexError where it is not as it was written."""
        row = self._connection.execute(f"SELECT {_COLUMNS} FROM files WHERE path = ?", (path,)).fetchone()
        return None if row is None else _parsed(row)

    def put(self, file: KnownFile, before: KnownFile | None) -> None:
        """Keep it in place of what was known of it."""
        row = (file.path, file.look, file.content_hash, file.mtime_ns, file.number, file.shadowed_by)
        self._connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _seal(*row)))
        self._count(before, -1)
        self._count(file, 1)

    def drop(self, file: KnownFile) -> None:
        """It is no more."""
        self._connection.execute("DELETE FROM files WHERE path = ?", (file.path,))
        self._count(file, -1)

    def keep(self) -> None:
        """Keep what all come to, at the end of a transaction."""
        put_fact(self._connection, FILES, " ".join(map(str, self._sums)))
        self._kept_as = data_version(self._connection)

    def is_kept(self) -> None:
        """The transaction is done: nobody else had written meanwhile."""
        self._version = self._kept_as

    def _count(self, file: KnownFile | None, times: int) -> None:
        self._version = None  # until the transaction is done
        if file is None:
            return
        count, looks_total, paths_total = self._sums
        paths_total += times * path_sum(file.path)
        if file.look is not None:
            count, looks_total = count + times, looks_total + times * file.look
            if self._looks is not None:
                (self._looks.add if times > 0 else self._looks.discard)(file.look)
        self._sums = count, looks_total, paths_total


def _seal(path: str, *row: object) -> int:
    return seal("\n".join((path, *map(str, row))))


def _parsed(row: Iterable[object]) -> KnownFile:
    *values, sealed = row
    check(sealed, "\n".join(map(str, values)))
    return KnownFile(*values)  # type: ignore[arg-type]  # as they were written
