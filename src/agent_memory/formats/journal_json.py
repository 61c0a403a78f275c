"""The journal of a transaction, version 1: what is needed to undo or to finish it after a crash.

    {"version": 1, "steps": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "afterHash": "…", "staged": "0.new"}]}

`before` is null where there was no file; `afterHash` and `staged` are null where there will be none. The new bytes lie
beside the journal in the file named by `staged`. A journal that ends with a line end is over: nothing is undone or finished by
it any more, and it only waits to be removed.
"""

from __future__ import annotations

import json
import re
from typing import TypeGuard

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import Json
from agent_memory.domain.recording.file_change import FileState
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.file_state_json import read_state, state_document

VERSION = 1
OVER = b"\n"
"""Added to a journal that cannot be removed: one byte, so that it is there or not."""
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_STAGED = re.compile(r"[0-9]{1,9}\.new", re.ASCII)


@frozen
class Step:
    """One file's way from `before` to the bytes with `after_hash`, which wait in `staged`."""

    path: str
    before: FileState | None
    after_hash: str | None
    staged: str | None


def render_journal(steps: tuple[Step, ...]) -> bytes:
    """ASCII JSON, the steps in the order in which they are taken."""
    return json.dumps({"version": VERSION, "steps": [_document(step) for step in steps]}).encode("ascii")


def is_over(data: bytes) -> bool:
    """Whether the transaction is done, or undone, for good."""
    return data.endswith(OVER)


def parse_journal(data: bytes, path: str) -> Result[tuple[Step, ...], Error]:
    """The steps that were rendered; anything else is StateCorrupt, since half a journal must not be acted on."""
    try:
        document: Json = json.loads(data)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    return _steps(document, path)


def _document(step: Step) -> dict[str, object]:
    return {
        "path": step.path,
        "before": state_document(step.before),
        "afterHash": step.after_hash,
        "staged": step.staged,
    }


def _steps(document: Json, path: str) -> Result[tuple[Step, ...], Error]:
    match document:
        case {"version": 1, "steps": list(listed), **others} if not others:
            steps = [_step(each) for each in listed]
            wrong = tuple(f"steps[{index}] is not a step" for index, step in enumerate(steps) if step is None)
            return Failure(StateCorrupt(path, wrong)) if wrong else Success(tuple(step for step in steps if step))
        case _:
            return Failure(StateCorrupt(path, (f"it is not a journal of version {VERSION}",)))


def _step(document: Json) -> Step | None:
    match document:
        case {"path": str(path), "before": before, "afterHash": after_hash, "staged": staged, **others} if (
            path and not others and _is_none_or(after_hash, _HASH) and _is_none_or(staged, _STAGED)
        ):
            state = read_state(before)
            if (before is not None and state is None) or (after_hash is None) != (staged is None):
                return None
            return Step(path, state, after_hash, staged)
        case _:
            return None


def _is_none_or(value: Json, pattern: re.Pattern[str]) -> TypeGuard[str | None]:
    return value is None or (isinstance(value, str) and pattern.fullmatch(value) is not None)
