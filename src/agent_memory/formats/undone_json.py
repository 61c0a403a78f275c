"""What is known of undos, in two files of version 1.

`runs/undone.json`: `{"version": 1, "runs": {"<run>": {"by": "<run of the undo>", "fingerprints": ["…"]}}}`.
`runs/undoing.json`, while an undo is at work: `{"version": 1, "run": "…", "undoes": "…", "startedAt": "2026-02-13T14:30:05.123Z"}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from returns.result import Failure, Result, Success

from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import Json, is_texts
from agent_memory.domain.undone import Undoing, UndoneMark
from agent_memory.errors import StateCorrupt
from agent_memory.formats.own_json import own_value

VERSION = 1


def render_undone(marks: Mapping[str, UndoneMark]) -> str:
    """JSON, the runs in order."""
    runs = {
        run_id: {"by": mark.by, "fingerprints": sorted(mark.fingerprints)} for run_id, mark in sorted(marks.items())
    }
    return json.dumps({"version": VERSION, "runs": runs}, ensure_ascii=False, indent=1) + "\n"


def parse_undone(data: bytes, path: str) -> Result[Mapping[str, UndoneMark], StateCorrupt]:
    """What `render_undone` wrote; anything else is StateCorrupt, never "nothing was undone" (P6)."""
    match _document(data):
        case {"version": 1, "runs": dict(runs)}:
            marks = {run_id: _mark(each) for run_id, each in runs.items()}
            wrong = tuple(f"runs.{run_id} is not a mark" for run_id, mark in marks.items() if mark is None)
            if wrong:
                return Failure(StateCorrupt(path, wrong[:10]))
            return Success({run_id: mark for run_id, mark in marks.items() if mark is not None})
        case _:
            return Failure(StateCorrupt(path, (f"it is not a list of undone runs of version {VERSION}",)))


def render_undoing(undoing: Undoing) -> str:
    """JSON."""
    document = {
        "version": VERSION,
        "run": undoing.run_id,
        "undoes": undoing.undoes,
        "startedAt": iso_of(undoing.started_at_ms),
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def parse_undoing(data: bytes, path: str) -> Result[Undoing, StateCorrupt]:
    """What `render_undoing` wrote; anything else is StateCorrupt."""
    match _document(data):
        case {"version": 1, "run": str(run_id), "undoes": str(undoes), "startedAt": str(started)} if (
            run_id and undoes and (started_at_ms := ms_of(started)) is not None
        ):
            return Success(Undoing(run_id, undoes, started_at_ms))
        case _:
            return Failure(StateCorrupt(path, (f"it does not tell of an undo in version {VERSION}",)))


def _document(data: bytes) -> Json:
    try:
        document: Json = own_value(data)
    except (ValueError, RecursionError):
        return None
    return document


def _mark(document: Json) -> UndoneMark | None:
    match document:
        case {"by": str(by), "fingerprints": fingerprints} if by and is_texts(fingerprints):
            return UndoneMark(by, frozenset(fingerprints))
        case _:
            return None
