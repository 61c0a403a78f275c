"""What a sync keeps on this machine, as JSON, version 1:

    runs/syncing.json   {"version": 1, "branch": "refs/heads/main", "from": "<commit>", "to": "<commit>"}
    runs/synced.json    {"version": 1, "purgedAt": "2026-02-13T14:30:05.123Z"}

The first is written in one transaction with the files of a merge: it exists exactly while they are on disk and git does not
know yet. `from` is null in a store that had no commit. The second says which purge this machine has dealt with.
"""

from __future__ import annotations

import json
import re

from attrs import frozen
from returns.result import Failure

from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.json_shape import Json
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_document import parse_strict_json

VERSION = 1
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.ASCII)


@frozen
class SyncAtWork:
    """A merge whose files are on disk."""

    branch: str
    from_commit: str | None
    to_commit: str


def render_at_work(work: SyncAtWork) -> bytes:
    document = {"version": VERSION, "branch": work.branch, "from": work.from_commit, "to": work.to_commit}
    return (json.dumps(document) + "\n").encode("ascii")


def parse_at_work(data: bytes, path: str) -> SyncAtWork:
    """What `render_at_work` wrote; anything else is StateCorrupt."""
    match _document(data, path):
        case {"version": 1, "branch": str(branch), "from": (str() | None) as before, "to": str(after)} if (
            branch.startswith("refs/heads/") and _COMMIT.fullmatch(after) and _COMMIT.fullmatch(before or after)
        ):
            return SyncAtWork(branch, before, after)
        case _:
            raise StateCorrupt(path, (f"it does not tell of a sync in version {VERSION}",))


def render_synced(purged_at_ms: int | None) -> str:
    at = None if purged_at_ms is None else iso_of(purged_at_ms)
    return json.dumps({"version": VERSION, "purgedAt": at}) + "\n"


def parse_synced(data: bytes, path: str) -> int | None:
    """The purge that was dealt with (epoch ms), None for none; anything else is StateCorrupt, never "dealt with" (P6)."""
    match _document(data, path):
        case {"version": 1, "purgedAt": None}:
            return None
        case {"version": 1, "purgedAt": str(at)} if (at_ms := ms_of(at)) is not None:
            return at_ms
        case _:
            raise StateCorrupt(path, (f"it does not tell of a sync in version {VERSION}",))


def _document(data: bytes, path: str) -> Json:
    parsed = parse_strict_json(data)
    if isinstance(parsed, Failure):
        raise StateCorrupt(path, (parsed.failure(),))
    return parsed.unwrap()
