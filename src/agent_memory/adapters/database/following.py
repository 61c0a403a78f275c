"""The database brought into line with the files of both shelves: only what looks different is read, a batch at a time.

Each batch is one transaction: whoever is killed leaves what was committed, and the next one goes on from there.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from agent_memory.adapters.database.store_database import StoreDatabase
from agent_memory.adapters.disk.directory_state import directory_known_by
from agent_memory.adapters.disk.paths import look_known_by
from agent_memory.adapters.store.entry_files import (
    ARCHIVE,
    TOPICS,
    ShelfLook,
    is_text,
    look_at_file,
    look_at_shelf,
    read_image,
    understand,
    unnameable,
    unreadable,
)
from agent_memory.domain.entry import Listed, StoredEntry, UnreadableFile
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Busy, EntryUnreadable, PathRefused, StoreIo
from agent_memory.formats.listed_json import parse_listed

if TYPE_CHECKING:
    from agent_memory.domain.searching.search import Refreshed

Left = Callable[[int], None]
"""Told, before each batch, how many changed files are still to be taken in."""

_GRAIN_NS = 2_000_000_000
"""The coarsest times of a file system that we know (FAT): a file that was written later than so long before it was read may
change again and look the same."""
_BATCH, _BATCH_CHARS = 500, 1 << 18
"""Files, and characters in them, of which one transaction is made, and that are in memory at once."""
_VERSIONS = "versions"
_SHELVES = (TOPICS, ARCHIVE, _VERSIONS)
"""By `files.archived`."""


Seen = Listed | UnreadableFile
"""What is known of one file of a shelf."""


@frozen
class ReadFile:
    """A file as it was read just now; without a hash it is gone, or could not be read."""

    path: str
    look: int | None = None
    """None where it is not to be believed."""
    hash: str | None = None
    stored: StoredEntry | None = None
    trouble: UnreadableFile | None = None

    @property
    def seen(self) -> Seen | None:
        return self.trouble if self.stored is None else self.stored.listed

    @property
    def is_unread(self) -> bool:
        return self.hash is None and self.trouble is not None


@frozen
class SeenShelf:
    """What is on a shelf."""

    files: Mapping[str, Seen]
    """What is known of each file of a note, by path."""
    odd: tuple[UnreadableFile, ...] = ()
    directories: tuple[str, ...] = ()
    """See `ShelfLook`."""


class FollowedFiles:
    """The files of the shelves of one database. One object may be asked by several threads."""

    max_age_seconds = 0.0
    """A look at a shelf of so long ago will do, unless a name came, went or was given to another file since, or something was
    written here: for who lives on."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database
        self._root = database.root
        self._looks: dict[str, tuple[float, tuple[int, ...] | None, ShelfLook]] = {}
        self._known: dict[str, Mapping[str, tuple[int | None, Seen]]] = {}
        """What was seen last, by shelf and path, with how it looked; None for what is read each time."""

    def refresh(self, patience_seconds: float = math.inf, left: Left | None = None) -> Refreshed:
        """Take in what changed, the newest first, as far as time allows. StoreIo or PathRefused where a shelf cannot be
        listed."""
        files: dict[str, int] = {}
        for shelf in (TOPICS, ARCHIVE):
            files.update((path, look) for path, look in self._look(shelf).files.items() if is_text(path))
        from agent_memory.domain.searching.search import Refreshed  # listings do without

        paths = self._database.read(lambda connection: self._changed(connection, files))
        deadline = time.monotonic() + patience_seconds
        read = removed = unreadable = 0
        while paths and time.monotonic() < deadline:
            if left is not None:
                left(len(paths))
            some = list(self._batch(paths, files, deadline))
            try:
                new, gone = self._put([each for each in some if not each.is_unread])
            except Busy:
                break
            read, removed, paths = read + new, removed + gone, paths[len(some) :]
            unreadable += sum(each.is_unread for each in some)  # tried again each time
        notes = self._database.read(lambda connection: connection.execute("SELECT count(*) FROM notes").fetchone()[0])
        return self._told(Refreshed(int(notes), read, removed, len(paths), unreadable))

    def seen(self, shelf: str) -> SeenShelf:
        """What is on a shelf now. Errors as of `refresh`; a file that cannot be read hides no other."""
        look = self._look(shelf)
        return SeenShelf(self._seen_in(shelf, look.files), look.odd, look.directories)

    def versions(self, paths: Sequence[str]) -> Mapping[str, Seen]:
        """What is known of these earlier versions of notes; of others nothing more is kept."""
        looks = {path: look for path in paths if isinstance(look := look_at_file(self._root, path), int)}
        return self._seen_in(_VERSIONS, looks)

    def read(self, path: str) -> Seen | None:
        """What a file holds now; None for one that is gone."""
        return self._read(path).seen

    def wrote(self) -> None:
        """Something was written here: look again, whatever the age of the last look."""
        self._looks.clear()

    def _look(self, shelf: str) -> ShelfLook:
        now, directory = time.monotonic(), None
        if self.max_age_seconds:
            directory = directory_known_by(f"{self._root}/{shelf}")
            last = self._looks.get(shelf)
            if last is not None and now - last[0] < self.max_age_seconds and last[1] == directory is not None:
                return last[2]
        found = look_at_shelf(self._root, shelf)
        self._looks[shelf] = now, directory, found
        return found

    # -- for a listing ------------------------------------------------------------------------------------------------

    def _seen_in(self, shelf: str, files: Mapping[str, int]) -> Mapping[str, Seen]:
        known = self._known.get(shelf)
        if known is None:
            try:
                known = self._database.read(lambda connection: _known_in(connection, shelf))
            except Busy:
                known = {}
        unread = [path for path, look in files.items() if path not in known or known[path][0] != look]
        now = {path: known[path] for path in files if path in known}
        while unread:
            some = list(self._batch(unread, files, math.inf))
            unread = unread[len(some) :]
            now.update((each.path, (each.look, seen)) for each in some if (seen := each.seen) is not None)
            self._keep([each for each in some if each.hash is not None])
        if shelf == _VERSIONS:
            self._keep([ReadFile(path) for path in known.keys() - files.keys()])
        self._known[shelf] = now
        return {path: seen for path, (_, seen) in now.items()}

    def _keep(self, some: Sequence[ReadFile]) -> None:
        """Put these in where that can be done now: what another process hinders is read again next time."""
        with suppress(Busy):
            self._put(some)

    # -- for the index ------------------------------------------------------------------------------------------------

    def _changed(self, connection: sqlite3.Connection, files: Mapping[str, int]) -> list[str]:
        """The paths of what differs: those that are gone, then the others, the newest first."""
        known = dict(connection.execute("SELECT path, look FROM files INDEXED BY files_look WHERE archived < 2"))
        others = [path for path, look in files.items() if known.get(path) != look]
        return [*sorted(known.keys() - files.keys()), *sorted(others, key=self._changed_ns, reverse=True)]

    def _changed_ns(self, path: str) -> int:
        try:
            return os.lstat(f"{self._root}/{path}").st_mtime_ns
        except OSError:
            return 0

    def _batch(self, paths: Sequence[str], files: Mapping[str, int], deadline: float) -> Iterator[ReadFile]:
        """The first of these files, read."""
        chars = 0
        for at, path in enumerate(paths[:_BATCH]):
            if at and (time.monotonic() >= deadline or chars > _BATCH_CHARS):
                return
            read = self._read(path) if path in files else ReadFile(path)
            chars += 0 if read.stored is None else len(read.stored.body)
            yield read

    def _read(self, path: str) -> ReadFile:
        if not path.isprintable() and not is_text(path):
            return ReadFile(path, trouble=unnameable(path))
        read_at_ns = time.time_ns()
        try:
            image = read_image(self._root, path)
        except (PathRefused, StoreIo) as error:
            return ReadFile(path, trouble=unreadable(path, error))
        if image is None:
            return ReadFile(path)
        look = look_known_by(image.known_by) if image.touched_ns + _GRAIN_NS <= read_at_ns else None
        try:
            stored = understand(path, image.data, image.mtime_ns)
        except EntryUnreadable as error:
            return ReadFile(path, look, content_hash(image.data), trouble=unreadable(path, error))
        is_secret = stored.meta.sensitivity is Sensitivity.SECRET  # read each time: no word of it is kept
        return ReadFile(path, None if is_secret else look, content_hash(image.data), stored)

    def _put(self, some: Sequence[ReadFile]) -> tuple[int, int]:
        """How many were new, and how many went. Busy while another process writes."""
        if not some or self._database.read(lambda connection: all(_is_known(connection, each) for each in some)):
            return 0, 0
        from agent_memory.adapters.database.taking_in import Batch  # most commands find that nothing changed

        return self._database.write(lambda connection: Batch(connection, self._root).put(some))

    def _told(self, refreshed: Refreshed) -> Refreshed:
        """With what whoever asks should know."""
        notices = list[str]()
        if (why := self._database.why_in_memory) is not None:
            notices.append(f"The index is kept in memory only, and made anew each time: {why}.")
        if refreshed.pending:
            files = "1 changed file is" if refreshed.pending == 1 else f"{refreshed.pending:,} changed files are"
            notices.append(f"{files} not in the index yet; the next search takes in more.")
        if refreshed.unreadable:
            one = refreshed.unreadable == 1
            files, they = ("1 file was", "it") if one else (f"{refreshed.unreadable:,} files were", "they")
            notices.append(f"{files} not searched, since {they} could not be read; `memory doctor` tells more.")
        return evolve(refreshed, notices=tuple(notices))


def _known_in(connection: sqlite3.Connection, shelf: str) -> dict[str, tuple[int | None, Seen]]:
    """What the database knows of the files of a shelf, secret ones left out."""
    rows = connection.execute(
        "SELECT path, look, listed, problems FROM files WHERE archived = ? AND NOT secret", (_SHELVES.index(shelf),)
    )
    return {
        path: (look, parse_listed(listed) if listed is not None else UnreadableFile(path, tuple(problems.split("\n"))))
        for path, look, listed, problems in rows
    }


def standing(provisional: bool, id: str, path: str) -> tuple[bool, bool, str]:
    """Of several files with one id the one with the least of these is the entry."""
    return (provisional, id_in_name(path.rpartition("/")[2]) != id, path)


def _is_known(connection: sqlite3.Connection, read: ReadFile) -> bool:
    row = connection.execute("SELECT look, hash FROM files WHERE path = ?", (read.path,)).fetchone()
    return (row is None and read.hash is None) or row == (read.look, read.hash)
