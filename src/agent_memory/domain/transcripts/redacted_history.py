"""Redaction of a whole history: the first thing that happens to it (P20)."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.history import History, ToolCall, Turn
from agent_memory.domain.redaction import redact, redact_path, redact_with_paths


def redact_history(history: History) -> History:
    """The same history with every secret in its texts and paths replaced by a placeholder."""
    return evolve(
        history,
        turns=tuple(_redact_turn(turn) for turn in history.turns),
        title=_redact(history.title),
        cwd=_redact_path(history.cwd),
        also_in=tuple(map(redact_path, history.also_in)),
        branch=_redact_path(history.branch),
        agent=_redact(history.agent),
    )


def _redact(text: str | None) -> str | None:
    return None if text is None else redact_with_paths(text)


def _redact_path(path: str | None) -> str | None:
    return None if path is None else redact_path(path)


def _redact_turn(turn: Turn) -> Turn:
    return evolve(
        turn,
        text=redact_with_paths(turn.text),
        tool_calls=tuple(_redact_call(call) for call in turn.tool_calls),
        tool_name=_redact(turn.tool_name),
    )


def _redact_call(call: ToolCall) -> ToolCall:
    return evolve(call, name=redact(call.name).text, brief=redact_with_paths(call.brief), path=_redact_path(call.path))
