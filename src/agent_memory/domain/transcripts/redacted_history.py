"""Redaction of a whole history: the first thing that happens to it (P20)."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.history import History, ToolCall, Turn
from agent_memory.domain.redaction import redact


def redact_history(history: History) -> History:
    """The same history with every secret in its texts replaced by a placeholder."""
    return evolve(
        history,
        turns=tuple(_redact_turn(turn) for turn in history.turns),
        title=None if history.title is None else redact(history.title).text,
    )


def _redact_turn(turn: Turn) -> Turn:
    return evolve(turn, text=redact(turn.text).text, tool_calls=tuple(_redact_call(call) for call in turn.tool_calls))


def _redact_call(call: ToolCall) -> ToolCall:
    path = None if call.path is None else redact(call.path).text
    return evolve(call, brief=redact(call.brief).text, path=path)
