"""Reading another program's SQLite database: not a byte of it changes, and its owner never waits for us (P5, P27).

Its path is admitted like a transcript's. How it is opened depends on what lies beside it:

- a `-wal` with content, and its `-shm`: through both, which are only read (`readonly_shm`);
- nothing: without any lock (`immutable`), and read again if it changed meanwhile;
- else (a journal to roll back, a WAL without its index), or where that fails (another program's lock, a read-only place):
  a copy of the database and of what lies beside it, in a private directory. One that is over `MAX_COPY_BYTES` is opened
  as SQLite's readers do, with their locks.

Of a database over `MAX_SCANNED_BYTES` only rows that an index leads to are read: some have tens of gigabytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from attrs import field, frozen
from returns.result import Failure, Result

from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.adapters.disk.paths import known_by
from agent_memory.adapters.harness.database_copy import copied
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, transcript
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused

if TYPE_CHECKING:
    import sqlite3

MAX_COPY_BYTES = 256 * 1024 * 1024
MAX_SCANNED_BYTES = 64 * 1024 * 1024

_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_VERSIONS_AT = slice(18, 20)
_WAL_VERSION = 2
_WAIT_SECONDS = 2.0
_TRIES = 3
_WAL, _INDEX, _JOURNAL = "-wal", "-shm", "-journal"

_THROUGH_WAL = "mode=ro&readonly_shm=1"
_WITHOUT_LOCKS = "mode=ro&immutable=1"
_WITH_LOCKS = "mode=ro"
_COPIED = "mode=rw"

_RUINED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_CHANGES = "it changes all the time"

Value = TypeVar("Value")
Reads = Callable[["Database"], Result[Value, Error]]


@frozen
class TooLarge:
    """A value over 16 MiB, which was not loaded."""


class _TooLargeToScanError(Exception):
    """No index leads to the wanted rows of a large database."""


@frozen
class Database:
    """An open database, as it is at one moment. Texts come as the bytes that were written: they may be anything."""

    path: str
    size_bytes: int
    _connection: sqlite3.Connection = field(repr=False)

    def rows(self, sql: str, *parameters: object) -> Iterator[tuple[object, ...]]:
        """The rows, one at a time. Ask for what is small, keys or numbers, and by these for `value`."""
        if not self.is_led_to(sql, *parameters):
            raise _TooLargeToScanError
        return iter(self._connection.execute(sql, parameters))

    def listed(self, sql: str, *parameters: object) -> Iterator[tuple[object, ...]]:
        """The rows of a table with one row a session, one at a time. Ask for ids and instants alone."""
        # `MAX_SCANNED_BYTES` is left out of account on purpose. What makes such a database large are its messages, which
        # are in other tables; no index leads to "every session", and without the list a large one would have none.
        return iter(self._connection.execute(sql, parameters))

    def is_led_to(self, sql: str, *parameters: object) -> bool:
        """Whether the database is small, or an index leads to these rows."""
        if self.size_bytes <= MAX_SCANNED_BYTES:
            return True
        plan = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        return not any(bytes(step[3]).startswith(b"SCAN") for step in plan)

    def value(self, sql: str, *parameters: object) -> bytes | TooLarge | None:
        """The first column of the first row, as text; None where there is no row, or no value in it."""
        import sqlite3

        try:
            row = next(self.rows(sql, *parameters), None)
        except sqlite3.DataError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG:
                return TooLarge()
            raise
        value = row[0] if row else None
        return value if isinstance(value, bytes) or value is None else str(value).encode()

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; none where there is no such table."""
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(text_of(name) for (name,) in found)

    def lacks(self, columns: Mapping[str, Sequence[str]]) -> str | None:
        """The first table or column of these that is not there, in words."""
        for table, wanted in columns.items():
            there = self.columns(table)
            if not there:
                return f"it has no table {table}"
            if missing := next((column for column in wanted if column not in there), None):
                return f"its table {table} has no column {missing}"
        return None


def text_of(value: object) -> str:
    """A column's value as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def read_database(roots: TranscriptRoots, path: str, session_id: str, read: Reads[Value]) -> Result[Value, Error]:
    """What `read` makes of the database; it is called again where the first reading was in vain.

    HistoryUnavailable: missing, empty, locked, changing all the time, too large for what it would take. HistoryUnreadable:
    no SQLite database, a ruined one, or one without what `read` asks for. TranscriptRefused: see `transcript`.
    """
    with transcript(roots, path, session_id) as opened:
        if isinstance(opened, Failure):
            return opened
        file = opened.unwrap()
        try:
            return _read(file, session_id, read)
        except OSError as error:
            return Failure(HistoryUnavailable(session_id, f"{path} cannot be read: {error.strerror}"))


@frozen
class _State:
    """A database and what lies beside it, at one moment."""

    known_by: tuple[bytes | None, ...]
    wal_bytes: int
    index_bytes: int
    journal_bytes: int
    copy_bytes: int
    irregular: str | None
    """A path beside it where something else than a regular file is."""


@frozen
class _Obstacle:
    """Why one way did not work; another, or another time, may."""

    reason: str


def _read(file: OpenTranscript, session_id: str, read: Reads[Value]) -> Result[Value, Error]:
    reason = _CHANGES
    for _ in range(_TRIES):
        header = os.pread(file.descriptor, _HEADER_BYTES, 0)
        state = _state(file.path)
        if state.irregular is not None:
            return Failure(TranscriptRefused(state.irregular, "it is no regular file"))
        if not header:
            return Failure(HistoryUnavailable(session_id, f"{file.path} is empty so far", is_missing=True))
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            return Failure(HistoryUnreadable(file.path, "it is not an SQLite database"))
        for way in _ways(state, is_wal=_WAL_VERSION in header[_VERSIONS_AT]):
            found = _by(way, file, state, read)
            if not isinstance(found, _Obstacle):
                return found
            reason = found.reason
        if _state(file.path).known_by == state.known_by:
            break
    return Failure(HistoryUnavailable(session_id, f"{file.path} cannot be read now: {reason}"))


def _ways(state: _State, *, is_wal: bool) -> tuple[str, ...]:
    if state.journal_bytes or (state.wal_bytes and not state.index_bytes):
        return (_COPIED, _WITH_LOCKS)
    if state.wal_bytes and is_wal:
        return (_THROUGH_WAL, _COPIED, _WITH_LOCKS)
    return (_WITHOUT_LOCKS, _COPIED)


def _by(way: str, file: OpenTranscript, state: _State, read: Reads[Value]) -> Result[Value, Error] | _Obstacle:
    if way != _COPIED:
        found = _through(way, file.path, file, read)
        changed = way == _WITHOUT_LOCKS and _state(file.path).known_by != state.known_by
        return _Obstacle(_CHANGES) if changed else found
    if state.copy_bytes > MAX_COPY_BYTES:
        return _Obstacle(f"it would have to be copied, and is larger than {MAX_COPY_BYTES // 2**20} MiB")
    with copied(file.descriptor, file.path, (_WAL, _JOURNAL)) as copy:
        if _state(file.path).known_by != state.known_by:
            return _Obstacle(_CHANGES)
        return _through(way, copy, file, read)


def _through(way: str, path: str, file: OpenTranscript, read: Reads[Value]) -> Result[Value, Error] | _Obstacle:
    import sqlite3

    try:
        with _connected(f"file:{quote(os.fsencode(path))}?{way}") as connection:
            return read(Database(file.path, file.size_bytes, connection))
    except _TooLargeToScanError:
        return _Obstacle("it is large, and has no index that leads to the session's records")
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_RUINED):
            return Failure(HistoryUnreadable(file.path, f"the database is ruined: {error}"))
        if name == "SQLITE_ERROR":  # what was asked for is not there, or nothing that this SQLite understands
            return Failure(HistoryUnreadable(file.path, f"it cannot be asked: {error}"))
        return _Obstacle(str(error))
    except UnicodeDecodeError:  # in a message of SQLite's own, which names what is in the schema
        return Failure(HistoryUnreadable(file.path, "the database is ruined"))


@contextmanager
def _connected(uri: str) -> Generator[sqlite3.Connection, None, None]:
    import sqlite3

    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
        # A schema may call functions, and mapped memory be cut off below us: the file is not ours.
        for pragma in ("trusted_schema = OFF", "mmap_size = 0", "query_only = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


def _state(path: str) -> _State:
    found = {suffix: _status(path + suffix) for suffix in ("", _WAL, _INDEX, _JOURNAL)}
    sizes = {suffix: status.st_size if status else 0 for suffix, status in found.items()}
    irregular = (path + suffix for suffix, status in found.items() if status and not stat.S_ISREG(status.st_mode))
    # Readers write to the index: it does not tell whether the content changed.
    content = tuple(known_by(status) if status else None for suffix, status in found.items() if suffix != _INDEX)
    copy_bytes = sizes[""] + sizes[_WAL] + sizes[_JOURNAL]
    return _State(content, sizes[_WAL], sizes[_INDEX], sizes[_JOURNAL], copy_bytes, next(irregular, None))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
