"""Past sessions of goose, from its database and from the files of versions before 1.10."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.harness.database_finder import Row, merged, sessions_in
from agent_memory.adapters.harness.goose import DATABASE
from agent_memory.adapters.harness.goose_session import NOT_OF_PERSONS
from agent_memory.adapters.harness.read_only_database import Database, text_of
from agent_memory.adapters.harness.transcript_finder import TranscriptFinder
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.instants import ms_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, HistoryUnreadable

_NEEDED = {"sessions": ("id", "updated_at"), "messages": ("session_id",)}
_OF_SESSION = "SELECT 1 FROM messages WHERE session_id ="


@frozen
class GooseFinder:
    """Asks `sessions.db` in each root of `files`, whose files count where no database knows their session."""

    files: TranscriptFinder

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """See `ports.SessionFinder`. A session in which nothing was said yet is none."""
        roots = self.files.roots
        databases = (sessions_in(roots, f"{root}/{DATABASE}", Harness.GOOSE, goose_rows) for root in roots.roots)
        return merged(chain(chain.from_iterable(databases), self.files.find(None)), since_ms)


def goose_rows(database: Database) -> Result[tuple[Row, ...], Error]:
    """The sessions of persons in a database of goose's."""
    if lacking := database.lacks(_NEEDED):
        return Failure(HistoryUnreadable(database.path, f"{lacking}; goose seems to have changed: update memory"))
    there = database.columns("sessions")
    kind, schedule, created = (
        column if column in there else "NULL" for column in ("session_type", "schedule_id", "created_at")
    )
    said = f"EXISTS ({_OF_SESSION} sessions.id)" if database.is_led_to(f"{_OF_SESSION} ?", "") else "1"
    rows = database.listed(f"SELECT id, updated_at, {created}, {kind}, {schedule} FROM sessions WHERE {said}")
    return Success(
        tuple(
            Row(text_of(id), ms_of(text_of(updated)[:40]), ms_of(text_of(created)[:40]))
            for id, updated, created, kind, schedule in rows
            if text_of(kind) not in NOT_OF_PERSONS and not text_of(schedule)
        )
    )
