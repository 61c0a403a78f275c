"""How entries leave the inbox, and how given-up ones come back. Each step may be the last before a crash (P3).

An entry is written to where it goes, with its outcome, before it is taken out of the inbox; a rerun finds it in both
places and goes on from there. Nothing is overwritten but an earlier copy of the very same entry. What was consumed is
kept without the secrets in its names; what was given up keeps what finds its session, since it may come back.
"""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import create_file, make_directories
from agent_memory.adapters.disk.file_in_root import drop_file, put_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.adapters.inbox.inbox_put import INBOX, put_text, random_digits
from agent_memory.adapters.inbox.inbox_snapshots import fetch_snapshot_back, file_snapshot_away
from agent_memory.adapters.inbox.inbox_texts import entry_in, retired_in
from agent_memory.domain.inbox_entry import FileSnapshot, InboxEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import Outcome, Pending
from agent_memory.domain.queueing.fold import is_same_work, queue_key
from agent_memory.domain.queueing.redacted_entry import as_captured, as_consumed
from agent_memory.errors import Error, InboxEntryInvalid, StoreIo
from agent_memory.formats.inbox_json import render_inbox_entry, render_retired_entry
from agent_memory.results import sealed

PROCESSED = f"{INBOX}/.processed"
FAILED = f"{INBOX}/.failed"


def leave(root: str, pending: Pending, outcome: Outcome, target: str) -> Result[None, Error]:
    """Move all files of `pending` to `target` with the outcome added, then the snapshot if there is one.

    A file that is gone counts as moved; one that no longer asks for what was worked on stays, to be worked on next.
    """
    for name in pending.names:
        match sealed(_leave_one(root, name, pending, outcome, target)):
            case Failure(error):
                return Failure(error)
            case Success(_):
                continue
    if isinstance(pending.entry.retrieval, FileSnapshot):
        return file_snapshot_away(root, pending.entry.retrieval.path, target)
    return Success(None)


def _leave_one(root: str, name: str, pending: Pending, outcome: Outcome, target: str) -> Result[None, Error]:
    match sealed(entry_in(f"{root}/{INBOX}/{name}")):
        case Success(entry):
            if entry is None or not is_same_work(entry, name, pending):
                return Success(None)
            entry = as_consumed(entry) if target == PROCESSED else as_captured(entry)
            text = render_retired_entry(entry, outcome)
            return _put_and_drop(root, f"{target}/{_free_name(root, target, name, entry)}", text, f"{INBOX}/{name}")
        case Failure(InboxEntryInvalid()):
            return Success(None)
        case Failure(error):
            return Failure(error)


def _put_and_drop(root: str, put: str, text: str, drop: str) -> Result[None, Error]:
    match sealed(put_file(root, put, text)):
        case Failure(error):
            return Failure(error)
        case Success(_):
            return drop_file(root, drop).alt(_as_error)


def _free_name(root: str, directory: str, name: str, entry: InboxEntry) -> str:
    """The name, or the first numbered one that nothing else has; a copy of this very entry may be replaced."""
    stem = name.removesuffix(".json")
    candidates = (name, *(f"{stem}~{number}.json" for number in range(2, 100)))
    free = (candidate for candidate in candidates if _is_free(f"{root}/{directory}/{candidate}", entry))
    return next(free, f"{stem}~{random_digits()}.json")


def _is_free(path: str, entry: InboxEntry) -> bool:
    match sealed(retired_in(path)):
        case Success(there):
            return there is None or there == entry
        case Failure(_):
            return False


def is_retired(root: str, name: str, entry: InboxEntry) -> Result[bool, Error]:
    """Whether the entry was retired by a run that was stopped before it could take this copy out of the inbox."""
    match sealed(retired_in(f"{root}/{PROCESSED}/{name}")):
        case Success(there):
            return Success(there == as_consumed(entry))
        case Failure(InboxEntryInvalid()):
            return Success(False)
        case Failure(error):
            return Failure(error)


# -- coming back ------------------------------------------------------------------------------------------------------


def bring_back(root: str, names: list[str]) -> Result[frozenset[str], Error]:
    """Put what was given up back into the inbox; the queue keys. What is malformed, or no entry of ours, stays."""
    keys: set[str] = set()
    for name in names:
        match sealed(retired_in(f"{root}/{FAILED}/{name}")):
            case Success(entry):
                if entry is None:
                    continue
                match sealed(_bring_one_back(root, name, entry)):
                    case Success(new_name):
                        keys.add(queue_key(entry, new_name))
                    case Failure(error):
                        return Failure(error)
            case Failure(InboxEntryInvalid()):
                continue
            case Failure(error):
                return Failure(error)
    return Success(frozenset(keys))


def _bring_one_back(root: str, name: str, entry: InboxEntry) -> Result[str, Error]:
    if isinstance(entry.retrieval, FileSnapshot):
        match sealed(fetch_snapshot_back(root, entry.retrieval.path, (FAILED, PROCESSED))):
            case Failure(error):
                return Failure(error)
            case Success(_):
                pass
    match sealed(_make_pending(root, name, entry)):
        case Failure(error):
            return Failure(error)
        case Success(new_name):
            return drop_file(root, f"{FAILED}/{name}").map(lambda _: new_name).alt(_as_error)


def _make_pending(root: str, name: str, entry: InboxEntry) -> Result[str, Error]:
    path = f"{root}/{INBOX}/{name}"
    text = render_inbox_entry(entry)
    try:
        create_file(path, text.encode("utf-8", "backslashreplace"))
    except FileExistsError:
        match sealed(entry_in(path)):
            case Success(there) if there == entry:
                return Success(name)
            case _:
                return put_entry(root, entry, text)
    except OSError as error:
        return Failure(store_io(error, "write", path))
    return Success(name)


def put_entry(root: str, entry: InboxEntry, text: str) -> Result[str, Error]:
    """Write a new inbox file that holds `text`; its name."""
    match sealed(directory_inside(root, INBOX)):
        case Failure(error):
            return Failure(error)
        case Success(directory):
            try:
                make_directories(directory)
                return Success(put_text(root, INBOX, text, iso_of(entry.at_ms), entry.harness, ".json"))
            except OSError as error:
                return Failure(store_io(error, "write to", directory))


def _as_error(error: StoreIo) -> Error:
    return error
