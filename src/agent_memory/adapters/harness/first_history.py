"""The history of a session that may be in one of several places."""

from __future__ import annotations

from collections.abc import Iterable

from returns.result import Failure, Result, Success

from agent_memory.adapters.harness.line_transcripts import LineSession, Stored, history_in
from agent_memory.domain.history import History
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, HistoryUnavailable

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


def history_unless_empty(session: LineSession, place: Stored, harness_name: str) -> Result[History, Error]:
    """As `history_in`; HistoryUnavailable for a session that the place knows, and of which it holds nothing (P6)."""
    if not session.turns.position and not session.turns.skipped and not session.turns.own_call:
        return Failure(HistoryUnavailable(session.session_id, f"{place.path} holds nothing of it so far"))
    return history_in(session, place, harness_name)
