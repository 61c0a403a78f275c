"""Bringing the index into line with the files: only what looks different is read, a batch at a time.

Each batch is one transaction: whoever is killed leaves what was committed, and the next one goes on from there. The
state of all files is kept only once every one of them is in, and had rested when it was read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from agent_memory.adapters.index.facts import NOTES, STATE, fact, put_fact
from agent_memory.adapters.index.file_batch import FileBatch
from agent_memory.adapters.index.index_database import IndexDatabase
from agent_memory.adapters.index.known_files import KnownFiles
from agent_memory.adapters.index.segment_writing import merge_some
from agent_memory.adapters.index.segments import Segments
from agent_memory.adapters.index.shelf_look import ShelfChanges, ShelvesLook
from agent_memory.domain.searching.indexed_note import Refreshed
from agent_memory.values import define

_HASTY_MERGE_NOTES = 4_096
"""Who has little time does not write larger segments anew."""


@define
class Refreshing:
    """One pass over what changed."""

    look: ShelvesLook
    """What all files look like."""
    database: IndexDatabase
    segments: Segments
    known: KnownFiles
    patience_seconds: float | None = None
    tell_left: Callable[[int], None] | None = None
    read_count: int = 0
    removed_count: int = 0
    unreadable_count: int = 0
    _paths_total: int | None = None

    def run(self) -> Refreshed:
        """As far as time allows. sqlite3.Error where another process is at work, or the disk is full."""
        changes, left = self._changes()
        # From here on: where to look at all files takes longer than that, each call would end before it had begun.
        deadline = math.inf if self.patience_seconds is None else time.monotonic() + self.patience_seconds
        left = self._taken(left, deadline)
        if not left and not self._has_all_paths(changes):
            left = self._taken(self._by_path(changes), deadline)
        self._keep_state(self.look.state if not left and self._is_in_line(changes) else None)
        return self._so_far(left)

    def run_with(self, paths: Sequence[str]) -> Refreshed:
        """Only these are taken in, all of them, where everything else is as the look had it. sqlite3.Error as of `run`."""
        left = self._taken(list(paths), math.inf)
        self._keep_state(None)  # of what was written just now nothing is believed yet
        return self._so_far(left)

    def as_far_as_it_came(self) -> Refreshed:
        """What a pass came to that another process kept from going on."""
        return self._so_far(self._changes()[1])

    def _changes(self) -> tuple[ShelfChanges, list[str]]:
        """What changed, and the paths of that: files that are gone, then those that look different, the newest first."""
        with self.database.reading():
            changes = self.look.changes(self.known.looks())
            before = [path for look in (*changes.gone, None) for path in self.known.with_look(look)]
        gone = [path for path in dict.fromkeys(before) if path not in changes.unknown]
        unknown = sorted(changes.unknown.items(), key=lambda item: item[1].changed_at_ns, reverse=True)
        return changes, [*gone, *(path for path, _ in unknown)]

    def _taken(self, left: list[str], deadline: float) -> list[str]:
        """Take these in, as far as time allows; those that are left."""
        while left and time.monotonic() < deadline:
            if self.tell_left is not None:
                self.tell_left(len(left))
            left = self._batch(left, deadline)
            self._merge(deadline)
        return left

    def _has_all_paths(self, changes: ShelfChanges) -> bool:
        """Whether all files are known by the names they have: where a new name is no new time of the file (not every file
        system has these times), what they look like does not tell."""
        with self.database.reading():
            self.known.looks()
        if self._paths_total is None:
            self._paths_total = self.look.paths_total(changes.others)
        return self._paths_total == self.known.paths_total

    def _by_path(self, changes: ShelfChanges) -> list[str]:
        with self.database.reading():
            known = self.known.all_paths()
        there = set(self.look.paths(changes.others))
        return sorted(known - there) + sorted(there - known)

    def _is_in_line(self, changes: ShelfChanges) -> bool:
        with self.database.reading():
            looks = self.known.looks()
        is_read = all(seen.look in looks for seen in changes.unknown.values())
        return is_read and looks.isdisjoint(changes.gone) and self._has_all_paths(changes)

    def _so_far(self, left: Sequence[str]) -> Refreshed:
        with self.database.reading() as connection:
            notes = int(fact(connection, NOTES))
        return Refreshed(notes, self.read_count, self.removed_count, len(left), self.unreadable_count)

    def _batch(self, left: Sequence[str], deadline: float) -> list[str]:
        with self.database.writing() as connection:
            batch = FileBatch(self.look.root, connection, self.known, self.segments)
            still_left = batch.take(left, deadline)
        self.known.is_kept()
        self.read_count += batch.read_count
        self.removed_count += batch.removed_count
        self.unreadable_count += batch.unreadable_count
        return still_left

    def _merge(self, deadline: float) -> None:
        most = None if self.patience_seconds is None else _HASTY_MERGE_NOTES
        is_due = True
        while is_due and time.monotonic() < deadline:
            with self.database.writing() as connection:
                is_due = merge_some(connection, self.segments.live(connection), most)

    def _keep_state(self, state: bytes | None) -> None:
        with self.database.reading() as connection:
            is_kept = fact(connection, STATE) == state
        if not is_kept:
            with self.database.writing() as connection:
                put_fact(connection, STATE, state)
