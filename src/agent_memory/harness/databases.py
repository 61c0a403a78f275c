"""Harnesses that keep their sessions in an SQLite database, which is read and never changed (P5, P27).

Its path is admitted like a transcript's. While its owner works there is a `-wal` with content: it is read through, with its
`-shm`, which is only read too (`readonly_shm`). Else the file alone is read, without any lock (`immutable`), and once more if
it changed meanwhile. So its owner never waits for us. With a journal beside it, which only its owner may roll back, it is left
for later.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from typing import ClassVar, TypeVar
from urllib.parse import quote

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.files.lines import MAX_LINE_BYTES, objects_in
from agent_memory.files.paths import lies_there, look_of, store_io
from agent_memory.harness import transcripts as files
from agent_memory.harness.any_json import Json
from agent_memory.harness.turn_builder import Session
from agent_memory.results import as_result, unwrap
from agent_memory.session.found_session import FoundSession
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import retrieval_of

_MOST_MS = 10**14
_RUINED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")

Value = TypeVar("Value")
Reads = Callable[["Database"], Value]


@frozen
class TooLarge:
    """A value over 16 MiB, which was not loaded."""


class _ObstacleError(Exception):
    """Why it cannot be read now; another time it may be."""


@frozen
class Database:
    """An open database, as it is at one moment. Texts come as the bytes that were written: they may be anything."""

    path: str
    size_bytes: int
    _connection: sqlite3.Connection = field(repr=False)

    def rows(self, sql: str, *parameters: object) -> Iterator[tuple[object, ...]]:
        """Returns the rows, one at a time. Ask for what is small, keys or numbers, and by these for `value`."""
        return iter(self._connection.execute(sql, parameters))

    def value(self, sql: str, *parameters: object) -> bytes | TooLarge | None:
        """Returns the first column of the first row, as text; None where there is no row, or no value in it."""
        try:
            (value,) = next(self.rows(sql, *parameters), (None,))[:1]
        except sqlite3.DataError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG:
                return TooLarge()
            raise
        return value if isinstance(value, bytes) or value is None else str(value).encode()

    def text(self, sql: str, *parameters: object) -> str:
        """As `value`, empty where there is none, or one that is too large."""
        value = self.value(sql, *parameters)
        return text_of(value) if isinstance(value, bytes) else ""

    def columns(self, table: str) -> frozenset[str]:
        """Returns the columns of a table; none of a view, which might never end."""
        known = "(SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?)"
        return frozenset(text_of(name) for (name,) in self.rows(f"SELECT name FROM pragma_table_info({known})", table))

    def texts_of(self, table: str, id: str, columns: Iterable[str]) -> dict[str, str]:
        """Returns the columns of the row of this id as texts; without those that the table does not have."""
        there = self.columns(table)
        return {name: self.text(f"SELECT {name} FROM {table} WHERE id = ?", id) for name in columns if name in there}


def text_of(value: object) -> str:
    """Returns a column's value as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def instant_of(value: object) -> int | None:
    """Returns a column's or a member's epoch ms; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_MS else None


def object_of(data: bytes | TooLarge | None) -> Json | str:
    """Returns the one whole object in a value; else the reason under which it is counted."""
    if isinstance(data, TooLarge):
        return "line-too-long"
    objects = objects_in(data or b"")
    if len(objects.found) == 1 and not objects.broken:
        return objects.found[0]
    return "line-too-complex" if objects.too_many_values else "bad-line"


def one_object(session: Session, data: bytes | TooLarge | None) -> Json | None:
    """Returns the object in a value; None, and counted, where it is not one whole object."""
    found = object_of(data)
    if isinstance(found, str):
        session.skip(found)
        return None
    return found


# -- reading it -------------------------------------------------------------------------------------------------------


def read_database(roots: files.Roots, path: str, session_id: str, read: Reads[Value]) -> Value:
    """Returns what `read` makes of the database. HistoryUnavailable: missing, empty, locked or changing all the
    time. HistoryUnreadable: damaged, or without what `read` asks for. TranscriptRefused: see `transcript`."""
    with files.transcript(roots, path, session_id) as file:
        reason = ""
        for _ in range(3):
            before = _looks(file.path)
            if not before[0]:
                raise HistoryUnavailable(session_id, f"{file.path} is empty so far", is_missing=True)
            if before[2]:
                reason = "its owner is changing it, or was stopped halfway, which it undoes"
            else:
                way = "mode=ro&readonly_shm=1" if before[1] else "mode=ro&immutable=1"
                try:
                    found = as_result(_read_through)(file, way, read)
                    # What was read while it changed may be wrong, and so may be what was found wrong with it.
                    if before[1] or _looks(file.path) == before:
                        return unwrap(found)
                    reason = "it changes all the time"
                except _ObstacleError as obstacle:
                    reason = str(obstacle)
            if _looks(file.path) == before:
                break
        raise HistoryUnavailable(session_id, f"{file.path} cannot be read now: {reason}")


def _looks(path: str) -> list[int]:
    """Tells how a database and what lies beside it look at one moment: itself, its `-wal`, its `-journal`; 0 for none,
    or an empty one. Readers write to the index (`-shm`), so that it does not tell whether the content changed."""
    looks: list[int] = []
    for suffix in ("", "-wal", "-journal", "-shm"):
        status = os.lstat(path + suffix) if lies_there(path + suffix) else None
        if status and not stat.S_ISREG(status.st_mode):
            raise TranscriptRefused(path + suffix, "it is not a regular file")
        looks.append(look_of(status) if status and status.st_size else 0)
    return looks[:3]


def _read_through(file: files.OpenTranscript, way: str, read: Reads[Value]) -> Value:
    uri = f"file:{quote(os.fsencode(file.path))}?{way}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=2.0, isolation_level=None)) as connection:
            connection.text_factory = bytes
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE_BYTES)
            # A schema may call functions, and mapped memory be cut off below us: the file is not ours.
            for pragma in ("trusted_schema = OFF", "mmap_size = 0", "query_only = ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("BEGIN")
            return read(Database(file.path, file.size_bytes, connection))
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(_RUINED):
            raise HistoryUnreadable(file.path, f"it is not an SQLite database, or a damaged one: {error}") from None
        if name == "SQLITE_ERROR":  # a table or a column that was asked for is not there
            raise HistoryUnreadable(file.path, f"{error}: its format seems to have changed, update memory") from None
        raise _ObstacleError(str(error)) from None
    except UnicodeDecodeError:  # in a message of SQLite's own, which names what is in the schema
        raise HistoryUnreadable(file.path, "the database is ruined") from None


# -- the sessions in it -----------------------------------------------------------------------------------------------


Listed = tuple[str, int | None]
"""A session as a database tells of it: its id, and when it changed, where it says so: else it is the database itself that
tells, which changed no earlier."""


class StoredSession(Session):
    @abstractmethod
    def take_from(self, database: Database) -> None:
        """All that the database knows of it, as far as it is wanted."""


class SessionDatabases(files.Sessions):
    """The sessions of a harness that keeps all of them in a database. The first one that knows a session counts; one
    that cannot be read now could hold a newer state, so that is the error. Errors: see `read_database`."""

    session: type[StoredSession]  # pyright: ignore[reportIncompatibleVariableOverride] - nobody assigns it
    file_name: ClassVar[str]
    table: ClassVar[str]
    """Has the sessions, by `id`."""

    def databases(self, root: str) -> list[str]:
        """Returns the databases in a root. Raises OSError where that cannot be told."""
        path = f"{root}/{self.file_name}"
        return [path] if lies_there(path) else []

    @abstractmethod
    def sessions(self, database: Database) -> list[Listed]:
        """Returns the sessions of persons in a database in which something was said."""

    def knows(self, session_id: str, database: Database) -> bool:
        return next(database.rows(f"SELECT 1 FROM {self.table} WHERE id = ?", session_id), None) is not None

    def history_of(self, session_id: str, mark: SessionMark | None, database: Database) -> History | None:
        """Returns the session's turns after the mark; None where the database does not know it. HistoryUnavailable for
        one that it knows, and of which it holds nothing (P6)."""
        if not self.knows(session_id, database):
            return None
        session = files.filled(self.session(session_id), mark, lambda session: session.take_from(database))
        if not session.position and not session.skipped and not session.own_call:
            raise HistoryUnavailable(session_id, f"{database.path} holds nothing of it so far", is_missing=True)
        return files.history_in(session, database.path, database.size_bytes)

    def history(self, session_id: str, named: str | None, cwd: str | None, mark: SessionMark | None) -> History:
        """Returns what the database that is named, or the others, say."""
        with files.looking_for(session_id):
            known = [path for root in self.roots for path in self.databases(root)]
        failure: Error | None = None
        for path in dict.fromkeys([named, *known] if named else known):
            try:
                history = read_database(self.roots, path, session_id, partial(self.history_of, session_id, mark))
            except (HistoryUnavailable, HistoryUnreadable, TranscriptRefused) as error:
                if isinstance(error, HistoryUnavailable) and not error.is_missing:
                    raise
                failure = failure or error
            else:
                if history is not None:
                    return history
        raise failure or files.not_found(session_id, self.roots)

    def find(self, since_ms: int | None) -> files.Findings:
        return merged(chain.from_iterable(map(self._found_in, self.roots)), since_ms)

    def _found_in(self, root: str) -> files.Findings:
        harness = self.session.harness
        try:
            found = [(path, os.lstat(path).st_mtime_ns // 1_000_000) for path in self.databases(root)]
        except OSError as error:
            yield Failure(store_io(error, "examine", error.filename or root))
            return
        for path, database_changed_at_ms in found:
            listed = as_result(read_database)(self.roots, path, f"of {harness}", self.sessions)
            if isinstance(listed, Failure):
                yield Failure(listed.failure())
                continue
            strange = 0
            for session_id, changed_at_ms in listed.unwrap():
                at_ms = database_changed_at_ms if changed_at_ms is None else changed_at_ms
                if files.is_session_id(session_id):
                    # When it ended is not told: these harnesses note a change before the turns that it brings.
                    yield Success(FoundSession(harness, retrieval_of(harness, session_id, path), at_ms))
                else:
                    strange += 1
            if strange:
                yield Failure(HistoryUnreadable(path, f"{strange} sessions in it have no id of {harness}'s"))


def merged(found: Iterable[Result[FoundSession, Error]], since_ms: int | None) -> files.Findings:
    """Returns each session once, with all errors: as the first place tells of it, and changed when any place says that
    it did."""
    sessions: dict[str, FoundSession] = {}
    for each in found:
        if isinstance(each, Failure):
            yield each
            continue
        session = each.unwrap()
        known = sessions.get(session.session_id, session)
        sessions[session.session_id] = evolve(known, changed_at_ms=max(known.changed_at_ms, session.changed_at_ms))
    yield from (Success(each) for each in sessions.values() if since_ms is None or each.changed_at_ms >= since_ms)
