"""Session marks as JSON, version 1:

    {"version": 1, "harness": "claude-code", "sessionId": "…", "lastRecordId": "…", "lastAt": 1771000205123,
     "turnsSeen": 42, "toolsAnswered": true, "agent": "builtin", "handoffId": "id__a1b2c3", "entryIds": ["id__…"],
     "usedIds": ["id__…"]}

`lastAt` (epoch ms) and `handoffId` are absent when unknown, `usedIds` when there are none.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from returns.result import Failure, Result, Success

from agent_memory.domain.history import SessionMark
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt

VERSION = 1


def render_session_mark(mark: SessionMark) -> str:
    """ASCII JSON on lines of its own keys, with a final newline."""
    document = {
        "version": VERSION,
        "harness": mark.harness,
        "sessionId": mark.session_id,
        "lastRecordId": mark.last_record_id,
        "lastAt": mark.last_at_ms,
        "turnsSeen": mark.turns_seen,
        "toolsAnswered": mark.tools_answered,
        "agent": mark.agent_name,
        "handoffId": mark.handoff_id,
        "entryIds": list(mark.entry_ids),
        "usedIds": list(mark.used_ids) or None,
    }
    return json.dumps({key: value for key, value in document.items() if value is not None}, indent=1) + "\n"


def parse_session_mark(text: str, path: str) -> Result[SessionMark, StateCorrupt]:
    """The mark that was rendered; anything else is StateCorrupt with every problem, never a session unseen (P6)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    return _mark(document, path)


def _mark(document: object, path: str) -> Result[SessionMark, StateCorrupt]:
    if not is_object(document):
        return Failure(StateCorrupt(path, ("it is not a JSON object",)))
    if problems := _problems(document):
        return Failure(StateCorrupt(path, problems))
    return Success(
        SessionMark(
            harness=Harness(document["harness"]),
            session_id=document["sessionId"],
            last_record_id=document["lastRecordId"],
            last_at_ms=document.get("lastAt"),
            turns_seen=document["turnsSeen"],
            tools_answered=document["toolsAnswered"],
            agent_name=document["agent"],
            handoff_id=document.get("handoffId"),
            entry_ids=tuple(document["entryIds"]),
            used_ids=tuple(document.get("usedIds", ())),
        )
    )


def _problems(document: dict[str, object]) -> tuple[str, ...]:
    missing = [f"{key} is missing" for key in _EXPECTED if key not in document and key not in _OPTIONAL]
    wrong = [
        f"{key} is not {expected}"
        for key, (is_so, expected) in _EXPECTED.items()
        if key in document and not is_so(document[key])
    ]
    unknown = [f"{key[:60]!r} is unknown" for key in document if key not in _EXPECTED]
    return (*missing, *wrong, *unknown)


def _is_whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_id(value: object) -> bool:
    return isinstance(value, str) and is_id(value)


def _are_ids(value: object) -> bool:
    return is_list(value) and all(map(_is_id, value))


def _is_some_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


_EXPECTED: dict[str, tuple[Callable[[object], bool], str]] = {
    "version": (lambda value: value == VERSION and type(value) is int, f"{VERSION}"),
    "harness": (lambda value: value in tuple(Harness), f"one of {', '.join(Harness)}"),
    "sessionId": (_is_some_text, "a text with something in it"),
    "lastRecordId": (lambda value: isinstance(value, str), "a text"),
    "lastAt": (_is_whole, "a number of milliseconds since 1970"),
    "turnsSeen": (_is_whole, "a count"),
    "toolsAnswered": (lambda value: isinstance(value, bool), "true or false"),
    "agent": (_is_some_text, "a text with something in it"),
    "handoffId": (_is_id, "an id"),
    "entryIds": (_are_ids, "a list of ids"),
    "usedIds": (_are_ids, "a list of ids"),
}
_OPTIONAL = ("lastAt", "handoffId", "usedIds")
