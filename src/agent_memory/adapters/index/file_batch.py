"""Some files brought into the index, within one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence

from returns.result import Failure, Success

from agent_memory.adapters.index.note_questions import ID
from agent_memory.adapters.index.note_rows import NewNotes, remove_note
from agent_memory.adapters.index.segment_writing import SegmentDraft, write_segment
from agent_memory.adapters.store.entry_files import read_image, understand
from agent_memory.adapters.store.listing_cache import NEVER, believed_by
from agent_memory.adapters.store.shelf_names import keeping_all
from agent_memory.adapters.store.shelves import standing
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.note_terms import note_terms
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.formats.listed_json import parse_listed, render_listed
from agent_memory.values import define, field, frozen

_FILES = 5_000
_BYTES = 16 << 20
"""A batch is full with so many files, or so many bytes of them: the larger the segments that it writes, the fewer times each
posting is written anew. What it changes fits into the cache of `index_database`."""

_OF_ID = """
    SELECT number, listed FROM names JOIN notes USING (number) JOIN sheets USING (number)
    WHERE name = ? AND rank = ? AND archived = ?
"""


@frozen
class _Known:
    """What the index knows of a file."""

    content_hash: str = ""
    mtime_ns: int = 0
    number: int | None = None


@frozen
class _Read:
    """A file as it was read just now."""

    path: str
    content_hash: str
    mtime_ns: int
    believed_by: bytes


@define
class FileBatch:
    """What changes in one transaction."""

    root: str
    connection: sqlite3.Connection
    known_by: dict[str, bytes]
    """What each file is known by; kept up to date."""
    read_count: int = 0
    removed_count: int = 0
    unreadable_count: int = 0
    _bytes: int = 0
    _draft: SegmentDraft = field(factory=SegmentDraft)
    _last_number: int = 0
    _new: NewNotes = field(factory=NewNotes)

    def take(self, paths: Sequence[str], deadline: float) -> list[str]:
        """Bring the first of these into the index; those that are left. At least one is taken."""
        left = list(reversed(paths))
        taken = 0
        with keeping_all():
            while left and taken < _FILES and self._bytes < _BYTES:
                left.extend(self._file(left.pop()))
                taken += 1
                if time.monotonic() >= deadline:
                    break
            self._new.write(self.connection)
            if self._last_number:
                self.connection.execute("INSERT OR REPLACE INTO about VALUES ('number', ?)", (self._last_number,))
            write_segment(self.connection, self._draft)
        return list(reversed(left))

    def _file(self, path: str) -> list[str]:
        """Take one file; other files that have to be read again because of it."""
        known = self._known(path)
        read_at_ns = time.time_ns()
        read = read_image(self.root, path)
        if isinstance(read, Failure):
            # Nobody knows what it holds: it is left out, and tried again each time.
            self.unreadable_count += 1
            return self._left_out(_Read(path, "", 0, NEVER), known)
        image = read.unwrap()
        if image is None:
            self.connection.execute("DELETE FROM files WHERE path = ?", (path,))
            self.known_by.pop(path, None)
            return self._without(known)
        self._bytes += len(image.data)
        file = _Read(path, content_hash(image.data), image.mtime_ns, believed_by(image, read_at_ns))
        if file.content_hash == known.content_hash and file.mtime_ns == known.mtime_ns:
            self._believe(file)
            return []
        self.read_count += 1
        match sealed(understand(path, image.data, image.mtime_ns)):
            case Failure(_):
                return self._left_out(file, known)
            case Success(stored) if stored.meta.sensitivity is Sensitivity.SECRET:
                return self._left_out(file, known)
            case Success(stored) if known.number is not None and self._says_the_same(stored.listed, known.number):
                self._believe(file)
                return []
            case Success(stored):
                freed = self._without(known)
                self._place(stored, file)
                return freed

    def _known(self, path: str) -> _Known:
        if path not in self.known_by:
            return _Known()
        row = self.connection.execute("SELECT content_hash, mtime_ns, number FROM files WHERE path = ?", (path,))
        return _Known(*(row.fetchone() or ()))

    def _says_the_same(self, listed: Listed, number: int) -> bool:
        """Whether the file was only touched: the body is part of the hash, and the instants may come from the file's."""
        self._new.write(self.connection)
        row = self.connection.execute("SELECT listed FROM sheets WHERE number = ?", (number,)).fetchone()
        return row is not None and row[0] == render_listed(listed)

    def _believe(self, file: _Read) -> None:
        if self.known_by.get(file.path) == file.believed_by == NEVER:
            return
        self.connection.execute(
            "UPDATE files SET known_by = ?, mtime_ns = ? WHERE path = ?", (file.believed_by, file.mtime_ns, file.path)
        )
        self.known_by[file.path] = file.believed_by

    def _left_out(self, file: _Read, known: _Known) -> list[str]:
        freed = self._without(known)
        self._remember(file, None)
        return freed

    def _place(self, stored: StoredEntry, file: _Read) -> None:
        """Take the note in, unless another file with its id stands above it."""
        listed = stored.listed
        shadow = f"{listed.archived:d} {listed.meta.id}"
        if listed.meta.id in self._new.ids:
            self._new.write(self.connection)
        row = self.connection.execute(_OF_ID, (listed.meta.id, ID, listed.archived)).fetchone()
        if row is not None:
            rival = parse_listed(row[1])
            if standing(rival) < standing(listed):
                self._remember(file, None, shadow)
                return
            self._remove(row[0])
            self.connection.execute(
                "UPDATE files SET number = NULL, shadowed_by = ? WHERE path = ?", (shadow, rival.path)
            )
        number = self._next_number()
        terms = note_terms(stored)
        self._draft.add(number, terms)
        self._new.put(number, stored, [each.length for each in terms])
        self._remember(file, number)

    def _remember(self, file: _Read, number: int | None, shadowed_by: str | None = None) -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
            (file.path, file.believed_by, file.content_hash, file.mtime_ns, number, shadowed_by),
        )
        self.known_by[file.path] = file.believed_by

    def _without(self, known: _Known) -> list[str]:
        """Take the note out that a file held; the files that it stood above."""
        if known.number is None:
            return []
        self._new.write(self.connection)
        row = self.connection.execute("SELECT id, archived FROM notes WHERE number = ?", (known.number,)).fetchone()
        self._remove(known.number)
        if row is None:
            return []
        shadow = f"{row[1]:d} {row[0]}"
        freed = [path for (path,) in self.connection.execute("SELECT path FROM files WHERE shadowed_by = ?", (shadow,))]
        for path in freed:
            # As if it had never been read.
            self._remember(_Read(path, "", 0, NEVER), None)
        return freed

    def _remove(self, number: int) -> None:
        remove_note(self.connection, number)
        self.removed_count += 1

    def _next_number(self) -> int:
        """Never one that was used before: whoever was told a number must not find another note under it."""
        if not self._last_number:
            found = self.connection.execute("SELECT value FROM about WHERE name = 'number'").fetchone()
            self._last_number = found[0] if found else 0
        self._last_number += 1
        return self._last_number
