"""A file's state as JSON values: `{"data": "<base64>", "mtimeNs": 1771000205123000000}`; `mtimeNs` is null when unknown."""

from __future__ import annotations

import base64
from typing import TypeGuard

from agent_memory.domain.json_shape import Json
from agent_memory.domain.recording.file_change import FileState


def state_document(state: FileState | None) -> dict[str, object] | None:
    """The state; None where there is no file."""
    if state is None:
        return None
    return {"data": base64.b64encode(state.data).decode("ascii"), "mtimeNs": state.mtime_ns}


def read_state(document: Json) -> FileState | None:
    """What `state_document` made of a file; None for anything else."""
    match document:
        case {"data": str(data), "mtimeNs": mtime_ns, **others} if not others and _is_time(mtime_ns):
            try:
                return FileState(base64.b64decode(data, validate=True), mtime_ns)
            except ValueError:
                return None
        case _:
            return None


def _is_time(value: Json) -> TypeGuard[int | None]:
    return value is None or type(value) is int
