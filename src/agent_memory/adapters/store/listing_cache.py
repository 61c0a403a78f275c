"""The listing cache: `.cache/listing-<shelf>`, so that listing opens only the files that changed. Derived data.

A row is believed only while the file's times, size and inode are those that were seen when it was read, and only if the
file had been left alone for two seconds by then: a later write within the clock's grain would look the same. A cache that
is absent, damaged or of another version is built anew; one that cannot be written is done without.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Set as AbstractSet

from returns.result import Failure, Success

from agent_memory.adapters.disk.durable import make_directories, replace_loosely
from agent_memory.adapters.disk.paths import FileImage, directory_inside, open_regular
from agent_memory.domain.packed_entries import unpacked
from agent_memory.domain.results import sealed
from agent_memory.formats.listing_rows import Rows, parse_rows, render_rows
from agent_memory.garbage import keeping_all, kept_for_good

_GRAIN_NS = 2_000_000_000
"""The coarsest times of a file system that we know (FAT)."""
_ROWS_A_READ = 500
"""Reading a file takes far longer than writing a row, and less than writing so many."""


class ListingCache:
    """Rows of one shelf; read from disk once, and kept in memory by whoever keeps this."""

    def __init__(self, root: str, shelf: str) -> None:
        self._root = root
        self._name = f"listing-{shelf}"
        self._rows: Rows | None = None
        self._unwritten = 0

    def rows(self) -> Rows:
        """What was read from each file, and what it looked like then."""
        if self._rows is None:
            with keeping_all():
                self._rows = self._read() or Rows({}, {})
            kept_for_good()
        return self._rows

    def keep(self, rows: Rows, touched: AbstractSet[str]) -> None:
        """Remember exactly these rows, which are those of before but for the paths that were touched. They are written when
        reading what is not written yet would take a listing a while."""
        before = self.rows()
        self._rows = rows
        self._unwritten += sum([before.looks.get(path) != rows.looks.get(path) for path in touched])
        if self._unwritten > len(rows.looks) // _ROWS_A_READ:
            self._unwritten = 0
            self._write(render_rows(rows))

    def forget(self, paths: Iterable[str]) -> None:
        """What is remembered of these is as good as gone: let go of it before they are read again, so that what was and what
        is of a whole store are never there at once."""
        rows = self.rows()
        looks, seen = {**rows.looks}, unpacked(rows.seen)
        for path in paths:
            del looks[path], seen[path]
        self._unwritten += len(rows.looks) - len(looks)
        self._rows = Rows(looks, seen)

    def _read(self) -> Rows | None:
        opened = directory_inside(self._root, ".cache").bind(
            lambda there: open_regular(f"{there}/{self._name}", os.O_RDONLY)
        )
        match sealed(opened):
            case Success(descriptor):
                try:
                    with open(descriptor, "rb") as file:
                        return parse_rows(file.read, os.fstat(descriptor).st_size)
                except OSError:  # as if there were none
                    return None
            case Failure(_):
                return None

    def _write(self, pieces: Iterable[bytes]) -> None:
        match sealed(directory_inside(self._root, ".cache")):
            case Success(directory):
                try:
                    make_directories(directory)
                    replace_loosely(f"{directory}/{self._name}", pieces)
                except OSError:
                    # Nothing depends on it: a full or read-only disk only makes the next listing slower.
                    return
            case Failure(_):
                return


def believed_by(image: FileImage, read_at_ns: int) -> bytes:
    """What a file has to be known by to be believed unread; nothing is, unless it had rested when it was read."""
    return image.known_by if image.touched_ns + _GRAIN_NS <= read_at_ns else b""
