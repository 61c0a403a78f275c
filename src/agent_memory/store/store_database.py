"""The file of the database, `.cache/store.db`: opened, made, thrown away, or done without.

A rollback journal and not a log beside it: that needs no memory shared between processes, which a home on a network does
not have. The journal is cut off rather than removed, so that whoever still writes to a file that was thrown away does not
touch the journal of its successor. A file that is ruined (damage, another version, another program's) is made anew, once a
call; where it cannot be written, what it holds is copied into memory, and lives as long as the object.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import stat
import time
import unicodedata
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TypeVar
from zlib import crc32

from attrs import frozen

from agent_memory.errors import Busy, EntryUnreadable, Error, PathRefused, StoreIo
from agent_memory.files.durable import make_directories
from agent_memory.files.paths import close_quietly, directory_in, names_below, open_checked
from agent_memory.note import TERMS_VERSION
from agent_memory.note.file_name import NOTE_ENDING
from agent_memory.note.listed_json import LISTED_LAYOUT, parse_listed
from agent_memory.note.note import Listed, Listing, Sensitivity, UnreadableFile
from agent_memory.store.note_files import (
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
from agent_memory.text.ids import content_hash, is_id
from agent_memory.text.plain_text import counted

DIRECTORY = ".cache"
NAME = "store.db"
JOURNAL = f"{NAME}-journal"
WAIT_SECONDS = 1.0
"""Nobody waits longer for another process."""

_APPLICATION_ID = 0x61676D6D
"""Tells our files from those of other programs."""
_SCHEMA = """
    CREATE TABLE files (
        path TEXT PRIMARY KEY, look INTEGER, hash TEXT, number INTEGER UNIQUE, id TEXT, archived INTEGER NOT NULL,
        provisional INTEGER NOT NULL, secret INTEGER NOT NULL, listed TEXT, problems TEXT
    ) WITHOUT ROWID;
    CREATE INDEX files_look ON files (path, archived, look);
    CREATE INDEX files_id ON files (id, archived);
    CREATE TABLE notes (
        number INTEGER PRIMARY KEY AUTOINCREMENT, archived INTEGER NOT NULL, updated_ms INTEGER NOT NULL,
        length INTEGER NOT NULL
    );
    CREATE TABLE names (name TEXT, number INTEGER, rank INTEGER, PRIMARY KEY (name, rank, number)) WITHOUT ROWID;
    CREATE INDEX names_number ON names (number);
    CREATE TABLE labels (sort TEXT, label TEXT, number INTEGER, PRIMARY KEY (sort, label, number)) WITHOUT ROWID;
    CREATE INDEX labels_number ON labels (number);
    CREATE TABLE places (session TEXT, turn INTEGER, number INTEGER);
    CREATE INDEX places_session ON places (session, turn);
    CREATE INDEX places_number ON places (number);
    CREATE TABLE links (source INTEGER, target TEXT, relation TEXT, PRIMARY KEY (source, target, relation)) WITHOUT ROWID;
    CREATE INDEX links_target ON links (target);
    CREATE TABLE vectors (number INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
    CREATE VIRTUAL TABLE terms USING fts5(
        title, text, tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"
    );
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, row);
    CREATE VIRTUAL TABLE occurrences USING fts5vocab(terms, instance);
"""
"""`files` has every file of a note on either shelf: those that are notes, secret ones without a word of theirs, and those
that cannot be read as notes. `notes` and what refers to its numbers has those that may be found."""
_VERSION = crc32(repr((2, _SCHEMA, TERMS_VERSION, LISTED_LAYOUT, unicodedata.unidata_version)).encode()) & 0x7FFFFFFF
_CACHE_KIB = 16_384

_BUSY = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_UNWRITABLE = frozenset(
    (
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PROTOCOL),
    )
)
_RUINED = (sqlite3.DatabaseError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError)
"""What reading a damaged database may end in. `sqlite3.DatabaseError` is told apart by its code."""

Value = TypeVar("Value")


@frozen
class Refreshed:
    """How the index stands to the files."""

    notes: int
    """Notes in it."""
    read: int = 0
    """Files that were read just now."""
    removed: int = 0
    pending: int = 0
    """Files known to have changed that are not in it yet: time was up, or another process is at work on it."""
    unreadable: int = 0
    """Files that could not be read just now, and are left out; they are tried again each time."""
    notices: tuple[str, ...] = ()
    """What whoever asks should know, a sentence each."""


class OtherVersionError(sqlite3.DatabaseError):
    """The file is whole, for all that we know, but of another version or another program."""


class UnwritableError(Exception):
    """There can be no file, or it cannot be written; the message says why."""


class StoreDatabase:
    """That of a real root. One object may be asked by several threads."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.renewals = 0
        """How often it was made anew: numbers of before mean nothing after."""
        self.why_in_memory: str | None = None
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        """Of the open file; None in memory."""
        self.is_damage_untold = False
        """It was made anew because of damage, and nobody was told yet."""
        self._lock = RLock()

    @property
    def path(self) -> str:
        """Where it is, or would be."""
        return f"{self.root}/{DIRECTORY}/{NAME}"

    def read(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """Returns what the act gives, all of it as of one moment. Busy where another process is at work for longer than
        we wait."""
        return self._done(act, "BEGIN")

    def write(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """Returns the same for what changes it: all of that or nothing; one process at a time."""
        return self._done(act, "BEGIN IMMEDIATE")

    def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _done(self, act: Callable[[sqlite3.Connection], Value], begin: str) -> Value:
        with self._lock:
            for recover in (self._start_anew, self._go_to_memory):
                try:
                    return _within(self._opened(), begin, act)
                except UnwritableError as error:
                    self._go_to_memory(error)
                except _RUINED as error:
                    if _code(error) in _BUSY:
                        raise Busy(self.path) from None
                    recover(error)
            return _within(self._opened(), begin, act)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and not self._is_current():
            self.close()
            self.renewals += 1
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _is_current(self) -> bool:
        """Returns whether the file is still the one that was opened: it may have been deleted meanwhile."""
        if self._inode is None:  # in memory: to stay, unless there was no store yet
            return self.why_in_memory is not None or not os.path.isdir(self.root)
        try:
            return os.lstat(self.path).st_ino == self._inode
        except OSError:
            return False

    def _open(self) -> sqlite3.Connection:
        """OtherVersionError and other database errors for a file to be thrown away; UnwritableError for one to do without."""
        self._inode = None
        if not os.path.isdir(self.root):
            return _prepared(_connected(":memory:"))
        try:
            directory = directory_in(self.root, DIRECTORY)
        except Error:
            raise UnwritableError(f"{self.root}/{DIRECTORY} is not a plain directory") from None
        path = f"{directory}/{NAME}"
        try:
            make_directories(directory)
            for name in (JOURNAL, NAME):  # SQLite opens both, and would wait for a FIFO for ever
                _clear_away(f"{directory}/{name}")
            descriptor = open_checked(path, os.O_RDWR | os.O_CREAT)
            try:
                self._inode = os.fstat(descriptor).st_ino
            finally:
                close_quietly(descriptor)
        except Error:
            raise UnwritableError("its file cannot be written") from None
        except OSError as error:
            raise UnwritableError(error.strerror or str(error)) from None
        return _prepared(_connected(path))

    def _start_anew(self, error: Exception) -> None:
        """Throw away what is ruined; nothing is wrong with what the disk only does not take."""
        if _code(error) in _UNWRITABLE:
            self._go_to_memory(error)
            return
        self.close()
        for name in (JOURNAL, NAME):
            with suppress(OSError):  # a directory in its place, a read-only disk: it is done without
                os.unlink(f"{self.root}/{DIRECTORY}/{name}")
        self.renewals += 1
        self.is_damage_untold = not isinstance(error, OtherVersionError)

    def _go_to_memory(self, error: Exception) -> None:
        """Do without a file, with what it holds, as far as that can be read."""
        self.close()
        self.renewals += 1
        self._inode = None
        self.why_in_memory = str(error) or "its file is damaged and cannot be replaced"
        self._connection = self._copied() or _prepared(_connected(":memory:"))

    def _copied(self) -> sqlite3.Connection | None:
        from urllib.parse import quote

        copy = _connected(":memory:")
        try:
            if stat.S_ISREG(os.lstat(self.path).st_mode) and os.path.realpath(self.path) == self.path:
                uri = f"file:{quote(os.fsencode(self.path))}?mode=ro"
                there = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS)
                try:
                    there.backup(copy)
                finally:
                    there.close()
                return _prepared(copy)
        except (OSError, sqlite3.Error):
            pass
        copy.close()
        return None


def _within(connection: sqlite3.Connection, begin: str, act: Callable[[sqlite3.Connection], Value]) -> Value:
    connection.execute(begin)
    try:
        done = act(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    return done


class _ClosingConnection(sqlite3.Connection):
    """Closed when nothing refers to it any more: a command ends without closing what it asked. Python 3.13 would warn of it."""

    _never_opened = sqlite3.ProgrammingError
    """Known to the class: when the interpreter ends, what the module knows may be gone already."""

    def __del__(self) -> None:
        try:
            self.close()
        except self._never_opened:
            return


def _connected(path: str) -> sqlite3.Connection:
    # Several threads of one server share it, one at a time.
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=_ClosingConnection
    )
    try:
        for pragma in (
            "trusted_schema = OFF",
            "secure_delete = ON",
            f"cache_size = -{_CACHE_KIB}",
            "synchronous = NORMAL",
            "mmap_size = 0",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        if not _is_ours(connection):
            _within(connection, "BEGIN IMMEDIATE", _make)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection) -> bool:
    found = [connection.execute(f"PRAGMA {each}").fetchone()[0] for each in ("application_id", "user_version")]
    return found == [_APPLICATION_ID, _VERSION]


def _make(connection: sqlite3.Connection) -> None:
    if _is_ours(connection):  # another process was first
        return
    if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
        raise OtherVersionError
    for statement in filter(str.strip, _SCHEMA.split(";\n")):
        connection.execute(statement)
    # No number of one file means a note in its successor.
    connection.execute("INSERT INTO sqlite_sequence VALUES ('notes', ?)", (time.time_ns() // 1_000_000,))
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _clear_away(path: str) -> None:
    """Remove a link, FIFO, device or empty directory where the file belongs: whatever is in our directory may go."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        with suppress(OSError):  # of a full one the database is kept in memory
            os.rmdir(path)
    elif not stat.S_ISREG(mode):
        os.unlink(path)


def _code(error: Exception) -> int:
    """SQLite's primary code of an error; that of plain damage where it has none."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


# -- notes, followed --------------------------------------------------------------------------------------------------
# The notes of both directories, listed and followed: only a file that looks different than the database knows it is read, a
# batch at a time.
#
# `topics/` is flat. A directory, link or special file there that looks like a note is reported, never followed or descended into:
# what lies deeper would be loaded into every agent's context without the person having put it there (P21). Hidden names and
# files that are not `.md` are other programs' business.
#
# Each batch is one transaction: whoever is killed leaves what was committed, and the next one goes on from there.


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
_KEPT_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")


class FollowedFiles:
    """The files of the notes of one database. One object may be asked by several threads."""

    max_age_seconds = 0.0
    """A look at a directory of so long ago will do, unless a name came, went or was given to another file since: for a process
    that lives on. 0 looks each time."""

    def __init__(self, database: StoreDatabase) -> None:
        self.database = database
        self.root = database.root
        self._looks: dict[str, tuple[float, int, DirectoryLook]] = {}
        self._known: dict[str, Mapping[str, tuple[int | None, Seen]]] = {}
        """What was seen last, by kind and path, with how it looked; None for what is read each time."""

    # -- listings: a file that cannot be read hides no other; StoreIo or PathRefused for a directory that cannot be listed ---

    def live(self) -> Listing:
        """Returns every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""
        look = self._look(TOPICS)
        return _one_an_id([*self._seen(TOPICS, look.files), *look.odd, *self._unseen(look.directories)])

    def archived(self) -> Listing:
        """Returns the newest archived file of each id: its retired entry, else the newest of its versions."""
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
        names = names_below(self.root, directory, lambda name: _KEPT_VERSION.fullmatch(name) is not None)
        return tuple(sorted((f"{directory}/{name}" for name in names), key=version_ms))

    def look_again(self) -> None:
        """The next look is a new one, whatever the age of the last: something is to be written here, or was."""
        self._looks.clear()

    def _look(self, directory: str) -> DirectoryLook:
        now, changed_ns, last = time.monotonic(), self._changed_ns(directory), self._looks.get(directory)
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
                seen = known.get(path)
                if seen is None:
                    look = look_at_file(self.root, path)
                    seen = self._read(path).seen if isinstance(look, int) else look
                if seen is not None:
                    yield seen
                if isinstance(seen, Listed):
                    break

    def _unseen(self, directories: Iterable[str]) -> Iterator[UnreadableFile]:
        for path in directories:
            try:
                may_hold_notes = any(name.endswith(NOTE_ENDING) for name in os.listdir(f"{self.root}/{path}"))
            except OSError:
                may_hold_notes = True
            if may_hold_notes:
                yield UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))

    def _seen(self, kind: str, files: Mapping[str, int]) -> list[Seen]:
        """Returns what these files hold, by how each looks."""
        known = self._known.get(kind)
        if known is None:
            try:
                known = self.database.read(lambda connection: _known_of(connection, kind))
            except Busy:
                known = {}
        unread = [path for path, look in files.items() if path not in known or known[path][0] != look]
        now = {path: known[path] for path in files if path in known}
        while unread:
            some = list(self._batch(unread, files, math.inf))
            unread = unread[len(some) :]
            now.update((each.path, (each.look, seen)) for each in some if (seen := each.seen) is not None)
            with suppress(Busy):  # what another process hinders is read again next time
                self._put([each for each in some if each.hash is not None])
        if kind == _VERSIONS:
            with suppress(Busy):
                self._put([ReadFile(path) for path in known.keys() - files.keys()])
        self._known[kind] = now
        return [seen for _, seen in now.values()]

    # -- the index ----------------------------------------------------------------------------------------------------

    def refresh(self, patience_seconds: float = math.inf, left: Left | None = None) -> Refreshed:
        """Take in what changed, the newest first, as far as time allows. StoreIo or PathRefused where a directory cannot be
        listed."""

        looks = (self._look(directory) for directory in (TOPICS, ARCHIVE))
        files = {path: look for each in looks for path, look in each.files.items() if is_text(path)}
        sql = "SELECT path, look FROM files INDEXED BY files_look WHERE archived < 2"
        known = self.database.read(lambda connection: dict(connection.execute(sql).fetchall()))
        others = [path for path, look in files.items() if known.get(path) != look]
        # What is gone, then the others, the newest first.
        paths = [*sorted(known.keys() - files.keys()), *sorted(others, key=self._changed_ns, reverse=True)]
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
        notes = self.database.read(lambda connection: connection.execute("SELECT count(*) FROM notes").fetchone()[0])
        notices = list[str]()
        if (why := self.database.why_in_memory) is not None:
            notices.append(f"The index is kept in memory only and rebuilt each time: {why}.")
        if paths:
            pending = counted(len(paths), "changed file is", "changed files are")
            notices.append(f"{pending} not in the index yet; the next search adds more.")
        if unreadable:
            words = ("file was not searched, since it", "files were not searched, since they")
            notices.append(f"{counted(unreadable, *words)} could not be read; `memory doctor` says more.")
        return Refreshed(int(notes), read, removed, len(paths), unreadable, tuple(notices))

    def _changed_ns(self, path: str) -> int:
        try:
            return os.lstat(f"{self.root}/{path}").st_mtime_ns
        except OSError:
            return 0

    # -- reading and keeping ------------------------------------------------------------------------------------------

    def _batch(self, paths: Sequence[str], files: Mapping[str, int], deadline: float) -> Iterator[ReadFile]:
        """Yields the first of these files, read."""
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
        """Returns how many were new, and how many went. Busy while another process writes."""
        if not some or self.database.read(lambda connection: all(_is_known(connection, each) for each in some)):
            return 0, 0
        from agent_memory.store.taking_in import Batch  # most commands find that nothing changed

        return self.database.write(lambda connection: Batch(connection, self.root).put(some))


def version_ms(path: str) -> int:
    """Returns the time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def _one_an_id(seen: Sequence[Seen]) -> Listing:
    """Sorted by path."""
    by_id: dict[str, list[Listed]] = {}
    problems = [each for each in seen if isinstance(each, UnreadableFile)]
    for each in seen:
        if isinstance(each, Listed):
            by_id.setdefault(each.meta.id, []).append(each)
    for id, same in by_id.items():
        if len(same) > 1:
            same.sort(key=lambda each: standing(each.provisional_id, each.meta.id, each.path))
            first, *others = same
            problems += (UnreadableFile(each.path, (f"it has the id {id}, as has {first.path}",)) for each in others)
    entries = (same[0] for same in by_id.values())
    return Listing(tuple(sorted(entries, key=_path)), tuple(sorted(problems, key=_path)))


def _known_of(connection: sqlite3.Connection, kind: str) -> dict[str, tuple[int | None, Seen]]:
    """Returns what the database knows of the files of a kind, secret ones left out."""
    sql = "SELECT path, look, listed, problems FROM files WHERE archived = ? AND NOT secret"
    rows = connection.execute(sql, (_KINDS.index(kind),)).fetchall()
    notes = iter(parse_listed([listed for _, _, listed, _ in rows if listed is not None]))
    return {
        path: (look, next(notes) if listed is not None else UnreadableFile(path, tuple(problems.split("\n"))))
        for path, look, listed, problems in rows
    }


def _is_known(connection: sqlite3.Connection, read: ReadFile) -> bool:
    row = connection.execute("SELECT look, hash FROM files WHERE path = ?", (read.path,)).fetchone()
    return (row is None and read.hash is None) or row == (read.look, read.hash)
