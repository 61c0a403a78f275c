"""Which sessions the files of the inbox are about."""

from __future__ import annotations

from collections.abc import Iterable

from returns.result import Failure, Result, Success

from agent_memory.adapters.inbox.inbox_exit import FAILED
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES, entry_in, text_in
from agent_memory.domain.inbox_entry import UPGRADE_EVENT
from agent_memory.domain.queue import KnownSessions
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, InboxEntryInvalid
from agent_memory.formats.inbox_json import parse_retired_entry


def known_sessions(root: str, waiting: Iterable[str], given_up: Iterable[str]) -> Result[KnownSessions, Error]:
    """What these files of `inbox/` and of `inbox/.failed/` are about. What is malformed is about nothing; one that the
    operating system would not let us read is an error: what it asks for may be what the caller is about to ask for."""
    keys: set[str] = set()
    asked_again: set[str] = set()
    for name in waiting:
        match sealed(entry_in(f"{root}/{INBOX}/{name}")):
            case Success(entry):
                if entry is not None:
                    keys.add(queue_key(entry, name))
                    asked_again.update([queue_key(entry, name)] if entry.context.event == UPGRADE_EVENT else [])
            case Failure(InboxEntryInvalid()):
                continue
            case Failure(error):
                return Failure(error)
    at_ms: dict[str, int] = {}
    for name in given_up:
        match sealed(_given_up(f"{root}/{FAILED}/{name}", name)):
            case Success(found):
                if found is not None:
                    key, given_up_at_ms = found
                    at_ms[key] = max(given_up_at_ms, at_ms.get(key, 0))
            case Failure(error):
                return Failure(error)
    return Success(KnownSessions(frozenset(keys), frozenset(asked_again), at_ms))


def _given_up(path: str, name: str) -> Result[tuple[str, int] | None, Error]:
    """The queue key and when it was given up; None for what never was an entry."""
    match sealed(text_in(path, MAX_RETIRED_BYTES)):
        case Success(text):
            retired = None if text is None else parse_retired_entry(text).value_or(None)
            return Success(None if retired is None else (queue_key(retired[0], name), retired[1].at_ms))
        case Failure(InboxEntryInvalid()):
            return Success(None)
        case Failure(error):
            return Failure(error)
