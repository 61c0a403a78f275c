"""Past sessions of the harnesses that keep all of them in one database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.harness.read_only_database import Database, read_database
from agent_memory.adapters.harness.transcript_roots import TranscriptRoots, is_session_id
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.inbox_entry import retrieval_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnreadable
from agent_memory.results import sealed

_MOST_MS = 10**14


@frozen
class Row:
    """A session as a database tells of it."""

    session_id: str
    changed_at_ms: int | None
    """None where it does not say: then the database itself does, which changed no earlier."""
    started_at_ms: int | None = None


ListsRows = Callable[[Database], Result[tuple[Row, ...], Error]]


def sessions_in(
    roots: TranscriptRoots, path: str, harness: Harness, lists: ListsRows
) -> Iterator[Result[FoundSession, Error]]:
    """The sessions that `lists` finds in a database, and what is wrong with it; nothing where there is none."""
    try:
        changed_at_ms = os.lstat(path).st_mtime_ns // 1_000_000
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield Failure(store_io(error, "examine", path))
        return
    match sealed(read_database(roots, path, f"of {harness}", lists)):
        case Failure() as failure:
            yield failure
        case Success(rows):
            found = [row for row in rows if is_session_id(row.session_id)]
            if len(found) < len(rows):
                yield Failure(
                    HistoryUnreadable(path, f"{len(rows) - len(found)} sessions in it have no id of {harness}'s")
                )
            yield from filter(None, map(partial(_found, harness, path, changed_at_ms), found))


def merged(found: Iterable[Result[FoundSession, Error]], since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
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


def instant_of(value: object) -> int | None:
    """A column's or a member's epoch ms; None for what is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_MS else None


def _found(harness: Harness, path: str, changed_at_ms: int, row: Row) -> Result[FoundSession, Error] | None:
    retrieval = retrieval_of(harness, row.session_id, path)
    if retrieval is None:
        return None
    changed = row.changed_at_ms if row.changed_at_ms is not None else changed_at_ms
    # When a session ended is not told: these harnesses note a change before the turns that it brings.
    return Success(FoundSession(harness, retrieval, changed, started_at_ms=row.started_at_ms))


def _both(one: FoundSession, other: FoundSession) -> FoundSession:
    started_at_ms = one.started_at_ms if one.started_at_ms is not None else other.started_at_ms
    return evolve(one, changed_at_ms=max(one.changed_at_ms, other.changed_at_ms), started_at_ms=started_at_ms)
