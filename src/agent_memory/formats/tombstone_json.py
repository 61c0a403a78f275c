"""A tombstone as JSON, version 1, one file each under `state/forgotten/`:

    {"version": 1, "session": "…", "harness": "claude-code", "at": "2026-02-13T14:30:05.123Z"}
    {"version": 1, "entry": "id__a1b2c3", "at": "2026-02-13T14:30:05.123Z", "statements": ["0123456789abcdef"]}
    {"version": 1, "state": "state/keys/plan.json", "at": "2026-02-13T14:30:05.123Z"}

`harness` is null for a session of whatever harness.
"""

from __future__ import annotations

import json

from returns.result import Failure, Result, Success

from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import Json, is_texts
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt

VERSION = 1

Tombstone = SessionTombstone | EntryTombstone | StateTombstone


def render_tombstone(tombstone: Tombstone) -> str:
    """JSON with a final newline; the hashes in order."""
    document: dict[str, object]
    match tombstone:
        case SessionTombstone(session_id, harness, at_ms):
            document = {"session": session_id, "harness": harness, "at": iso_of(at_ms)}
        case EntryTombstone(id, at_ms, statements):
            document = {"entry": id, "at": iso_of(at_ms), "statements": sorted(statements)}
        case StateTombstone(path, at_ms):
            document = {"state": path, "at": iso_of(at_ms)}
    return json.dumps({"version": VERSION, **document}, ensure_ascii=True, indent=1) + "\n"


def parse_tombstone(data: bytes, path: str) -> Result[Tombstone, StateCorrupt]:
    """What `render_tombstone` wrote; anything else is StateCorrupt, never "nothing was forgotten" (P6)."""
    match _document(data):
        case {"version": 1, "session": str(session_id), "harness": harness, "at": str(at)} if (
            session_id and (harness is None or harness in tuple(Harness)) and (at_ms := ms_of(at)) is not None
        ):
            return Success(SessionTombstone(session_id, None if harness is None else Harness(harness), at_ms))
        case {"version": 1, "entry": str(id), "at": str(at), "statements": statements} if (
            is_id(id) and (at_ms := ms_of(at)) is not None and is_texts(statements)
        ):
            return Success(EntryTombstone(id, at_ms, frozenset(statements)))
        case {"version": 1, "state": str(kept_at), "at": str(at)} if kept_at and (at_ms := ms_of(at)) is not None:
            return Success(StateTombstone(kept_at, at_ms))
        case _:
            return Failure(StateCorrupt(path, (f"it does not tell of anything forgotten in version {VERSION}",)))


def _document(data: bytes) -> Json:
    try:
        document: Json = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return document
