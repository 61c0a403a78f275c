"""A part of a history as JSON lines, version 1: one line about the part, then one a turn.

    {"version": 1, "harness": "claude-code", "sessionId": "…", "afterRecord": "…", "title": "…", "cwd": "…", "branch": "…",
     "agent": "…", "startedAt": 1771000205123, "endedAt": 1771000209000, "toolsAnsweredBefore": true, "remaining": true}
    {"number": 3, "role": "agent", "text": "…", "record": "…", "at": 1771000206000,
     "calls": [{"name": "Edit", "brief": "…", "path": "…", "writes": true}], "tool": "Bash", "failed": true, "clipped": 12}

What is empty, false or unknown is absent. Instants are epoch ms. The text is ASCII: every other character is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from returns.result import Failure, Result, Success

from agent_memory.domain.history import History, Role, ToolCall, Turn
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.kept_history import KeptPart
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt

VERSION = 1


def render_history_lines(part: KeptPart) -> Iterator[str]:
    """The lines, each with its line end."""
    history = part.history
    yield _line(
        {
            "version": VERSION,
            "harness": history.harness.value,
            "sessionId": history.session_id,
            "afterRecord": part.after_record_id,
            "title": history.title,
            "cwd": history.cwd,
            "alsoIn": list(history.also_in) or None,
            "branch": history.branch,
            "agent": history.agent,
            "startedAt": history.started_at_ms,
            "endedAt": history.ended_at_ms,
            "toolsAnsweredBefore": history.tools_answered_before,
            "remaining": history.remaining,
        }
    )
    for turn in history.turns:
        yield _line(
            {
                "number": turn.number,
                "role": turn.role.value,
                "text": turn.text,
                "record": turn.record_id,
                "at": turn.at_ms,
                "calls": [_call_document(call) for call in turn.tool_calls] or None,
                "tool": turn.tool_name,
                "failed": turn.failed,
                "clipped": turn.clipped_chars or None,
            }
        )


def parse_history_lines(lines: Iterable[str], path: str) -> Result[KeptPart, StateCorrupt]:
    """The part that was rendered. Anything else is StateCorrupt with its first problem, never a part of it (P6)."""
    turns: list[Turn] = []
    about: Mapping[str, object] | None = None
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
            fields = _checked(value, _TURN if about is not None else _ABOUT)
            if about is None:
                about = fields
            else:
                turns.append(_turn(fields))
        except (ValueError, RecursionError) as damaged:
            return Failure(StateCorrupt(path, (f"line {number}: {damaged}",)))
    if about is None:
        return Failure(StateCorrupt(path, ("it is empty",)))
    return Success(_part(about, tuple(turns)))


def _line(document: Mapping[str, object]) -> str:
    present = {key: value for key, value in document.items() if value is not None and value is not False}
    return json.dumps(present, separators=(",", ":")) + "\n"


def _call_document(call: ToolCall) -> dict[str, object]:
    document: dict[str, object] = {"name": call.name, "brief": call.brief}
    if call.path is not None:
        document["path"] = call.path
    if call.writes:
        document["writes"] = True
    return document


def _part(about: Mapping[str, object], turns: tuple[Turn, ...]) -> KeptPart:
    history = History(
        harness=Harness(str(about["harness"])),
        session_id=str(about["sessionId"]),
        turns=turns,
        title=_text(about, "title"),
        cwd=_text(about, "cwd"),
        also_in=tuple(map(str, also_in)) if is_list(also_in := about.get("alsoIn")) else (),
        branch=_text(about, "branch"),
        agent=_text(about, "agent"),
        started_at_ms=_number(about, "startedAt"),
        ended_at_ms=_number(about, "endedAt"),
        tools_answered_before=about.get("toolsAnsweredBefore") is True,
        remaining=about.get("remaining") is True,
    )
    return KeptPart(history, _text(about, "afterRecord"))


def _turn(fields: Mapping[str, object]) -> Turn:
    calls = fields.get("calls")
    return Turn(
        number=_number(fields, "number") or 0,
        role=Role(str(fields["role"])),
        text=str(fields["text"]),
        record_id=str(fields["record"]),
        at_ms=_number(fields, "at"),
        tool_calls=tuple(map(_call, calls)) if is_list(calls) else (),
        tool_name=_text(fields, "tool"),
        failed=fields.get("failed") is True,
        clipped_chars=_number(fields, "clipped") or 0,
    )


def _call(value: object) -> ToolCall:
    fields = _checked(value, _CALL)
    path, writes = _text(fields, "path"), fields.get("writes") is True
    return ToolCall(str(fields["name"]), str(fields["brief"]), path, writes)


def _text(fields: Mapping[str, object], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) else None


def _number(fields: Mapping[str, object], key: str) -> int | None:
    value = fields.get(key)
    return value if isinstance(value, int) else None


# -- what a line may hold ---------------------------------------------------------------------------------------------


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return is_list(value)


_Rules = Mapping[str, tuple[bool, Callable[[object], bool], str]]
"""By key: whether it must be there, what it must be, and that in words."""

_ABOUT: _Rules = {
    "version": (True, lambda value: value == VERSION and _is_whole(value), str(VERSION)),
    "harness": (True, lambda value: value in tuple(Harness), "a harness"),
    "sessionId": (True, _is_text, "a text"),
    **dict.fromkeys(("afterRecord", "title", "cwd", "branch", "agent"), (False, _is_text, "a text")),
    "alsoIn": (False, _is_list, "a list"),
    **dict.fromkeys(("startedAt", "endedAt"), (False, _is_whole, "a number of milliseconds since 1970")),
    **dict.fromkeys(("toolsAnsweredBefore", "remaining"), (False, _is_flag, "true or false")),
}
_TURN: _Rules = {
    "number": (True, _is_whole, "a number"),
    "role": (True, lambda value: value in tuple(Role), "a role"),
    "text": (True, _is_text, "a text"),
    "record": (True, _is_text, "a text"),
    "at": (False, _is_whole, "a number of milliseconds since 1970"),
    "calls": (False, _is_list, "a list"),
    "tool": (False, _is_text, "a text"),
    "failed": (False, _is_flag, "true or false"),
    "clipped": (False, _is_whole, "a count"),
}
_CALL: _Rules = {
    "name": (True, _is_text, "a text"),
    "brief": (True, _is_text, "a text"),
    "path": (False, _is_text, "a text"),
    "writes": (False, _is_flag, "true or false"),
}


def _checked(value: object, rules: _Rules) -> Mapping[str, object]:
    """The object, if it holds what it must and nothing unknown; else ValueError."""
    if not is_object(value):
        raise ValueError("it is no JSON object")
    for key, (needed, is_so, expected) in rules.items():
        if key not in value and needed:
            raise ValueError(f"{key} is missing")
        if key in value and not is_so(value[key]):
            raise ValueError(f"{key} is not {expected}")
    unknown = next((key for key in value if key not in rules), None)
    if unknown is not None:
        raise ValueError(f"{unknown[:60]!r} is unknown")
    return value
