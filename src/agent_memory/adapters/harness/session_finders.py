"""Finding past sessions, in files of their own or in one database."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import close_quietly, store_io
from agent_memory.adapters.harness.read_only_database import Database, read_database
from agent_memory.adapters.harness.transcripts import (
    FILE_FLAGS,
    FileBelow,
    TranscriptRoots,
    files_below,
    is_session_id,
)
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.results import as_result, sealed

Findings = Iterator[Result[FoundSession, Error]]

_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_HEAD_BYTES = 256 * 1024
_MOST_MS = 10**14


# -- in files ---------------------------------------------------------------------------------------------------------

Identifies = Callable[[str, tuple[str, ...]], "str | None"]
"""The id of the session in a file, by its path and by its names below the root; None for what is no session of a
person's: another file, a sub-agent's transcript."""


@frozen
class TranscriptFinder:
    """Looks for files in `roots`, at most `max_depth` directories deep; linked files and directories are passed over.

    Of a session that is in several files (it was resumed in another directory, or copied) each counts.
    """

    harness: Harness
    roots: TranscriptRoots
    identify: Identifies
    max_depth: int
    shares_record_ids: bool = False
    in_one_file: bool = False
    """Reading a session opens no other file."""

    def find(self, since_ms: int | None) -> Findings:
        """See `ports.SessionFinder`."""
        listed: set[str] = set()  # a root may be another's by a link
        for root in self.roots.roots:
            for each in files_below(root, self.max_depth):
                if isinstance(each, OSError):
                    yield Failure(store_io(each, "list", each.filename or root))
                    continue
                found = self._found(each, since_ms)
                if found is not None and (looks := _looks(each)) not in listed:
                    listed.add(looks)
                    yield Success(found)

    def _found(self, file: FileBelow, since_ms: int | None) -> FoundSession | None:
        changed_at_ms = file.status.st_mtime_ns // 1_000_000
        if not stat.S_ISREG(file.status.st_mode) or (since_ms is not None and changed_at_ms < since_ms):
            return None
        session_id = self.identify(file.path, file.names)
        retrieval = None if session_id is None else retrieval_of(self.harness, session_id, file.path)
        if retrieval is None:
            return None
        return FoundSession(
            self.harness,
            retrieval,
            changed_at_ms,
            file.status.st_size,
            shares_record_ids=self.shares_record_ids,
            looks=_looks(file) if self.in_one_file else "",
        )


def _looks(file: FileBelow) -> str:
    return f"{file.status.st_size} {file.status.st_mtime_ns} {file.status.st_ino}"


def uuid_in(text: str) -> str | None:
    """The text, if it is a UUID."""
    return text if _UUID.fullmatch(text) else None


def head_of(path: str) -> bytes:
    """The first bytes of a file; none where it cannot be read, which reading the session will tell."""
    try:
        descriptor = os.open(path, FILE_FLAGS)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _HEAD_BYTES)
    except OSError:
        return b""
    finally:
        close_quietly(descriptor)


# -- in a database ----------------------------------------------------------------------------------------------------


@frozen
class Row:
    """A session as a database tells of it."""

    session_id: str
    changed_at_ms: int | None
    """None where it does not say: then the database itself does, which changed no earlier."""
    started_at_ms: int | None = None


def sessions_in(roots: TranscriptRoots, path: str, harness: Harness, rows: Callable[[Database], list[Row]]) -> Findings:
    """The sessions that `rows` finds in a database, and what is wrong with it; nothing where there is none."""
    try:
        database_changed_at_ms = os.lstat(path).st_mtime_ns // 1_000_000
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Failure(store_io(error, "examine", path))
        return
    match sealed(as_result(read_database)(roots, path, f"of {harness}", rows)):
        case Failure() as failure:
            yield failure
        case Success(found):
            strange = sum(not is_session_id(row.session_id) for row in found)
            if strange:
                yield Failure(HistoryUnreadable(path, f"{strange} sessions in it have no id of {harness}'s"))
            for row in found:
                retrieval = retrieval_of(harness, row.session_id, path) if is_session_id(row.session_id) else None
                if retrieval is not None:
                    changed_at_ms = database_changed_at_ms if row.changed_at_ms is None else row.changed_at_ms
                    # When it ended is not told: these harnesses note a change before the turns that it brings.
                    yield Success(FoundSession(harness, retrieval, changed_at_ms, started_at_ms=row.started_at_ms))


def merged(found: Iterable[Result[FoundSession, Error]], since_ms: int | None) -> Findings:
    """Each session once, with all errors: as the first place tells of it, and changed when any place says that it did."""
    sessions: dict[str, FoundSession] = {}
    for each in found:
        match sealed(each):
            case Failure():
                yield each
            case Success(session):
                known = sessions.get(session.session_id)
                sessions[session.session_id] = session if known is None else _both(known, session)
    for session in sessions.values():
        if since_ms is None or session.changed_at_ms >= since_ms:
            yield Success(session)


def _both(one: FoundSession, other: FoundSession) -> FoundSession:
    started_at_ms = one.started_at_ms if one.started_at_ms is not None else other.started_at_ms
    return evolve(one, changed_at_ms=max(one.changed_at_ms, other.changed_at_ms), started_at_ms=started_at_ms)


def instant_of(value: object) -> int | None:
    """A column's or a member's epoch ms; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_MS else None
