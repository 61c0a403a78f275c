"""The inbox entries that named a session: those that wait, those that were worked on, those that were given up."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, read_file
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED
from agent_memory.adapters.inbox.inbox_files import is_entry_name
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.domain.explaining.session_trace import Capture, Place
from agent_memory.domain.inbox_entry import InboxEntry, session_id_of
from agent_memory.domain.queue import Outcome, Trouble
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry
from agent_memory.values import frozen
from agent_memory.wording import describe

MOST_OPENED = 100_000
"""Files of each directory, the newest first: what is older is told by the session's mark, its notes and the runs."""

MOST_KEPT = 2_000
"""Captures in memory: a beginning may be that of all sessions there are."""

_PLACES: Mapping[str, Place] = {INBOX: "waiting", PROCESSED: "processed", FAILED: "given-up"}


@frozen
class FoundCaptures:
    """The captures, newest first, and how many files were not looked into."""

    captures: tuple[Capture, ...]
    unopened: int
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each."""


def captures_beginning_with(root: str, session_id: str) -> Result[FoundCaptures, Error]:
    """The captures of every session whose id begins so, of any harness."""

    def found(troubles: Mapping[str, Trouble]) -> Result[FoundCaptures, Error]:
        captures: list[Capture] = []
        unread: list[str] = []
        unopened = 0
        for relative, place in _PLACES.items():
            match sealed(_names_in(root, relative)):
                case Failure(error):
                    return Failure(error)
                case Success(names):
                    opened = 0
                    for name in islice(names, MOST_OPENED):
                        if len(captures) == MOST_KEPT:
                            break
                        opened += 1
                        image: FileImage | None = None
                        match sealed(read_file(f"{root}/{relative}/{name}", MAX_RETIRED_BYTES)):
                            case Success(there):
                                image = there
                            case Failure(error):
                                unread.append(describe(error))
                        capture = _capture(image, name, place, session_id, troubles)
                        captures += [] if capture is None else [capture]
                    unopened += len(names) - opened
        newest_first = tuple(sorted(captures, key=lambda each: (-each.at_ms, each.name)))
        return Success(FoundCaptures(newest_first, unopened, tuple(unread)))

    return QueueTroubles(root).read().bind(found)


def _names_in(root: str, relative: str) -> Result[tuple[str, ...], Error]:
    """By name, the newest first: a name begins with the time of its capture."""
    return names_inside(root, relative, is_entry_name).map(lambda names: names[::-1])


def _capture(
    image: FileImage | None, name: str, place: Place, session_id: str, troubles: Mapping[str, Trouble]
) -> Capture | None:
    """The capture in a file; None for one of another session, and for what is no entry: `memory status` tells of those."""
    if image is None or session_id.encode("utf-8", "backslashreplace") not in image.data:
        return None
    entry, outcome = _understood(image.data.decode("utf-8", "replace"), place)
    named = None if entry is None else session_id_of(entry)
    if entry is None or named is None or not named.startswith(session_id):
        return None
    return Capture(
        harness=entry.harness,
        session_id=named,
        place=place,
        name=name,
        at_ms=entry.at_ms,
        cwd=entry.context.cwd,
        repo=entry.context.repo,
        trouble=troubles.get(queue_key(entry, name)) if place == "waiting" else None,
        outcome=outcome,
    )


def _understood(text: str, place: Place) -> tuple[InboxEntry | None, Outcome | None]:
    if place == "waiting":
        return parse_inbox_entry(text).value_or(None), None
    return parse_retired_entry(text).value_or((None, None))
