"""A part of a history as JSON lines, version 1: one line about the part, then one a turn.

    {"version": 1, "harness": "claude-code", "sessionId": "…", "afterRecord": "…", "title": "…", "cwd": "…", "branch": "…",
     "agent": "…", "startedAt": 1771000205123, "endedAt": 1771000209000, "toolsAnsweredBefore": true, "remaining": true}
    {"number": 3, "role": "agent", "text": "…", "record": "…", "at": 1771000206000,
     "calls": [{"name": "Edit", "brief": "…", "path": "…", "writes": true}], "tool": "Bash", "failed": true, "clipped": 12}

What is empty, false or unknown is absent. Instants are epoch ms. The text is ASCII: every other character is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeVar

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.kept_history import KeptPart
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_values import document_of, value_of

VERSION = 1


@frozen
class _About:
    version: int
    harness: str
    session_id: str
    after_record: str | None = None
    title: str | None = None
    cwd: str | None = None
    also_in: tuple[str, ...] = ()
    branch: str | None = None
    agent: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    tools_answered_before: bool = False
    remaining: bool = False


@frozen
class _Call:
    name: str
    brief: str
    path: str | None = None
    writes: bool = False


@frozen
class _Turn:
    number: int
    role: str
    text: str
    record: str
    at: int | None = None
    calls: tuple[_Call, ...] = ()
    tool: str | None = None
    failed: bool = False
    clipped: int | None = None


Value = TypeVar("Value", _About, _Turn)


def render_history_lines(part: KeptPart) -> Iterator[str]:
    """The lines, each with its line end."""
    history = part.history
    about = _About(
        version=VERSION,
        harness=history.harness.value,
        session_id=history.session_id,
        after_record=part.after_record_id,
        title=history.title,
        cwd=history.cwd,
        also_in=history.also_in,
        branch=history.branch,
        agent=history.agent,
        started_at=history.started_at_ms,
        ended_at=history.ended_at_ms,
        tools_answered_before=history.tools_answered_before,
        remaining=history.remaining,
    )
    yield _line(about)
    for turn in history.turns:
        calls = tuple(_Call(call.name, call.brief, call.path, call.writes) for call in turn.tool_calls)
        clipped = turn.clipped_chars or None
        role = turn.role.value
        yield _line(
            _Turn(turn.number, role, turn.text, turn.record_id, turn.at_ms, calls, turn.tool_name, turn.failed, clipped)
        )


def parse_history_lines(lines: Iterable[str], path: str) -> Result[KeptPart, StateCorrupt]:
    """The part that was rendered. Anything else is StateCorrupt with its first problem, never a part of it (P6)."""
    about: _About | None = None
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        try:
            if about is None:
                about = _value(line, _About)
            else:
                turns.append(_turn(_value(line, _Turn)))
        except (ValueError, RecursionError) as damaged:
            return Failure(StateCorrupt(path, (f"line {number}: {damaged}",)))
    if about is None:
        return Failure(StateCorrupt(path, ("it is empty",)))
    if about.version != VERSION or about.harness not in tuple(Harness):
        return Failure(StateCorrupt(path, ("line 1: version or harness is not known",)))
    return Success(_part(about, tuple(turns)))


def _line(value: _About | _Turn) -> str:
    return json.dumps(_present(document_of(value)), separators=(",", ":")) + "\n"


def _present(document: object) -> object:
    """The document without what is empty, false or unknown."""
    if is_list(document):
        return [_present(each) for each in document]
    if not is_object(document):
        return document
    kept = {key: each for key, each in document.items() if each is not None and each is not False and each != []}
    return {key: _present(each) for key, each in kept.items()}


def _value(line: str, cls: type[Value]) -> Value:
    found = value_of(json.loads(line), cls)
    if isinstance(found, Failure):
        raise ValueError(found.failure()[0])
    value: Value = found.unwrap()
    return value


def _part(about: _About, turns: tuple[Turn, ...]) -> KeptPart:
    history = History(
        harness=Harness(about.harness),
        session_id=about.session_id,
        turns=turns,
        title=about.title,
        cwd=about.cwd,
        also_in=about.also_in,
        branch=about.branch,
        agent=about.agent,
        started_at_ms=about.started_at,
        ended_at_ms=about.ended_at,
        tools_answered_before=about.tools_answered_before,
        remaining=about.remaining,
    )
    return KeptPart(history, about.after_record)


def _turn(line: _Turn) -> Turn:
    calls = tuple(ToolCall(call.name, call.brief, call.path, call.writes) for call in line.calls)
    role, clipped = Role(line.role), line.clipped or 0
    return Turn(line.number, role, line.text, line.record, line.at, calls, line.tool, line.failed, clipped)
