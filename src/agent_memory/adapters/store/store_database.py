"""The file of the database, `.cache/store.db`: opened, made, thrown away, or done without.

A rollback journal and not a log beside it: that needs no memory shared between processes, which a home on a network does
not have. The journal is cut off rather than removed, so that whoever still writes to a file that was thrown away does not
touch the journal of its successor. A file that is ruined (damage, another version, another program's) is made anew, once a
call; where it cannot be written, what it holds is copied into memory, and lives as long as the object.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
import unicodedata
from _thread import RLock
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from zlib import crc32

from agent_memory.adapters.disk.durable import make_directories
from agent_memory.adapters.disk.paths import close_quietly, directory_in, open_checked
from agent_memory.domain.searching.terms import TERMS_VERSION
from agent_memory.errors import Busy, Error
from agent_memory.formats.listed_json import LISTED_LAYOUT

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
        number INTEGER PRIMARY KEY AUTOINCREMENT, archived INTEGER NOT NULL, private INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL, length INTEGER NOT NULL
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
        self._is_damage_untold = False
        self._lock = RLock()

    @property
    def path(self) -> str:
        """Where it is, or would be."""
        return f"{self.root}/{DIRECTORY}/{NAME}"

    def read(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """What the act gives, all of it as of one moment. Busy where another process is at work for longer than we wait."""
        return self._done(act, "BEGIN")

    def write(self, act: Callable[[sqlite3.Connection], Value]) -> Value:
        """The same for what changes it: all of that or nothing; one process at a time."""
        return self._done(act, "BEGIN IMMEDIATE")

    def has_untold_damage(self) -> bool:
        """Whether it was made anew because of damage since this was asked last."""
        is_untold, self._is_damage_untold = self._is_damage_untold, False
        return is_untold

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
        """Whether the file is still the one that was opened: it may have been deleted meanwhile."""
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
        self._is_damage_untold = not isinstance(error, OtherVersionError)

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
