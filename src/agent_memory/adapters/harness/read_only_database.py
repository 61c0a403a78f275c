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
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from attrs import field, frozen

from agent_memory.adapters.disk.durable import FILE_MODE
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES
from agent_memory.adapters.disk.paths import close_quietly, look_of
from agent_memory.adapters.harness.transcripts import (
    FILE_FLAGS,
    OpenTranscript,
    TranscriptRoots,
    history_in,
    reading,
    transcript,
)
from agent_memory.adapters.harness.turn_builder import Session
from agent_memory.domain.history import History
from agent_memory.errors import HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    import sqlite3

MAX_COPY_BYTES = 256 * 1024 * 1024
MAX_SCANNED_BYTES = 64 * 1024 * 1024

_HEADER_BYTES = 100
_CHUNK_BYTES = 1024 * 1024
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
Reads = Callable[["Database"], Value]


@frozen
class TooLarge:
    """A value over 16 MiB, which was not loaded."""


class _ObstacleError(Exception):
    """Why one way did not work; another, or another time, may."""


@frozen
class Database:
    """An open database, as it is at one moment. Texts come as the bytes that were written: they may be anything."""

    path: str
    size_bytes: int
    _connection: sqlite3.Connection = field(repr=False)

    def rows(self, sql: str, *parameters: object) -> Iterator[tuple[object, ...]]:
        """The rows, one at a time. Ask for what is small, keys or numbers, and by these for `value`."""
        if not self.is_led_to(sql, *parameters):
            raise _ObstacleError("it is large, and has no index that leads to the session's records")
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

    def exists_by_index(self, table: str, column: str, wanted: str) -> str:
        """A condition for `listed`: a row of the table has the `wanted` value in this column; always true where no index
        leads to it."""
        rows = f"SELECT 1 FROM {table} WHERE {column} ="
        return f"EXISTS ({rows} {wanted})" if self.is_led_to(f"{rows} ?", "") else "1"

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

    def text(self, sql: str, *parameters: object) -> str:
        """As `value`, empty where there is none, or one that is too large."""
        value = self.value(sql, *parameters)
        return text_of(value) if isinstance(value, bytes) else ""

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; none where there is no such table."""
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return frozenset(text_of(name) for (name,) in found)

    def must_have(self, columns: Mapping[str, Sequence[str]], harness_name: str) -> None:
        """Raises HistoryUnreadable where one of these tables or columns is not there."""
        for table, wanted in columns.items():
            there = self.columns(table)
            missing = next((column for column in wanted if column not in there), None)
            if missing is not None:
                lacking = f"its table {table} has no column {missing}" if there else f"it has no table {table}"
                raise HistoryUnreadable(self.path, f"{lacking}; {harness_name} seems to have changed: update memory")


def text_of(value: object) -> str:
    """A column's value as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def history_in_database(session: Session, database: Database) -> History:
    """As `history_in`; HistoryUnavailable for a session that the database knows, and of which it holds nothing (P6)."""
    if not session.position and not session.skipped and not session.own_call:
        nothing = f"{database.path} holds nothing of it so far"
        raise HistoryUnavailable(session.session_id, nothing, is_missing=True)
    return history_in(session, database)


def read_database(roots: TranscriptRoots, path: str, session_id: str, read: Reads[Value]) -> Value:
    """What `read` makes of the database; it is called again where the first reading was in vain.

    HistoryUnavailable: missing, empty, locked, changing all the time, too large for what it would take. HistoryUnreadable:
    no SQLite database, a ruined one, or one without what `read` asks for. TranscriptRefused: see `transcript`.
    """
    with transcript(roots, path, session_id) as file, reading(path, session_id):
        return _read(file, session_id, read)


@frozen
class _State:
    """A database and what lies beside it, at one moment."""

    known_by: tuple[int | None, ...]
    wal_bytes: int
    index_bytes: int
    journal_bytes: int
    copy_bytes: int
    irregular: str | None
    """A path beside it where something else than a regular file is."""


def _read(file: OpenTranscript, session_id: str, read: Reads[Value]) -> Value:
    reason = _CHANGES
    for _ in range(_TRIES):
        header = os.pread(file.descriptor, _HEADER_BYTES, 0)
        state = _state(file.path)
        if state.irregular is not None:
            raise TranscriptRefused(state.irregular, "it is no regular file")
        if not header:
            raise HistoryUnavailable(session_id, f"{file.path} is empty so far", is_missing=True)
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            raise HistoryUnreadable(file.path, "it is not an SQLite database")
        for way in _ways(state, is_wal=_WAL_VERSION in header[_VERSIONS_AT]):
            try:
                return _by(way, file, state, read)
            except _ObstacleError as obstacle:
                reason = str(obstacle)
        if _state(file.path).known_by == state.known_by:
            break
    raise HistoryUnavailable(session_id, f"{file.path} cannot be read now: {reason}")


def _ways(state: _State, *, is_wal: bool) -> tuple[str, ...]:
    if state.journal_bytes or (state.wal_bytes and not state.index_bytes):
        return (_COPIED, _WITH_LOCKS)
    if state.wal_bytes and is_wal:
        return (_THROUGH_WAL, _COPIED, _WITH_LOCKS)
    return (_WITHOUT_LOCKS, _COPIED)


def _by(way: str, file: OpenTranscript, state: _State, read: Reads[Value]) -> Value:
    if way != _COPIED:
        found = as_result(_through)(way, file.path, file, read)
        # What was read while it changed may be wrong, and so may be what was found wrong with it.
        if way == _WITHOUT_LOCKS and _state(file.path).known_by != state.known_by:
            raise _ObstacleError(_CHANGES)
        return unwrap(found)
    if state.copy_bytes > MAX_COPY_BYTES:
        raise _ObstacleError(f"it would have to be copied, and is larger than {MAX_COPY_BYTES // 2**20} MiB")
    with _copied(file, (_WAL, _JOURNAL)) as copy:
        if _state(file.path).known_by != state.known_by:
            raise _ObstacleError(_CHANGES)
        return _through(way, copy, file, read)


def _through(way: str, path: str, file: OpenTranscript, read: Reads[Value]) -> Value:
    import sqlite3

    try:
        with _connected(f"file:{quote(os.fsencode(path))}?{way}") as connection:
            return read(Database(file.path, file.size_bytes, connection))
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_RUINED):
            raise HistoryUnreadable(file.path, f"the database is ruined: {error}") from None
        if name == "SQLITE_ERROR":  # what was asked for is not there, or nothing that this SQLite understands
            raise HistoryUnreadable(file.path, f"it cannot be asked: {error}") from None
        raise _ObstacleError(str(error)) from None
    except UnicodeDecodeError:  # in a message of SQLite's own, which names what is in the schema
        raise HistoryUnreadable(file.path, "the database is ruined") from None


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


@contextmanager
def _copied(file: OpenTranscript, beside: Sequence[str]) -> Generator[str, None, None]:
    """The path of a copy of the database, with copies of those of its path + `beside` that are there, in a directory that
    nobody else may enter, and gone when the context ends."""
    with tempfile.TemporaryDirectory(prefix="agent-memory-") as directory:
        target = f"{directory}/database"
        _copy(file.descriptor, target)
        for suffix in beside:
            try:
                found = os.open(file.path + suffix, FILE_FLAGS)
            except FileNotFoundError:
                continue
            try:
                _copy(found, target + suffix)
            finally:
                close_quietly(found)
        yield target


def _copy(source: int, target: str) -> None:
    made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    with open(made, "wb") as copy:
        at = 0
        while chunk := os.pread(source, _CHUNK_BYTES, at):
            copy.write(chunk)
            at += len(chunk)


def _state(path: str) -> _State:
    found = {suffix: _status(path + suffix) for suffix in ("", _WAL, _INDEX, _JOURNAL)}
    sizes = {suffix: status.st_size if status else 0 for suffix, status in found.items()}
    irregular = (path + suffix for suffix, status in found.items() if status and not stat.S_ISREG(status.st_mode))
    # Readers write to the index: it does not tell whether the content changed.
    content = tuple(look_of(status) if status else None for suffix, status in found.items() if suffix != _INDEX)
    copy_bytes = sizes[""] + sizes[_WAL] + sizes[_JOURNAL]
    return _State(content, sizes[_WAL], sizes[_INDEX], sizes[_JOURNAL], copy_bytes, next(irregular, None))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
