"""Redacted copies of files, kept beside the inbox entries that name them and moved along with these."""

from __future__ import annotations

import os
import re

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, move_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside, those_there
from agent_memory.adapters.inbox.inbox_put import put_text
from agent_memory.domain.inbox_entry import SNAPSHOTS
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redacted_path import redact_path
from agent_memory.errors import Error
from agent_memory.results import sealed

_MAX_LABEL_CHARS = 40


def put_snapshot(root: str, text: str, original_name: str, at_ms: int) -> Result[str, Error]:
    """Keep `text`, durably; its path relative to the root. The file's name tells the original's, as far as is safe."""
    stem, ending = os.path.splitext(redact_path(os.path.basename(original_name)))
    label = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:_MAX_LABEL_CHARS] or "file"
    safe_ending = ending.lower() if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", ending) else ".txt"
    match sealed(directory_inside(root, SNAPSHOTS)):
        case Failure(error):
            return Failure(error)
        case Success(directory):
            try:
                name = put_text(root, SNAPSHOTS, text, iso_of(at_ms), label, safe_ending)
            except OSError as error:
                return Failure(store_io(error, "write to", directory))
            return Success(f"{SNAPSHOTS}/{name}")


def file_snapshot_away(root: str, path: str, target: str) -> Result[None, Error]:
    """Move a snapshot to the directory `target` of its retired entry. One that is not there counts as moved."""
    return (
        _moved(root, path, f"{target}/{os.path.basename(path)}") if path.startswith(f"{SNAPSHOTS}/") else Success(None)
    )


def fetch_snapshot_back(root: str, path: str, sources: tuple[str, ...]) -> Result[None, Error]:
    """Bring a snapshot back to its place from the first of the directories that has it. An error where that cannot be told
    of one: the entry that it belongs to is not to come back without it (P6)."""
    there = those_there(root, (f"{source}/{os.path.basename(path)}" for source in sources))
    return there.bind(lambda found: _moved(root, found[0], path) if found else Success(None))


def _moved(root: str, source: str, target: str) -> Result[None, Error]:
    match sealed(directory_inside(root, os.path.dirname(target))):
        case Failure(error):
            return Failure(error)
        case Success(directory):
            try:
                make_directories(directory)
                move_file(f"{root}/{source}", f"{root}/{target}")
            except FileNotFoundError:
                return Success(None)
            except OSError as error:
                return Failure(store_io(error, "move", f"{root}/{source}"))
            return Success(None)
