"""Histories in memory."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, HistoryUnavailable
from agent_memory.harness import note_history
from agent_memory.session.history import History, Role, SessionMark
from agent_memory.session.queue import FileSnapshot, InboxEntry, InlineNote
from agent_memory.session.turns import last_time, turns_after


class DictHistories:
    """Answers for every retrieval method: with what was put under the session's id (for a snapshot under its path), whole
    histories or errors; an inline note answers for itself."""

    def __init__(self, held: Mapping[str, History | Error] | None = None) -> None:
        self._held: dict[str, History | Error] = dict(held or {})

    def put(self, key: str, history: History | Error) -> None:
        """Answer with this from now on."""
        self._held[key] = history

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark; HistoryUnavailable for what was never put."""
        if isinstance(entry.retrieval, InlineNote):
            return Success(note_history(entry, entry.retrieval))
        key = entry.retrieval.path if isinstance(entry.retrieval, FileSnapshot) else entry.retrieval.session_id or ""
        held = self._held.get(key)
        if held is None:
            return Failure(HistoryUnavailable(key, "nothing was put under this key", is_missing=True))
        return Success(_after(held, mark)) if isinstance(held, History) else Failure(held)


def _after(history: History, mark: SessionMark | None) -> History:
    if mark is None:
        return history
    turns = turns_after(history.turns, mark)
    covered = history.turns[: len(history.turns) - len(turns)]
    answered = history.tools_answered_before or any(turn.role is Role.TOOL for turn in covered)
    return evolve(history, turns=turns, ended_at_ms=last_time(turns), tools_answered_before=answered)
