"""The history of a session that may be in one of several places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.harness.line_transcripts import LineSession, Stored, history_in
from agent_memory.adapters.harness.read_only_database import Database
from agent_memory.domain.history import History
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable
from agent_memory.results import sealed

MaybeHistory = Result[History | None, Error]
"""None: this place does not know the session."""


def first_history(looks: Iterable[MaybeHistory], otherwise: Error) -> Result[History, Error]:
    """What the first place says that knows the session, or cannot be read: another could hold an older state of it."""
    for found in looks:
        match sealed(found):
            case Success(history):
                if history is not None:
                    return Success(history)
            case Failure(error):
                return Failure(error)
    return Failure(otherwise)


def known_history(
    database: Database,
    harness_name: str,
    needed: Mapping[str, Sequence[str]],
    sessions_table: str,
    session_id: str,
    read: Callable[[], LineSession],
) -> MaybeHistory:
    """What `read` makes of a session that this table knows by its id; None where it does not know it. HistoryUnreadable
    where the database lacks a table or column that is `needed`."""
    if lacking := database.lacks(needed):
        reason = f"{lacking}; {harness_name} seems to have changed: update memory"
        return Failure(HistoryUnreadable(database.path, reason))
    if next(database.rows(f"SELECT 1 FROM {sessions_table} WHERE id = ?", session_id), None) is None:
        return Success(None)
    return history_unless_empty(read(), database, harness_name)


def history_unless_empty(session: LineSession, place: Stored, harness_name: str) -> Result[History, Error]:
    """As `history_in`; HistoryUnavailable for a session that the place knows, and of which it holds nothing (P6)."""
    if not session.turns.position and not session.turns.skipped and not session.turns.own_call:
        return Failure(
            HistoryUnavailable(session.session_id, f"{place.path} holds nothing of it so far", is_missing=True)
        )
    return history_in(session, place, harness_name)
