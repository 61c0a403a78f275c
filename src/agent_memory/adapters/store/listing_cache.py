"""The listing cache: `.cache/listing-<shelf>`, so that listing opens only the files that changed. Derived data.

A row is believed only while the file's times, size and inode are those that were seen when it was read, and only if the
file had been left alone for two seconds by then: a later write within the clock's grain would look the same. A cache that
is absent, damaged or of another version is built anew; one that cannot be written is done without.
"""

from __future__ import annotations

from collections.abc import Iterable

from returns.result import Failure, Success

from agent_memory.adapters.disk.durable import make_directories, replace_loosely
from agent_memory.adapters.disk.paths import FileImage, directory_inside, read_file
from agent_memory.domain.entry import Listed, UnreadableFile
from agent_memory.domain.results import sealed
from agent_memory.formats.listing_rows import PackedRow, Row, parse_rows, render_rows, unpack

_GRAIN_NS = 2_000_000_000
"""The coarsest times of a file system that we know (FAT)."""
NEVER = b""
"""What no file is known by."""
_MAX_BYTES = 1 << 30
_ROWS_A_READ = 500
"""Reading a file takes far longer than writing a row, and less than writing so many."""


class ListingCache:
    """Rows of one shelf, by path; read from disk once, and kept in memory by whoever keeps this."""

    def __init__(self, root: str, shelf: str) -> None:
        self._root = root
        self._name = f"listing-{shelf}"
        self._packed: dict[str, PackedRow] | None = None
        self._rows: dict[str, Row] = {}
        self._unwritten = 0

    def recall(self, path: str, known_by: bytes) -> Row | None:
        """What the file that looks so now was seen to hold; None when it has to be read."""
        row = self._rows.get(path)
        if row is None:
            packed = self._unread().pop(path, None)
            if packed is None:
                return None
            row = self._rows[path] = unpack(path, packed)
        return row if row.known_by == known_by else None

    def keep(self, rows: dict[str, Row]) -> None:
        """Remember exactly these rows. They are written when reading what is not written yet would take a listing a while."""
        before = self._rows
        news = sum([_is_news(before.get(path), row) for path, row in rows.items() if before.get(path) is not row])
        gone = len(self._unread()) + len(before.keys() - rows.keys())
        self._unwritten += news + gone
        self._rows, self._packed = rows, {}
        if self._unwritten > len(rows) // _ROWS_A_READ:
            self._unwritten = 0
            self._write(render_rows(rows))

    def _unread(self) -> dict[str, PackedRow]:
        if self._packed is None:
            self._packed = self._read() or {}
        return self._packed

    def _read(self) -> dict[str, PackedRow] | None:
        match sealed(
            directory_inside(self._root, ".cache").bind(lambda there: read_file(f"{there}/{self._name}", _MAX_BYTES))
        ):
            case Success(image):
                return None if image is None else parse_rows(image.data)
            case Failure(_):
                return None

    def _write(self, pieces: Iterable[bytes]) -> None:
        match sealed(directory_inside(self._root, ".cache")):
            case Success(directory):
                try:
                    make_directories(directory)
                    replace_loosely(f"{directory}/{self._name}", *pieces)
                except OSError:
                    # Nothing depends on it: a full or read-only disk only makes the next listing slower.
                    return
            case Failure(_):
                return


def row_of(image: FileImage, read_at_ns: int, seen: Listed | UnreadableFile) -> Row:
    """What to remember of a file."""
    return Row(believed_by(image, read_at_ns), seen)


def believed_by(image: FileImage, read_at_ns: int) -> bytes:
    """What a file has to be known by to be believed unread; nothing is, unless it had rested when it was read."""
    return image.known_by if image.touched_ns + _GRAIN_NS <= read_at_ns else NEVER


def _is_news(known: Row | None, row: Row) -> bool:
    return known is None or known.known_by != row.known_by
