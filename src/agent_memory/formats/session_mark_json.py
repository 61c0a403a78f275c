"""Session marks as JSON, version 1:

    {"version": 1, "harness": "claude-code", "sessionId": "…", "lastRecordId": "…", "lastAt": 1771000205123,
     "turnsSeen": 42, "toolsAnswered": true, "agent": "builtin", "handoffId": "id__a1b2c3", "entryIds": ["id__…"]}

`lastAt` (epoch ms) and `handoffId` are absent when unknown.
"""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.domain.history import SessionMark
from agent_memory.domain.ids import is_id
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.json_fields import Fields

VERSION = 1
_MAX_ENTRY_IDS = 100_000


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
    }
    return json.dumps({key: value for key, value in document.items() if value is not None}, indent=1) + "\n"


def parse_session_mark(text: str, path: str) -> Result[SessionMark, Error]:
    """The mark that was rendered; anything else is StateCorrupt with every problem, never a session unseen (P6)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    return _mark(document, path)


def _mark(document: object, path: str) -> Result[SessionMark, Error]:
    problems: list[str] = []
    fields = Fields(document, "", problems)
    if fields.value("version") != VERSION:
        problems.append(f"version is not {VERSION}")
    harness = fields.choice("harness", tuple(Harness))
    tools_answered = fields.value("toolsAnswered")
    if not isinstance(tools_answered, bool):
        problems.append("toolsAnswered is neither true nor false")
    mark = SessionMark(
        harness=Harness(harness) if harness in tuple(Harness) else Harness.MANUAL,
        session_id=fields.text("sessionId", _some_text),
        last_record_id=fields.text("lastRecordId", _any_text),
        last_at_ms=fields.optional_integer("lastAt"),
        turns_seen=fields.integer("turnsSeen"),
        tools_answered=bool(tools_answered),
        agent_name=fields.text("agent", _some_text),
        handoff_id=fields.optional_text("handoffId", _an_id),
        entry_ids=fields.texts("entryIds", _an_id, _MAX_ENTRY_IDS),
    )
    fields.close()
    return Failure(StateCorrupt(path, tuple(problems))) if problems else Success(mark)


def _any_text(value: object) -> str | None:
    return None if isinstance(value, str) else "is not a text"


def _some_text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "is not a text with something in it"


def _an_id(value: object) -> str | None:
    return None if isinstance(value, str) and is_id(value) else "is not an id"
