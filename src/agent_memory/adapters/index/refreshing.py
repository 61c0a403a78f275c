"""Bringing the index into line with the files: only what looks different is read, a batch at a time.

Each batch is one transaction: whoever is killed leaves what was committed, and the next one goes on from there. The
state of all files is kept only once every one of them is in, and had rested when it was read.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from agent_memory.adapters.index.file_batch import FileBatch
from agent_memory.adapters.index.index_database import IndexDatabase
from agent_memory.adapters.index.segment_writing import merge_some
from agent_memory.adapters.index.segments import Segments
from agent_memory.domain.searching.indexed_note import Refreshed
from agent_memory.values import define

_HASTY_MERGE_NOTES = 4_096
"""Who has little time does not write larger segments anew."""


def count_notes(connection: sqlite3.Connection) -> int:
    """Notes in the index."""
    return int(connection.execute("SELECT COUNT(*) FROM notes").fetchone()[0])


class KnownFiles:
    """What an index knows each file by, kept in memory for as long as nobody else writes to it."""

    def __init__(self) -> None:
        self._of: tuple[IndexDatabase, int] | None = None
        self._known: dict[str, bytes] = {}

    @contextmanager
    def of(self, database: IndexDatabase) -> Generator[dict[str, bytes], None, None]:
        """By path; to be kept up to date with what is written meanwhile."""
        version = _version(database)
        if self._of is None or self._of[0] is not database or self._of[1] != version:
            self._known = dict(database.connection.execute("SELECT path, known_by FROM files").fetchall())
        self._of = None  # what fails half way is not believed
        yield self._known
        self._of = (database, version) if _version(database) == version else None


def _version(database: IndexDatabase) -> int:
    """Another one after each time that somebody else has written."""
    return int(database.connection.execute("PRAGMA data_version").fetchone()[0])


def changed_paths(known: Mapping[str, bytes], looks: Mapping[str, bytes]) -> list[str]:
    """Files that are gone, then those that look different, the newest first."""
    if known == looks:
        return []
    gone = [path for path in known if path not in looks]
    changed = [path for path, look in looks.items() if known.get(path) != look]
    return [*gone, *sorted(changed, key=lambda path: _changed_at_ns(looks[path]), reverse=True)]


def _changed_at_ns(look: bytes) -> int:
    """The first of what `paths.known_by` packs."""
    return int.from_bytes(look[:8], "little", signed=True)


@define
class Refreshing:
    """One pass over what changed."""

    root: str
    database: IndexDatabase
    segments: Segments
    known: KnownFiles
    patience_seconds: float | None = None
    tell_left: Callable[[int], None] | None = None
    read_count: int = 0
    removed_count: int = 0
    unreadable_count: int = 0

    def run(self, looks: Mapping[str, bytes], state: bytes | None) -> Refreshed:
        """As far as time allows: `looks` is what all files are known by, `state` that of the shelves by the same look.
        sqlite3.Error where another process is at work, or the disk is full."""
        deadline = math.inf if self.patience_seconds is None else time.monotonic() + self.patience_seconds
        with self.known.of(self.database) as known:
            left = changed_paths(known, looks)
            while left and time.monotonic() < deadline:
                if self.tell_left is not None:
                    self.tell_left(len(left))
                left = self._batch(left, known, deadline)
                self._merge(deadline)
            self._keep_state(state if not left and known == looks else None)
        return self._so_far(left)

    def as_far_as_it_came(self, looks: Mapping[str, bytes]) -> Refreshed:
        """What a pass came to that another process kept from going on."""
        with self.known.of(self.database) as known:
            return self._so_far(changed_paths(known, looks))

    def _so_far(self, left: Sequence[str]) -> Refreshed:
        notes = count_notes(self.database.connection)
        return Refreshed(notes, self.read_count, self.removed_count, len(left), self.unreadable_count)

    def _batch(self, left: Sequence[str], known: dict[str, bytes], deadline: float) -> list[str]:
        with self.database.writing() as connection:
            batch = FileBatch(self.root, connection, known)
            still_left = batch.take(left, deadline)
        self.read_count += batch.read_count
        self.removed_count += batch.removed_count
        self.unreadable_count += batch.unreadable_count
        return still_left

    def _merge(self, deadline: float) -> None:
        most = None if self.patience_seconds is None else _HASTY_MERGE_NOTES
        is_due = True
        while is_due and time.monotonic() < deadline:
            with self.database.writing() as connection:
                is_due = merge_some(connection, self.segments.all(connection), most)

    def _keep_state(self, state: bytes | None) -> None:
        kept = self.database.connection.execute("SELECT value FROM about WHERE name = 'state'").fetchone()
        if (kept and kept[0]) == state:
            return
        with self.database.writing() as connection:
            notes = count_notes(connection)
            connection.execute("INSERT OR REPLACE INTO about VALUES ('state', ?), ('notes', ?)", (state, notes))
