"""The file of the index, `.cache/search/index.db`: one SQLite database, opened, made, thrown away, or done without.

A rollback journal and not a log beside it: that needs no memory shared between processes, which a home on a network does
not have. The journal is cut off rather than removed, so that whoever still writes to an index that was thrown away does
not touch the journal of its successor. Where the file cannot be written, what it holds is copied into memory.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import unicodedata
from collections.abc import Generator
from contextlib import contextmanager, suppress

from returns.result import Failure, Success

from agent_memory.adapters.disk.durable import make_directories
from agent_memory.adapters.disk.paths import close_quietly, directory_inside, open_regular
from agent_memory.adapters.index.facts import put_first_facts
from agent_memory.adapters.index.seals import OtherLayoutError, RuinedIndexError
from agent_memory.digests import sha256
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.terms import TERMS_VERSION
from agent_memory.formats.listed_json import LISTED_LAYOUT
from agent_memory.values import define

DIRECTORY = ".cache/search"
NAME = "index.db"
JOURNAL = "index.db-journal"
WAIT_SECONDS = 1.0
"""No search waits longer for another process."""

_LAYOUT_VERSION = 5
_PAGE_BYTES = 16_384
"""The postings of a frequent word are a few pages, each a system call: of SQLite's usual 4,096 bytes there are too many."""
_CACHE_KIB = 24_576
"""What one batch changes stays in memory until it is committed: until then, who searches is not kept out."""

_SCHEMA = """
    CREATE TABLE about (name TEXT PRIMARY KEY, value BLOB, seal INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE files (
        path TEXT PRIMARY KEY, look INTEGER, content_hash TEXT NOT NULL, mtime_ns INTEGER NOT NULL, number INTEGER,
        shadowed_by TEXT, seal INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX looks ON files (look);
    CREATE INDEX shadowed ON files (shadowed_by) WHERE shadowed_by IS NOT NULL;
    CREATE TABLE notes (number INTEGER PRIMARY KEY, terms TEXT NOT NULL, listed TEXT NOT NULL, seal INTEGER NOT NULL);
    CREATE TABLE relations (number INTEGER PRIMARY KEY, said TEXT NOT NULL, seal INTEGER NOT NULL);
    CREATE TABLE vectors (
        block INTEGER PRIMARY KEY, numbers BLOB NOT NULL, squares BLOB NOT NULL, unit_sum BLOB NOT NULL,
        rows BLOB NOT NULL, seal INTEGER NOT NULL
    );
    CREATE TABLE segments (
        id INTEGER PRIMARY KEY, first INTEGER NOT NULL, notes INTEGER NOT NULL, numbers BLOB, lengths BLOB NOT NULL,
        length_sums TEXT NOT NULL, terms INTEGER NOT NULL, ties TEXT NOT NULL, archived BLOB NOT NULL,
        private BLOB NOT NULL, seal INTEGER NOT NULL
    );
    CREATE TABLE dead (segment INTEGER PRIMARY KEY, marks BLOB NOT NULL, seal INTEGER NOT NULL);
    CREATE TABLE updates (segment INTEGER PRIMARY KEY, at_ms BLOB NOT NULL, seal INTEGER NOT NULL);
    CREATE TABLE postings (
        segment INTEGER, term TEXT, df INTEGER NOT NULL, seal INTEGER NOT NULL, grouped BLOB NOT NULL,
        PRIMARY KEY (segment, term)
    ) WITHOUT ROWID;
    CREATE TABLE vocabulary (
        segment INTEGER, first TEXT, after TEXT, seal INTEGER NOT NULL, terms TEXT NOT NULL, dfs BLOB NOT NULL,
        PRIMARY KEY (segment, first)
    ) WITHOUT ROWID;
    CREATE TABLE ties (
        segment INTEGER, sort INTEGER, page INTEGER, seal INTEGER NOT NULL, entries BLOB NOT NULL,
        PRIMARY KEY (segment, sort, page)
    ) WITHOUT ROWID;
"""

_SIGNATURE = sha256(
    repr((_LAYOUT_VERSION, _SCHEMA, TERMS_VERSION, LISTED_LAYOUT, sys.byteorder, unicodedata.unidata_version)).encode()
).hexdigest()

_BUSY = frozenset((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED))
_UNWRITABLE = frozenset(
    (
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PROTOCOL),
    )
)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process was at work for longer than we wait."""
    return _primary_code(error) in _BUSY


def is_unwritable(error: sqlite3.Error) -> bool:
    """Whether the disk is full, read-only or failing: nothing is wrong with what is there."""
    return _primary_code(error) in _UNWRITABLE


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


class ClosingConnection(sqlite3.Connection):
    """Closed when nothing refers to it any more, in whatever order objects go: a command ends without closing what it asked.
    Python 3.13 would warn of it."""

    _never_opened = sqlite3.ProgrammingError
    """Known to the class: when the interpreter ends, what the module knows may be gone already."""

    def __del__(self) -> None:
        try:
            self.close()
        except self._never_opened:
            return


@define
class IndexDatabase:
    """An open index."""

    connection: sqlite3.Connection
    path: str | None
    """None where it is in memory."""
    inode: int = 0
    why_in_memory: str | None = None

    def is_current(self) -> bool:
        """Whether the file is still the one that was opened: it may have been deleted meanwhile."""
        if self.path is None:
            return True
        try:
            return os.lstat(self.path).st_ino == self.inode
        except OSError:
            return False

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """All that is asked within it is answered as of one moment."""
        with self._transaction("BEGIN"):
            yield self.connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection, None, None]:
        """All of it or nothing; one process at a time."""
        with self._transaction("BEGIN IMMEDIATE"):
            yield self.connection

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Generator[None, None, None]:
        self.connection.execute(begin)
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                with suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")
            raise


def open_index(root: str) -> IndexDatabase:
    """The index of a real root, empty where there was none, in memory where it cannot be kept.

    sqlite3.Error or RuinedIndexError for a file that is no index of this version: throw it away.
    """
    if not os.path.isdir(root):
        return in_memory(None)
    match sealed(directory_inside(root, DIRECTORY)):
        case Failure(_):
            return in_memory(f"{root}/{DIRECTORY} is not a plain directory")
        case Success(directory):
            pass
    path = f"{directory}/{NAME}"
    try:
        make_directories(directory)
    except OSError as error:
        return _in_memory_like(path, error.strerror or str(error))
    _clear_away(path)
    match sealed(open_regular(path, os.O_RDWR | os.O_CREAT)):
        case Failure(_):
            return _in_memory_like(path, "its file cannot be written")
        case Success(descriptor):
            try:
                inode = os.fstat(descriptor).st_ino
            except OSError as error:
                return _in_memory_like(path, error.strerror or str(error))
            finally:
                close_quietly(descriptor)
    database = IndexDatabase(_connected(path), path, inode)
    try:
        _prepare(database)
    except sqlite3.Error as error:
        database.close()
        if is_unwritable(error):
            return _in_memory_like(path, str(error))
        raise
    except RuinedIndexError:
        database.close()
        raise
    return database


def in_memory(why: str | None, like: sqlite3.Connection | None = None) -> IndexDatabase:
    """An index in memory, with what another one holds, as far as that can be read."""
    if like is not None:
        copy = IndexDatabase(_connected(":memory:"), None, why_in_memory=why)
        try:
            like.backup(copy.connection)
            _prepare(copy)
        except (sqlite3.Error, RuinedIndexError):
            copy.close()
        else:
            return copy
    empty = IndexDatabase(_connected(":memory:"), None, why_in_memory=why)
    _prepare(empty)
    return empty


def discard_index(root: str) -> None:
    """Throw the file away. What cannot be removed (a directory in its place, a read-only disk) is done without later."""
    for name in (JOURNAL, NAME):
        with suppress(OSError):
            os.unlink(f"{root}/{DIRECTORY}/{name}")


def _clear_away(path: str) -> None:
    """Remove a link, FIFO or device where the file belongs: whatever is in our directory may go."""
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            os.unlink(path)


def _in_memory_like(path: str, why: str) -> IndexDatabase:
    """What a file holds that may be read but not written, in memory."""
    from urllib.parse import quote

    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return in_memory(why)
        there = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True, timeout=WAIT_SECONDS)
    except (OSError, sqlite3.Error):
        return in_memory(why)
    try:
        return in_memory(why, there)
    finally:
        there.close()


def _connected(path: str) -> sqlite3.Connection:
    # Several threads of one server share it, one at a time.
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, factory=ClosingConnection
    )
    try:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file
        for pragma in ("trusted_schema = OFF", f"cache_size = -{_CACHE_KIB}", "synchronous = NORMAL", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(database: IndexDatabase) -> None:
    if _signature(database.connection) == _SIGNATURE:
        database.connection.execute("PRAGMA journal_mode = TRUNCATE")
        return
    database.connection.execute("PRAGMA journal_mode = TRUNCATE")
    with database.writing() as connection:
        found = _signature(connection)
        if found == _SIGNATURE:
            return
        if found is not None or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise OtherLayoutError
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO about VALUES ('signature', ?, 0)", (_SIGNATURE,))
        put_first_facts(connection)


def _signature(connection: sqlite3.Connection) -> str | None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'about'").fetchone() is None:
        return None
    found = connection.execute("SELECT value FROM about WHERE name = 'signature'").fetchone()
    return str(found[0]) if found else ""
