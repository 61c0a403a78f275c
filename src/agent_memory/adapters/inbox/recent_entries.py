"""The inbox's entries of sessions, whatever became of them, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, read_file
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED
from agent_memory.adapters.inbox.inbox_files import is_entry_name
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES
from agent_memory.domain.inbox_entry import FileSnapshot, InboxEntry, InlineNote
from agent_memory.errors import Error
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry
from agent_memory.results import sealed

MOST_OPENED = 5_000
"""Of all the files, by name: a name begins with the time of its capture."""


def recent_entries(root: str, most: int = MOST_OPENED) -> Iterator[Result[InboxEntry, Error]]:
    """Of a real root; an error where something cannot be looked at, which may be the newest (P6). What is no entry, and what
    is no session, is left out: `memory status` tells of it."""
    found: list[tuple[str, str]] = []
    for place in (INBOX, PROCESSED, FAILED):
        match sealed(names_inside(root, place, is_entry_name)):
            case Failure(error):
                yield Failure(error)
            case Success(names):
                found += [(name, place) for name in names]
    for name, place in islice(sorted(found, reverse=True), most):
        match sealed(read_file(f"{root}/{place}/{name}", MAX_RETIRED_BYTES)):
            case Failure(error):
                yield Failure(error)
            case Success(image):
                # One that is gone has moved on meanwhile.
                entry = None if image is None else _entry(place, image)
                if entry is not None and not isinstance(entry.retrieval, InlineNote | FileSnapshot):
                    yield Success(entry)


def _entry(place: str, image: FileImage) -> InboxEntry | None:
    text = image.data.decode("utf-8", "replace")
    return parse_inbox_entry(text).value_or(None) if place == INBOX else parse_retired_entry(text).value_or((None,))[0]
