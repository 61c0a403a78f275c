"""The receipt of `install-cron` and the records of scheduled runs, each one JSON object of version 1."""

from __future__ import annotations

import json

from returns.result import Failure

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.scheduling import InstalledSchedule, JobRecord
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_json import parse_strict_document
from agent_memory.formats.strict_values import document_of, value_of
from agent_memory.results import T

VERSION = 1


def render_installed(installed: InstalledSchedule) -> bytes:
    """JSON with a line end."""
    return _rendered(installed)


def parse_installed(data: bytes, path: str) -> InstalledSchedule:
    """What `render_installed` wrote; anything else is StateCorrupt."""
    return _parsed(data, path, InstalledSchedule)


def render_record(record: JobRecord) -> bytes:
    """JSON with a line end."""
    return _rendered(record)


def parse_record(data: bytes, path: str) -> JobRecord:
    """What `render_record` wrote; anything else is StateCorrupt."""
    return _parsed(data, path, JobRecord)


def _rendered(value: InstalledSchedule | JobRecord) -> bytes:
    document = {"version": VERSION, **document_of(value)}
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _parsed(data: bytes, path: str, cls: type[T]) -> T:
    document = parse_strict_document(data)
    if isinstance(document, Failure):
        raise StateCorrupt(path, (document.failure(),))
    content = document.unwrap()
    if not is_object(content) or content.pop("version", None) != VERSION:
        raise StateCorrupt(path, (f"it is no object of version {VERSION}",))
    read = value_of(content, cls)
    if isinstance(read, Failure):
        raise StateCorrupt(path, read.failure())
    value = read.unwrap()
    if missing := document_of(value).keys() - content.keys():  # each is written, those with a default too
        raise StateCorrupt(path, tuple(f"{key}: is missing" for key in sorted(missing)))
    return value
