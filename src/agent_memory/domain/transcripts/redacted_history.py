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
        title=_redact(history.title),
        cwd=_redact(history.cwd),
        branch=_redact(history.branch),
        agent=_redact(history.agent),
    )


def _redact(text: str | None) -> str | None:
    return None if text is None else redact(text).text


def _redact_turn(turn: Turn) -> Turn:
    return evolve(
        turn,
        text=redact(turn.text).text,
        tool_calls=tuple(_redact_call(call) for call in turn.tool_calls),
        tool_name=_redact(turn.tool_name),
    )


def _redact_call(call: ToolCall) -> ToolCall:
    return evolve(call, name=redact(call.name).text, brief=redact(call.brief).text, path=_redact(call.path))
