"""The notes of both directories, listed and followed: only a file that looks different than the database knows it is read, a
batch at a time.

`topics/` is flat. A directory, link or special file there that looks like a note is reported, never followed or descended into:
what lies deeper would be loaded into every agent's context without the person having put it there (P21). Hidden names and
files that are not `.md` are other programs' business.

Each batch is one transaction: whoever is killed leaves what was committed, and the next one goes on from there.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import evolve

from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.store.entry_files import (
    ARCHIVE,
    TOPICS,
    DirectoryLook,
    ReadFile,
    Seen,
    is_text,
    look_at_directory,
    look_at_file,
    printable,
    read_image,
    standing,
    understand,
    unnameable,
    unreadable,
)
from agent_memory.adapters.store.store_database import StoreDatabase
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.text.file_name import NOTE_ENDING
from agent_memory.domain.text.ids import is_id
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
_KINDS = (TOPICS, ARCHIVE, _VERSIONS)
"""By `files.archived`."""
_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")


class FollowedFiles:
    """The files of the notes of one database. One object may be asked by several threads."""

    max_age_seconds = 0.0
    """A look at a directory of so long ago will do, unless a name came, went or was given to another file since: for a process
    that lives on. 0 looks each time."""

    def __init__(self, database: StoreDatabase) -> None:
        self._database = database
        self.root = database.root
        self._looks: dict[str, tuple[float, int, DirectoryLook]] = {}
        self._known: dict[str, Mapping[str, tuple[int | None, Seen]]] = {}
        """What was seen last, by kind and path, with how it looked; None for what is read each time."""

    # -- listings: a file that cannot be read hides no other; StoreIo or PathRefused for a directory that cannot be listed ---

    def live(self) -> Listing:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""
        look = self._look(TOPICS)
        return _one_an_id([*self._seen(TOPICS, look.files), *look.odd, *self._unseen(look.directories)])

    def archived(self) -> Listing:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        look = self._look(ARCHIVE)
        files = self._seen(ARCHIVE, look.files)
        retired = {each.meta.id for each in files if isinstance(each, Listed)}
        ids = {path: id for path in look.directories if is_id(id := path.rpartition("/")[2])}
        versions = [self.versions(id)[::-1] for id in ids.values() if id not in retired]
        others = self._unseen(path for path in look.directories if path not in ids)
        return _one_an_id([*files, *self._newest(versions), *look.odd, *others])

    def versions(self, id: str) -> tuple[str, ...]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        names = names_below(self.root, directory, lambda name: _VERSION.fullmatch(name) is not None)
        return tuple(sorted((f"{directory}/{name}" for name in names), key=version_ms))

    def look_again(self) -> None:
        """The next look is a new one, whatever the age of the last: something is to be written here, or was."""
        self._looks.clear()

    def _look(self, directory: str) -> DirectoryLook:
        if not self.max_age_seconds:
            return look_at_directory(self.root, directory)
        now = time.monotonic()
        try:
            changed_ns = os.lstat(f"{self.root}/{directory}").st_mtime_ns
        except OSError:
            return look_at_directory(self.root, directory)
        last = self._looks.get(directory)
        if last is not None and now - last[0] < self.max_age_seconds and last[1] == changed_ns:
            return last[2]
        look = look_at_directory(self.root, directory)
        self._looks[directory] = now, changed_ns, look
        return look

    def _newest(self, versions: Sequence[Sequence[str]]) -> Iterator[Seen]:
        """Of each of these the first that can be read, after those that cannot. Only of the newest is anything kept."""
        looks = {each[0]: look_at_file(self.root, each[0]) for each in versions if each}
        files = {path: look for path, look in looks.items() if isinstance(look, int)}
        known = {each.path: each for each in self._seen(_VERSIONS, files)}
        for paths in versions:
            for path in paths:
                seen = known.get(path) or self._version(path)
                if seen is not None:
                    yield seen
                if isinstance(seen, Listed):
                    break

    def _version(self, path: str) -> Seen | None:
        look = look_at_file(self.root, path)
        return self._read(path).seen if isinstance(look, int) else look

    def _unseen(self, directories: Iterable[str]) -> Iterator[UnreadableFile]:
        for path in directories:
            if _may_hold_notes(f"{self.root}/{path}"):
                yield UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))

    def _seen(self, kind: str, files: Mapping[str, int]) -> list[Seen]:
        """What these files hold, by how each looks."""
        known = self._known.get(kind)
        if known is None:
            try:
                known = self._database.read(lambda connection: _known_of(connection, kind))
            except Busy:
                known = {}
        unread = [path for path, look in files.items() if path not in known or known[path][0] != look]
        now = {path: known[path] for path in files if path in known}
        while unread:
            some = list(self._batch(unread, files, math.inf))
            unread = unread[len(some) :]
            now.update((each.path, (each.look, seen)) for each in some if (seen := each.seen) is not None)
            self._keep([each for each in some if each.hash is not None])
        if kind == _VERSIONS:
            self._keep([ReadFile(path) for path in known.keys() - files.keys()])
        self._known[kind] = now
        return [seen for _, seen in now.values()]

    def _keep(self, some: Sequence[ReadFile]) -> None:
        """Put these in where that can be done now: what another process hinders is read again next time."""
        with suppress(Busy):
            self._put(some)

    # -- the index ----------------------------------------------------------------------------------------------------

    def refresh(self, patience_seconds: float = math.inf, left: Left | None = None) -> Refreshed:
        """Take in what changed, the newest first, as far as time allows. StoreIo or PathRefused where a directory cannot be
        listed."""
        from agent_memory.domain.searching.search import Refreshed  # listings do without

        looks = (self._look(directory) for directory in (TOPICS, ARCHIVE))
        files = {path: look for each in looks for path, look in each.files.items() if is_text(path)}
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

    def _changed(self, connection: sqlite3.Connection, files: Mapping[str, int]) -> list[str]:
        """The paths of what differs: those that are gone, then the others, the newest first."""
        known = dict(connection.execute("SELECT path, look FROM files INDEXED BY files_look WHERE archived < 2"))
        others = [path for path, look in files.items() if known.get(path) != look]
        return [*sorted(known.keys() - files.keys()), *sorted(others, key=self._changed_ns, reverse=True)]

    def _changed_ns(self, path: str) -> int:
        try:
            return os.lstat(f"{self.root}/{path}").st_mtime_ns
        except OSError:
            return 0

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

    # -- reading and keeping ------------------------------------------------------------------------------------------

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
        if not is_text(path):
            return ReadFile(path, trouble=unnameable(path))
        read_at_ns = time.time_ns()
        try:
            image = read_image(self.root, path)
        except (PathRefused, StoreIo) as error:
            return ReadFile(path, trouble=unreadable(path, error))
        if image is None:
            return ReadFile(path)
        look = image.look if image.touched_ns + _GRAIN_NS <= read_at_ns else None
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
        from agent_memory.adapters.store.taking_in import Batch  # most commands find that nothing changed

        return self._database.write(lambda connection: Batch(connection, self.root).put(some))


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def _one_an_id(seen: Sequence[Seen]) -> Listing:
    """Sorted by path."""
    by_id: dict[str, Listed] = {}
    problems = [each for each in seen if isinstance(each, UnreadableFile)]
    entries = (each for each in seen if isinstance(each, Listed))
    for each in sorted(entries, key=lambda each: standing(each.provisional_id, each.meta.id, each.path)):
        if (first := by_id.setdefault(each.meta.id, each)) is not each:
            problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
    return Listing(tuple(sorted(by_id.values(), key=_path)), tuple(sorted(problems, key=_path)))


def _may_hold_notes(directory: str) -> bool:
    try:
        return any(name.endswith(NOTE_ENDING) for name in os.listdir(directory))
    except OSError:
        return True


def _known_of(connection: sqlite3.Connection, kind: str) -> dict[str, tuple[int | None, Seen]]:
    """What the database knows of the files of a kind, secret ones left out."""
    rows = connection.execute(
        "SELECT path, look, listed, problems FROM files WHERE archived = ? AND NOT secret", (_KINDS.index(kind),)
    )
    return {
        path: (look, parse_listed(listed) if listed is not None else UnreadableFile(path, tuple(problems.split("\n"))))
        for path, look, listed, problems in rows
    }


def _is_known(connection: sqlite3.Connection, read: ReadFile) -> bool:
    row = connection.execute("SELECT look, hash FROM files WHERE path = ?", (read.path,)).fetchone()
    return (row is None and read.hash is None) or row == (read.look, read.hash)
