"""The inbox's files that name a session, or hold the text that a note was made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from attrs import field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import read_file, those_there
from agent_memory.adapters.inbox.inbox_exit import FAILED, PROCESSED
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_quarantine import REASON_ENDING
from agent_memory.adapters.inbox.inbox_texts import MAX_RETIRED_BYTES
from agent_memory.domain.forgetting.sources import SessionKey
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot, InboxEntry, InlineNote, session_id_of
from agent_memory.domain.queue import Outcome
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, PathRefused
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry
from agent_memory.results import sealed

_PLACES = (INBOX, PROCESSED, FAILED)


@frozen
class InboxTraces:
    """Files relative to the root, the keys under which their trouble is kept, and what the inbox tells of the session."""

    paths: tuple[str, ...] = ()
    keys: frozenset[str] = field(default=frozenset())
    entry_ids: frozenset[str] = field(default=frozenset())
    """Entries that were recorded as made of the session."""
    harnesses: frozenset[Harness] = field(default=frozenset())


@frozen
class _File:
    path: str
    data: bytes
    entry: InboxEntry | None
    outcome: Outcome | None


def inbox_of_session(root: str, session: SessionKey) -> Result[InboxTraces, Error]:
    """Every file that names the session, malformed ones too."""
    needle = session.session_id.encode("utf-8", "surrogatepass")

    def is_meant(file: _File) -> bool:
        if file.entry is None:
            return needle in file.data
        return session_id_of(file.entry) == session.session_id and session.harness in (None, file.entry.harness)

    return _found(root, is_meant)


def inbox_of_entries(root: str, ids: frozenset[str]) -> Result[InboxTraces, Error]:
    """Notes and copies of files that entries were made of: they hold the text."""

    def is_meant(file: _File) -> bool:
        if file.entry is None or file.outcome is None:
            return False
        holds_text = isinstance(file.entry.retrieval, InlineNote | FileSnapshot)
        return holds_text and not ids.isdisjoint(file.outcome.entry_ids)

    return _found(root, is_meant) if ids else Success(InboxTraces())


def _found(root: str, is_meant: Callable[[_File], bool]) -> Result[InboxTraces, Error]:
    paths: dict[str, None] = {}
    keys: set[str] = set()
    made: set[str] = set()
    harnesses: set[Harness] = set()
    for found in _files(root):
        if isinstance(found, Failure):
            return found
        file = found.unwrap()
        if not is_meant(file):
            continue
        beside = those_there(root, _beside(file))
        if isinstance(beside, Failure):
            return beside
        paths |= dict.fromkeys((file.path, *beside.unwrap()))
        if file.entry is not None:
            keys.add(queue_key(file.entry, file.path.rpartition("/")[2]))
            harnesses.add(file.entry.harness)
        made.update(() if file.outcome is None else file.outcome.entry_ids)
    return Success(InboxTraces(tuple(paths), frozenset(keys), frozenset(made), frozenset(harnesses)))


def _files(root: str) -> Iterator[Result[_File, Error]]:
    for place in _PLACES:
        match sealed(names_inside(root, place, _may_be_entry)):
            case Failure(refused):
                yield Failure(refused)
            case Success(names):
                for name in names:
                    yield from _read(root, place, name)


def _may_be_entry(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".") and not name.endswith(REASON_ENDING)


def _read(root: str, place: str, name: str) -> Iterator[Result[_File, Error]]:
    match sealed(read_file(f"{root}/{place}/{name}", MAX_RETIRED_BYTES)):
        case Failure(PathRefused()):
            return  # a link, a directory, something huge: no entry of ours, and nothing of it was ever read
        case Failure(error):
            yield Failure(error)
        case Success(image):
            if image is not None:
                text = image.data.decode("utf-8", "replace")
                entry, outcome = _understood(text, place)
                yield Success(_File(f"{place}/{name}", image.data, entry, outcome))


def _understood(text: str, place: str) -> tuple[InboxEntry | None, Outcome | None]:
    if place == INBOX:
        return parse_inbox_entry(text).value_or(None), None
    return parse_retired_entry(text).value_or((None, None))


def _beside(file: _File) -> Iterator[str]:
    """Where the reason of a malformed file may be, and the copy that an entry names, wherever it was moved."""
    yield f"{file.path}{REASON_ENDING}"
    if file.entry is not None and isinstance(file.entry.retrieval, FileSnapshot):
        name = os.path.basename(file.entry.retrieval.path)
        yield from (f"{place}/{name}" for place in (SNAPSHOTS, PROCESSED, FAILED))
