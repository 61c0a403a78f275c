"""Session marks as JSON, version 1:

    {"version": 1, "harness": "claude-code", "sessionId": "…", "lastRecordId": "…", "lastAt": 1771000205123,
     "turnsSeen": 42, "toolsAnswered": true, "agent": "builtin", "handoffId": "id__a1b2c3", "entryIds": ["id__…"],
     "usedIds": ["id__…"], "transcript": "0f3a…", "elsewhere": [{"transcript": "91bc…", "lastRecordId": "…", "turnsSeen": 7}]}

`lastAt` (epoch ms) and `handoffId` are absent when unknown, `usedIds` when there are none, `transcript` (a digest of its path)
where the session is in no file of its own, and `elsewhere` where it is in one file only.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from returns.result import Failure, Result, Success

from agent_memory.domain.history import SessionMark, TranscriptEnd
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
        "transcript": mark.transcript or None,
        "elsewhere": [_end_document(end) for end in mark.elsewhere] or None,
    }
    return json.dumps({key: value for key, value in document.items() if value is not None}, indent=1) + "\n"


def _end_document(end: TranscriptEnd) -> dict[str, object]:
    document = {
        "transcript": end.transcript,
        "lastRecordId": end.last_record_id,
        "lastAt": end.last_at_ms,
        "turnsSeen": end.turns_seen,
    }
    return {key: value for key, value in document.items() if value is not None}


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
            transcript=document.get("transcript", ""),
            elsewhere=tuple(
                TranscriptEnd(end["transcript"], end["lastRecordId"], end.get("lastAt"), end["turnsSeen"])
                for end in document.get("elsewhere", ())
            ),
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


def _are_ends(value: object) -> bool:
    return is_list(value) and all(is_object(end) and _is_end(end) for end in value)


def _is_end(end: dict[str, object]) -> bool:
    needed = {key: _EXPECTED[key] for key in ("transcript", "lastRecordId", "turnsSeen")}
    known = {**needed, "lastAt": _EXPECTED["lastAt"]}
    return needed.keys() <= end.keys() <= known.keys() and all(known[key][0](end[key]) for key in end)


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
    "transcript": (_is_some_text, "a text with something in it"),
    "elsewhere": (_are_ends, "a list of ends of transcripts"),
}
_OPTIONAL = ("lastAt", "handoffId", "usedIds", "transcript", "elsewhere")
