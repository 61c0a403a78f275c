"""Some files brought into the index, within one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence

from returns.result import Failure, Success

from agent_memory.adapters.disk.paths import look_known_by
from agent_memory.adapters.index.facts import LAST_NUMBER, NOTES, fact, put_fact
from agent_memory.adapters.index.known_files import KnownFile, KnownFiles
from agent_memory.adapters.index.note_questions import listed_of
from agent_memory.adapters.index.note_rows import NewNotes, note_draft, relations_of, remove_rows
from agent_memory.adapters.index.segment_writing import SegmentDraft, write_segment
from agent_memory.adapters.index.segments import LiveNotes, Segments, mark_dead
from agent_memory.adapters.index.tie_pages import name_value
from agent_memory.adapters.index.tie_questions import notes_called
from agent_memory.adapters.index.vector_blocks import drop_vectors
from agent_memory.adapters.store.entry_files import read_image, understand
from agent_memory.adapters.store.listing_cache import believed_by
from agent_memory.adapters.store.shelves import standing
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.note_terms import note_terms
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.formats.listed_json import parse_listed, render_listed
from agent_memory.garbage import keeping_all
from agent_memory.values import define, evolve, field, frozen

_FILES = 2_500
_BYTES = 8 << 20
"""A batch is full with so many files, or so many bytes of them: the larger the segments that it writes, the fewer times each
posting is written anew. What it changes fits into the cache of `index_database`."""


@frozen
class _Read:
    """A file as it was read just now."""

    path: str
    content_hash: str
    mtime_ns: int
    look: int | None
    """None where it is not to be believed."""


_NO_NOTES = LiveNotes((), ())


@define
class FileBatch:
    """What changes in one transaction."""

    root: str
    connection: sqlite3.Connection
    known: KnownFiles
    segments: Segments
    read_count: int = 0
    removed_count: int = 0
    unreadable_count: int = 0
    _bytes: int = 0
    _draft: SegmentDraft = field(factory=SegmentDraft)
    _new: NewNotes = field(factory=NewNotes)
    _placed: dict[tuple[str, bool], int] = field(factory=dict[tuple[str, bool], int])
    """The numbers of the notes of this batch, by id, and whether they are archived."""
    _gone: set[int] = field(factory=set[int])
    """Of notes that are no more."""
    _last_number: int = 0
    _live: LiveNotes = _NO_NOTES
    """Those before."""

    def take(self, paths: Sequence[str], deadline: float) -> list[str]:
        """Bring the first of these into the index; those that are left. At least one is taken."""
        self.known.begin()
        self._live = self.segments.live(self.connection)
        self._last_number = int(fact(self.connection, LAST_NUMBER))
        left = list(reversed(paths))
        taken = 0
        with keeping_all():
            while left and taken < _FILES and self._bytes < _BYTES:
                left.extend(self._file(left.pop()))
                taken += 1
                if time.monotonic() >= deadline:
                    break
            self._write()
        return list(reversed(left))

    def _write(self) -> None:
        """What was gathered, and what it comes to."""
        self._new.write(self.connection)
        put_fact(self.connection, LAST_NUMBER, self._last_number)
        put_fact(self.connection, NOTES, int(fact(self.connection, NOTES)) + len(self._draft.numbers) - len(self._gone))
        # Nothing of this transaction is loaded, and so kept in memory: it may yet be undone, and its numbers used again.
        new = write_segment(self.connection, self._draft)
        if self._gone:
            gone = sorted(self._gone)
            mark_dead(self.connection, (*self._live.segments, *([new] if new else [])), gone)
            drop_vectors(self.connection, gone)
        self.known.keep()

    def _file(self, path: str) -> list[str]:
        """Take one file; other files that have to be read again because of it."""
        before = self.known.get(path)
        read_at_ns = time.time_ns()
        read = read_image(self.root, path)
        if isinstance(read, Failure):
            # Nobody knows what it holds: it is left out, and tried again each time.
            self.unreadable_count += 1
            return self._left_out(_Read(path, "", 0, None), before)
        image = read.unwrap()
        if image is None:
            freed = self._without(before)
            if before is not None:
                self.known.drop(before)
            return freed
        self._bytes += len(image.data)
        believed = believed_by(image, read_at_ns)
        look = look_known_by(believed) if believed else None
        file = _Read(path, content_hash(image.data), image.mtime_ns, look)
        if before and (file.content_hash, file.mtime_ns) == (before.content_hash, before.mtime_ns):
            self._believe(file, before)
            return []
        self.read_count += 1
        match sealed(understand(path, image.data, image.mtime_ns)):
            case Failure(_):
                return self._left_out(file, before)
            case Success(stored) if stored.meta.sensitivity is Sensitivity.SECRET:
                return self._left_out(file, before)
            case Success(stored) if before and self._says_the_same(stored.listed, before):
                self._believe(file, before)
                return []
            case Success(stored):
                freed = self._without(before)
                self._place(stored, file, before)
                return freed

    def _says_the_same(self, listed: Listed, before: KnownFile) -> bool:
        """Whether the file was only touched: the body is part of the hash, and the instants may come from the file's."""
        return before.number is not None and self._listed(before.number) == render_listed(listed)

    def _believe(self, file: _Read, before: KnownFile) -> None:
        if (file.look, file.mtime_ns) != (before.look, before.mtime_ns):
            self.known.put(evolve(before, look=file.look, mtime_ns=file.mtime_ns), before)

    def _left_out(self, file: _Read, before: KnownFile | None) -> list[str]:
        freed = self._without(before)
        self._remember(file, before)
        return freed

    def _place(self, stored: StoredEntry, file: _Read, before: KnownFile | None) -> None:
        """Take the note in, unless another file with its id stands above it."""
        listed = stored.listed
        shadow = f"{listed.archived:d} {listed.meta.id}"
        rival_number = self._called(listed.meta.id, listed.archived)
        if rival_number is not None:
            rival = parse_listed(self._listed(rival_number))
            if standing(rival) < standing(listed):
                self._remember(file, before, None, shadow)
                return
            self._remove(rival_number)
            below = self.known.get(rival.path)
            if below is not None and below.path != file.path:
                self.known.put(evolve(below, number=None, shadowed_by=shadow), below)
        self._last_number = number = self._last_number + 1
        terms, relations = note_terms(stored), relations_of(stored)
        self._draft.add(number, note_draft(stored, relations, terms))
        self._new.put(number, stored, relations, [each.length for each in terms])
        self._placed[listed.meta.id, listed.archived] = number
        self._remember(file, before, number)

    def _remember(
        self, file: _Read, before: KnownFile | None, number: int | None = None, shadowed_by: str | None = None
    ) -> None:
        now = KnownFile(file.path, file.look, file.content_hash, file.mtime_ns, number, shadowed_by)
        self.known.put(now, before)

    def _without(self, before: KnownFile | None) -> list[str]:
        """Take the note out that a file held; the files that it stood above."""
        if before is None or before.number is None:
            return []
        listed = parse_listed(self._listed(before.number))
        self._remove(before.number)
        freed = self.known.shadowed_by(f"{listed.archived:d} {listed.meta.id}")
        for file in freed:
            # As if it had never been read.
            self.known.put(KnownFile(file.path, None), file)
        return [file.path for file in freed]

    def _called(self, id: str, archived: bool) -> int | None:
        """The note with this id on this shelf."""
        number = self._placed.get((id, archived))
        if number is not None and number not in self._gone:
            return number
        name = name_value(is_alias=False, is_archived=archived)
        found = notes_called(self.connection, self._live, id, name)
        return next((number for number in found if number not in self._gone), None)

    def _listed(self, number: int) -> str:
        self._new.write(self.connection)
        return listed_of(self.connection, number)

    def _remove(self, number: int) -> None:
        self._new.write(self.connection)
        remove_rows(self.connection, number)
        self._gone.add(number)
        self.removed_count += 1
