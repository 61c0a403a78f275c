"""The journal of a transaction, version 1: what is needed to undo or to finish it after a crash.

    {"version": 1, "steps": [{"path": "topics/…", "before": {"data": "<base64>", "mtimeNs": 1}, "afterHash": "…", "staged": "0.new"}]}

`before` is null where there was no file; `afterHash` and `staged` are null where there will be none. The new bytes lie
beside the journal in the file named by `staged`.
"""

from __future__ import annotations

import base64
import json
import re

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.file_change import FileState
from agent_memory.errors import Error, StateCorrupt
from agent_memory.formats.json_fields import Fields

VERSION = 1
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


def parse_journal(data: bytes, path: str) -> Result[tuple[Step, ...], Error]:
    """The steps that were rendered; anything else is StateCorrupt, since half a journal must not be acted on."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as damaged:
        return Failure(StateCorrupt(path, (f"it is not JSON: {damaged}",)))
    return _steps(document, path)


def _document(step: Step) -> dict[str, object]:
    before = step.before
    return {
        "path": step.path,
        "before": None
        if before is None
        else {"data": base64.b64encode(before.data).decode("ascii"), "mtimeNs": max(before.mtime_ns or 0, 0)},
        "afterHash": step.after_hash,
        "staged": step.staged,
    }


def _steps(document: object, path: str) -> Result[tuple[Step, ...], Error]:
    problems: list[str] = []
    fields = Fields(document, "", problems)
    if fields.value("version") != VERSION:
        problems.append(f"version is not {VERSION}")
    listed = fields.value("steps")
    if not isinstance(listed, list):
        problems.append("steps is not a list")
        listed = []
    fields.close()
    steps = tuple(_step(each, f"steps[{index}]", problems) for index, each in enumerate(listed))
    return Failure(StateCorrupt(path, tuple(problems))) if problems else Success(steps)


def _step(document: object, where: str, problems: list[str]) -> Step:
    fields = Fields(document, where, problems)
    path = fields.text("path", lambda value: None if isinstance(value, str) and value else "is not a path")
    before = _before(fields.value("before"), f"{where}.before", problems)
    after_hash, staged = fields.value("afterHash"), fields.value("staged")
    fields.close()
    if (
        not _is_none_or(_HASH, after_hash)
        or not _is_none_or(_STAGED, staged)
        or (after_hash is None) != (staged is None)
    ):
        problems.append(f"{where} does not say what the file becomes")
    return Step(path, before, after_hash, staged)


def _before(document: object, where: str, problems: list[str]) -> FileState | None:
    if document is None:
        return None
    fields = Fields(document, where, problems)
    data, mtime_ns = fields.value("data"), fields.integer("mtimeNs")
    fields.close()
    try:
        return FileState(base64.b64decode(data, validate=True), mtime_ns)
    except (ValueError, TypeError):
        problems.append(f"{where}.data is not base64")
        return None


def _is_none_or(pattern: re.Pattern[str], value: object) -> bool:
    return value is None or (isinstance(value, str) and pattern.fullmatch(value) is not None)
