"""The inbox's entries of sessions, whatever became of them, newest first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from agent_memory.adapters.disk.paths import directory_inside, read_file
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED
from agent_memory.adapters.inbox.inbox_files import is_entry_name
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES
from agent_memory.domain.inbox_entry import FileSnapshot, InboxEntry, InlineNote
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry

MOST_OPENED = 5_000
"""Of all the files, by name: a name begins with the time of its capture."""


def recent_entries(root: str, most: int = MOST_OPENED) -> Iterator[InboxEntry]:
    """Of a real root. What cannot be read, and what is no session, is left out: `memory status` tells of it."""
    places = ((INBOX, name) for name in _names(root, INBOX))
    retired = ((place, name) for place in (PROCESSED, FAILED) for name in _names(root, place))
    newest = sorted((*places, *retired), key=lambda found: found[1], reverse=True)
    for place, name in islice(newest, most):
        entry = _entry(root, place, name)
        if entry is not None and not isinstance(entry.retrieval, InlineNote | FileSnapshot):
            yield entry


def _names(root: str, place: str) -> list[str]:
    try:
        return [name for name in os.listdir(directory_inside(root, place).value_or("")) if is_entry_name(name)]
    except OSError:
        return []


def _entry(root: str, place: str, name: str) -> InboxEntry | None:
    image = read_file(f"{root}/{place}/{name}", MAX_RETIRED_BYTES).value_or(None)
    if image is None:
        return None
    text = image.data.decode("utf-8", "replace")
    return parse_inbox_entry(text).value_or(None) if place == INBOX else parse_retired_entry(text).value_or((None,))[0]
