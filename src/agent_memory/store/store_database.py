"""The database file, `.cache/store.db`: opening, creating, discarding it, or working without it.

It uses a rollback journal, not a write-ahead log: that needs memory shared between processes, which a network home
lacks. The journal is truncated, not removed, so that a process still writing to a discarded file does not touch the
journal of its successor. A ruined file (damage, another version, another program's) is rebuilt once a call; if it
cannot be written, its contents are copied into memory, for the lifetime of the object.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
import unicodedata
from _thread import RLock
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import TypeVar
from zlib import crc32

from agent_memory.errors import Busy, EntryUnreadable, Error, PathRefused, StoreIo
from agent_memory.files.durable import make_directories
from agent_memory.files.paths import close_quietly, directory_in, names_below, open_checked
from agent_memory.note import TERMS_VERSION
from agent_memory.note.file_name import NOTE_ENDING
from agent_memory.note.note import Listed, Listing, UnreadableFile
from agent_memory.store.note_files import (
    ARCHIVE,
    LISTED_LAYOUT,
    MAX_FILE_BYTES,
    TOPICS,
    DirectoryListing,
    ReadFile,
    Seen,
    is_text,
    list_directory,
    parse_listed,
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
"""The longest wait for another process."""

_APPLICATION_ID = 0x61676D6D
"""Marks our files, for other programs."""
_SCHEMA = """
    CREATE TABLE files (
        path TEXT PRIMARY KEY, look INTEGER, hash TEXT, number INTEGER UNIQUE, id TEXT, archived INTEGER NOT NULL,
        provisional INTEGER NOT NULL, secret INTEGER NOT NULL, listed TEXT, problems TEXT, facts BLOB
    ) WITHOUT ROWID;
    CREATE INDEX files_look ON files (path, look);
    CREATE INDEX files_id ON files (id, archived);
    CREATE TABLE notes (
        number INTEGER PRIMARY KEY AUTOINCREMENT, archived INTEGER NOT NULL, length INTEGER NOT NULL
    );
    CREATE TABLE names (name TEXT, number INTEGER, rank INTEGER, PRIMARY KEY (name, rank, number)) WITHOUT ROWID;
    CREATE INDEX names_number ON names (number);
    CREATE TABLE places (session TEXT, turn INTEGER, number INTEGER);
    CREATE INDEX places_session ON places (session, turn);
    CREATE INDEX places_number ON places (number);
    CREATE TABLE links (source INTEGER, target TEXT, relation TEXT, PRIMARY KEY (source, target, relation)) WITHOUT ROWID;
    CREATE INDEX links_target ON links (target);
    CREATE TABLE vectors (number INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
    CREATE VIRTUAL TABLE terms USING fts5(title, text, TOKENS);
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, row);
    CREATE VIRTUAL TABLE occurrences USING fts5vocab(terms, instance);
    CREATE TABLE histories (
        number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, look INTEGER NOT NULL, harness TEXT, session TEXT,
        branch TEXT, ended_ms INTEGER, first_words TEXT, places TEXT, problem TEXT
    );
    CREATE TABLE told (path TEXT PRIMARY KEY, look INTEGER NOT NULL, sessions TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE turns (number INTEGER PRIMARY KEY, length INTEGER NOT NULL);
    CREATE VIRTUAL TABLE said USING fts5(text, TOKENS);
    CREATE VIRTUAL TABLE said_vocabulary USING fts5vocab(said, row);
    CREATE VIRTUAL TABLE said_occurrences USING fts5vocab(said, instance);
""".replace("TOKENS", """tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\\]^_`{|}~'" """)
"""`files` has every file of a note, live or archived: notes, secret ones without their text, and unreadable files.
`facts` is what an examination keeps of the text. `notes` and the tables with its numbers have those that may be found."""
_VERSION = crc32(repr((4, _SCHEMA, TERMS_VERSION, LISTED_LAYOUT, unicodedata.unidata_version)).encode()) & 0x7FFFFFFF
_MERGES = "INSERT INTO terms (terms) VALUES ('optimize')", "INSERT INTO said (said) VALUES ('optimize')"
"""Else FTS5 keeps the words of a deleted row until it merges."""
_CACHE_KIB = 16_384

_BUSY = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_UNWRITABLE = frozenset(
    (
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PROTOCOL),
    )
)
_RUINED = (sqlite3.DatabaseError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError)
"""Errors from reading a damaged database. The code of `sqlite3.DatabaseError` tells other causes apart."""

Value = TypeVar("Value")


class OtherVersionError(sqlite3.DatabaseError):
    """The file is whole, as far as we know, but belongs to another version or another program."""


class UnwritableError(Exception):
    """There cannot be a file, or it cannot be written; the message says why."""


class StoreDatabase:
    """A database of a real root; for use by several threads."""

    def __init__(self, root: str, name: str = NAME) -> None:
        self.root = root
        self._names = f"{name}-journal", name
        self.renewals = 0
        """How often it was rebuilt: earlier numbers then mean nothing."""
        self.why_in_memory: str | None = None
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        """The open file's; None in memory."""
        self.is_damage_untold = False
        """It was rebuilt because of damage, and nobody was told yet."""
        self._lock = RLock()

    @property
    def path(self) -> str:
        return f"{self.root}/{DIRECTORY}/{self._names[1]}"

    def read(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """Returns the result of `act`, which sees a single moment. Raises Busy if another process works too long."""
        return self._run(act, "BEGIN")

    def write(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """Returns the result of `act`, which changes all or nothing; one process at a time."""
        return self._run(act, "BEGIN IMMEDIATE")

    def read_current(self, act: Callable[[sqlite3.Connection], Value], refresh: Callable[[], object]) -> Value:
        """Returns the result of `read`; if the database proves to be damaged, that of its successor once `refresh` has
        filled it."""
        renewals = self.renewals
        answer = self.read(act)
        if self.renewals == renewals:
            return answer
        refresh()
        return self.read(act)

    def scrub(self) -> None:
        """Writes the file anew without what was taken out. Raises Busy, UnwritableError or a database error."""
        self.write(lambda connection: [connection.execute(each) for each in _MERGES])
        with self._lock:
            if self.why_in_memory is not None:
                raise UnwritableError(self.why_in_memory)
            self._open_if_needed().execute("VACUUM")

    def close(self) -> None:
        """Closes the file; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _run(self, act: Callable[[sqlite3.Connection], Value], begin: str) -> Value:
        with self._lock:
            for recover in (self._rebuild, self._use_memory):
                try:
                    return _in_transaction(self._open_if_needed(), begin, act)
                except UnwritableError as error:
                    self._use_memory(error)
                except _RUINED as error:
                    if _code(error) in _BUSY:
                        raise Busy(self.path) from None
                    recover(error)
            return _in_transaction(self._open_if_needed(), begin, act)

    def _open_if_needed(self) -> sqlite3.Connection:
        if self._connection is not None and not self._is_current():
            self.close()
            self.renewals += 1
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _is_current(self) -> bool:
        """Returns whether the open file still exists under its name."""
        if self._inode is None:  # it stays in memory, unless there was no store yet
            return self.why_in_memory is not None or not os.path.isdir(self.root)
        try:
            return os.lstat(self.path).st_ino == self._inode
        except OSError:
            return False

    def _open(self) -> sqlite3.Connection:
        """Raises OtherVersionError or other database errors for a file to discard, UnwritableError if none can be used."""
        self._inode = None
        if not os.path.isdir(self.root):
            return _prepare(_connect(":memory:"))
        try:
            directory = directory_in(self.root, DIRECTORY)
        except Error:
            raise UnwritableError(f"{self.root}/{DIRECTORY} is not a plain directory") from None
        path = self.path
        try:
            make_directories(directory)
            for name in self._names:  # SQLite opens both, and would wait forever for a FIFO
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
        return _prepare(_connect(path))

    def _rebuild(self, error: Exception) -> None:
        """Discards a ruined file; a file that the disk only cannot write is fine."""
        if _code(error) in _UNWRITABLE:
            self._use_memory(error)
            return
        self.close()
        for name in self._names:
            with suppress(OSError):  # a directory in its place, a read-only disk: we work without it
                os.unlink(f"{self.root}/{DIRECTORY}/{name}")
        self.renewals += 1
        self.is_damage_untold = not isinstance(error, OtherVersionError)

    def _use_memory(self, error: Exception) -> None:
        """Continues without a file, with its contents as far as they can be read."""
        self.close()
        self.renewals += 1
        self._inode = None
        self.why_in_memory = str(error) or "its file is damaged and cannot be replaced"
        self._connection = self._copy_to_memory() or _prepare(_connect(":memory:"))

    def _copy_to_memory(self) -> sqlite3.Connection | None:
        from urllib.parse import quote

        copy = _connect(":memory:")
        try:
            if stat.S_ISREG(os.lstat(self.path).st_mode) and os.path.realpath(self.path) == self.path:
                uri = f"file:{quote(os.fsencode(self.path))}?mode=ro"
                there = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS)
                try:
                    there.backup(copy)
                finally:
                    there.close()
                return _prepare(copy)
        except (OSError, sqlite3.Error):
            pass
        copy.close()
        return None


def _in_transaction(connection: sqlite3.Connection, begin: str, act: Callable[[sqlite3.Connection], Value]) -> Value:
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
    """Closes itself when nothing refers to it any more: a command ends without closing it, and Python 3.13 would warn."""

    _never_opened = sqlite3.ProgrammingError
    """Kept in the class: at interpreter shutdown the module's names may be gone."""

    def __del__(self) -> None:
        try:
            self.close()
        except self._never_opened:
            return


def _connect(path: str) -> sqlite3.Connection:
    # Threads of a server share it, one at a time.
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=_ClosingConnection
    )
    try:
        for pragma in (
            "trusted_schema = OFF",
            "secure_delete = ON",
            f"cache_size = -{_CACHE_KIB}",
            "page_size = 8192",
            "synchronous = NORMAL",
            "mmap_size = 0",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        if not _is_ours(connection):
            _in_transaction(connection, "BEGIN IMMEDIATE", _make)
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
    # Numbers of one file mean nothing in its successor.
    connection.execute("INSERT INTO sqlite_sequence VALUES ('notes', ?)", (time.time_ns() // 1_000_000,))
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _clear_away(path: str) -> None:
    """Removes a link, FIFO, device or empty directory in the file's place: anything in our directory may go."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        with suppress(OSError):  # a full one stays, and the database is kept in memory
            os.rmdir(path)
    elif not stat.S_ISREG(mode):
        os.unlink(path)


def _code(error: Exception) -> int:
    """Returns SQLite's primary code of an error, or that of plain damage."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


# Lists the notes of both directories, and reads only files whose stat values are new, a batch at a time.
#
# `topics/` is flat. A directory, link or special file there that looks like a note is reported, never followed or entered:
# deeper files would get into every agent's context without the person having put them there (P21). Hidden names and files that
# are not `.md` belong to other programs.
#
# Each batch is one transaction: a killed process leaves what it committed, and the next one continues.


_GRAIN_NS = 2_000_000_000
"""The coarsest clock of a file system (FAT): a file written less than this before it was read may change unnoticed."""
_BATCH, _BATCH_CHARS = 500, 1 << 18
"""The limits of files, and of characters in them, for one transaction, which are in memory at once."""
_KEPT_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")


class FollowedFiles:
    """The files of the notes of one database; for use by several threads."""

    directories: Sequence[str] = (TOPICS, ARCHIVE)
    """Live notes, then others."""
    max_bytes = MAX_FILE_BYTES
    most_at_once: int | None = None
    """How many changed files one `refresh` reads; the next goes on."""

    def __init__(self, database: StoreDatabase) -> None:
        self.database = database
        self.root = database.root
        self._known: dict[str, Mapping[str, tuple[int | None, Seen]]] = {}
        """The last state by kind and path, with its `look_of`; None for what is always read again."""
        self._live: tuple[DirectoryListing | None, Sequence[Seen], Listing] = None, (), Listing(())
        """What `live` looked at and saw last, and what it made of that."""
        self.held: dict[str, DirectoryListing] | None = None
        """What the directories hold, while somebody looks at a single moment."""

    # -- listings: an unreadable file hides no other; StoreIo or PathRefused for an unreadable directory ---------------

    def live(self) -> Listing:
        """Returns every live note, by path. Of two files with one id one is the note; the other is reported."""
        listing = self._look_at(self.directories[0])
        looked, seen, made = self._live
        if listing is not looked:
            now = [*self._seen(TOPICS, listing.files), *listing.odd, *self._unseen(listing.directories)]
            self._live = listing, now, made if now == seen else _one_per_id(now)
        return self._live[2]

    def archived(self, live: Listing | None = None) -> Listing:
        """Returns every retired note, and of each id that is neither live nor retired the newest version. A version is in
        a directory of its note; a file directly in the archive is a note, whatever else has its id. `live` is what was
        listed just now, if anything."""
        listing = self._look_at(ARCHIVE)
        seen = self._seen(ARCHIVE, listing.files)
        known = {*(live or self.live()).by_id, *(each.meta.id for each in seen if isinstance(each, Listed))}
        ids = {path: id for path in listing.directories if is_id(id := path.rpartition("/")[2])}
        for id in {*ids.values()} - known:
            seen += self._newest_version(id)
        others = self._unseen(path for path in listing.directories if path not in ids)
        return _one_per_id([*seen, *listing.odd, *others])

    def _look_at(self, directory: str) -> DirectoryListing:
        held = {} if self.held is None else self.held
        if directory not in held:
            held[directory] = list_directory(self.root, directory)
        return held[directory]

    def versions(self, id: str) -> tuple[str, ...]:
        """Returns the paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        names = names_below(self.root, directory, lambda name: _KEPT_VERSION.fullmatch(name) is not None)
        return tuple(sorted((f"{directory}/{name}" for name in names), key=version_ms))

    def newest_version(self, id: str) -> Listing:
        """Returns the newest archived version of an id that can be read, and those after it that cannot."""
        return _one_per_id([*self._newest_version(id)])

    def _newest_version(self, id: str) -> Iterator[Seen]:
        for path in reversed(self.versions(id)):
            seen = self._read(path).seen
            if seen is not None:
                yield seen
            if isinstance(seen, Listed):
                break

    # -- what an examination keeps of live notes ----------------------------------------------------------------------

    def facts(self) -> dict[tuple[str, str], bytes]:
        """Returns what is kept by path and content hash; nothing while another process works too long."""
        sql = "SELECT path, hash, CAST(facts AS BLOB) FROM files WHERE archived = 0 AND facts IS NOT NULL"
        try:
            rows = self.database.read(lambda connection: connection.execute(sql).fetchall())
        except Busy:
            return {}
        return {(path, hash): facts for path, hash, facts in rows}

    def put_facts(self, facts: Mapping[tuple[str, str], bytes]) -> None:
        """Keeps these until the file changes. Raises Busy while another process writes."""
        sql = "UPDATE files SET facts = ? WHERE path = ? AND hash = ?"
        rows = [(each, *key) for key, each in facts.items()]
        if rows:
            self.database.write(lambda connection: connection.executemany(sql, rows))

    def _unseen(self, directories: Iterable[str]) -> Iterator[UnreadableFile]:
        for path in directories:
            try:
                may_hold_notes = any(name.endswith(NOTE_ENDING) for name in os.listdir(f"{self.root}/{path}"))
            except OSError:
                may_hold_notes = True
            if may_hold_notes:
                yield UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))

    def _seen(self, kind: str, files: Mapping[str, int]) -> list[Seen]:
        """Returns the contents of these files, by their `look_of`."""
        known = self._known.get(kind)
        if known is None:
            try:
                known = self.database.read(lambda connection: _known_files(connection, kind))
            except Busy:
                known = {}
        unread = [path for path, look in files.items() if path not in known or known[path][0] != look]
        now = {path: each for path, each in known.items() if path in files}
        for some, _ in self._taken_in(unread, files):
            now.update((each.path, (each.look, seen)) for each in some if (seen := each.seen) is not None)
        self._known[kind] = now
        return [seen for _, seen in now.values()]

    # -- the index ----------------------------------------------------------------------------------------------------

    def refresh(self) -> tuple[str, ...]:
        """Brings the index into line with the files, however long that takes; returns sentences for the person. Raises
        StoreIo or PathRefused if a directory cannot be listed."""
        looks = map(self._look_at, self.directories)
        files = {path: look for each in looks for path, look in each.files.items() if is_text(path)}
        sql = "SELECT path, look FROM files INDEXED BY files_look"
        known = self.database.read(lambda connection: dict(connection.execute(sql).fetchall()))
        changed = [path for path, look in files.items() if known.get(path) != look]
        due = [*sorted(known.keys() - files.keys()), *sorted(changed, key=lambda path: (path in known, path))]
        pending = unreadable = 0
        for some, is_stored in self._taken_in(due[: self.most_at_once], files):
            unreadable += sum(each.is_unread for each in some)  # tried again each time
            pending += 0 if is_stored else len(some)
        notices = list[str]()
        if (why := self.database.why_in_memory) is not None:
            notices.append(f"The index is kept in memory only and rebuilt each time: {why}.")
        if pending:
            waiting = counted(pending, "changed file is", "changed files are")
            notices.append(f"{waiting} not in the index yet, since another process is writing to it.")
        if unreadable:
            words = ("file was not searched, since it", "files were not searched, since they")
            notices.append(f"{counted(unreadable, *words)} could not be read; `memory doctor` says more.")
        return tuple(notices)

    def take_out(self, paths: Collection[str]) -> None:
        """Takes these files out of the index, and all that are gone. Raises Busy."""
        known = self.database.read(lambda connection: connection.execute("SELECT path FROM files").fetchall())
        gone = (path for (path,) in known if path in paths or not os.path.lexists(f"{self.root}/{path}"))
        self._put([ReadFile(path) for path in gone])

    # -- reading and storing ------------------------------------------------------------------------------------------

    def _taken_in(self, paths: Sequence[str], files: Mapping[str, int]) -> Iterator[tuple[Sequence[ReadFile], bool]]:
        """Yields these files, read and stored a batch at a time, and whether they could be stored: what another process
        blocks is read again next time."""
        while paths:
            some, chars = list[ReadFile](), 0
            while len(some) < min(len(paths), _BATCH) and chars <= _BATCH_CHARS:
                path = paths[len(some)]
                some.append(self._read(path) if path in files else ReadFile(path))
                chars += 0 if (stored := some[-1].stored) is None else len(stored.body)
            paths = paths[len(some) :]
            try:
                self._put([each for each in some if not each.is_unread])
            except Busy:
                yield some, False
            else:
                yield some, True

    def _read(self, path: str) -> ReadFile:
        if not is_text(path):
            return ReadFile(path, trouble=unnameable(path))
        read_at_ns = time.time_ns()
        try:
            image = read_image(self.root, path, self.max_bytes)
        except (PathRefused, StoreIo) as error:
            return ReadFile(path, trouble=unreadable(path, error))
        if image is None:
            return ReadFile(path)
        look = image.look if image.touched_ns + _GRAIN_NS <= read_at_ns else None
        try:
            stored = understand(path, image.data, image.mtime_ns)
        except EntryUnreadable as error:
            return ReadFile(path, look, content_hash(image.data), trouble=unreadable(path, error))
        is_secret = stored.meta.is_secret  # read each time: none of its text is stored
        return ReadFile(path, None if is_secret else look, content_hash(image.data), stored)

    def _put(self, some: Sequence[ReadFile]) -> None:
        """Stores what is known of these files. Raises Busy while another process writes."""
        if not some or self.database.read(lambda connection: all(_is_known(connection, each) for each in some)):
            return
        from agent_memory.store.index_batch import Batch  # most commands find nothing changed

        self.database.write(lambda connection: Batch(connection, self.root).put(some))


def version_ms(path: str) -> int:
    """Returns the time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def _one_per_id(seen: Sequence[Seen]) -> Listing:
    by_id, others = dict[str, Listed](), list[Listed]()
    problems = [each for each in seen if isinstance(each, UnreadableFile)]
    for each in seen:
        if isinstance(each, Listed) and (first := by_id.setdefault(each.meta.id, each)) is not each:
            same = sorted((first, each), key=lambda one: standing(one.provisional_id, one.meta.id, one.path))
            by_id[each.meta.id] = same[0]
            others.append(same[1])
    for each in others:
        reason = f"it has the id {each.meta.id}, as has {by_id[each.meta.id].path}"
        problems.append(UnreadableFile(each.path, (reason,)))
    return Listing(tuple(sorted(by_id.values(), key=_path)), tuple(sorted(problems, key=_path)))


def _known_files(connection: sqlite3.Connection, kind: str) -> dict[str, tuple[int | None, Seen]]:
    sql = "SELECT path, look, listed, problems FROM files WHERE archived = ? AND NOT secret"
    rows = connection.execute(sql, (kind == ARCHIVE,)).fetchall()
    return {
        path: (look, parse_listed(listed) if listed is not None else UnreadableFile(path, tuple(problems.split("\n"))))
        for path, look, listed, problems in rows
    }


def _is_known(connection: sqlite3.Connection, read: ReadFile) -> bool:
    row = connection.execute("SELECT look, hash FROM files WHERE path = ?", (read.path,)).fetchone()
    return (row is None and read.hash is None) or row == (read.look, read.hash)
