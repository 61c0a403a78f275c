"""What is in `inbox/.failed/`, and why."""

from __future__ import annotations

import json
import os

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.inbox.inbox_exit import FAILED
from agent_memory.adapters.inbox.inbox_files import is_entry_name
from agent_memory.adapters.inbox.inbox_quarantine import REASON_ENDING
from agent_memory.adapters.inbox.inbox_texts import printable
from agent_memory.domain.health import FailedEntry
from agent_memory.errors import Error

MOST_REASONS = 200
"""Of so many entries at most the reason is read, so that a status stays quick."""
_MAX_BYTES = 1 << 20


def failed_entries(root: str) -> Result[tuple[FailedEntry, ...], Error]:
    """Every entry that was given up and every file that never was an entry, by name."""
    directory = f"{root}/{FAILED}"
    try:
        present = set(os.listdir(directory))
    except FileNotFoundError:
        return Success(())
    except OSError as error:
        return Failure(store_io(error, "list", directory))
    names = sorted(name for name in present if is_entry_name(name))
    return Success(
        tuple(
            _failed_entry(directory, name, f"{name}{REASON_ENDING}" in present, number < MOST_REASONS)
            for number, name in enumerate(names)
        )
    )


def _failed_entry(directory: str, name: str, malformed: bool, with_reason: bool) -> FailedEntry:
    reason = _reason(f"{directory}/{name}{REASON_ENDING if malformed else ''}") if with_reason else ""
    return FailedEntry(printable(name), reason, malformed)


def _reason(path: str) -> str:
    """The reason in a file of ours; empty where it cannot be read, which must not hide the rest of the status."""
    content = read_file(path, _MAX_BYTES).value_or(None)
    try:
        document = json.loads(content.data) if content is not None else None
    except (ValueError, RecursionError):
        return ""
    match document:
        case {"problems": [*problems]}:
            return "; ".join(map(str, problems))
        case {"outcome": {"reason": str(reason)}}:
            return reason
        case _:
            return ""
