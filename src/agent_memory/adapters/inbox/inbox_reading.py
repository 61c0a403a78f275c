"""Reading the inbox: its names, its files, and what they tell without a queue being made of them.

A file is None where there is none, and `InboxEntryInvalid` where it is malformed; any other error says nothing about what is in
the file (P6).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import FILE_MODE, append_line, flush, make_directories
from agent_memory.adapters.disk.paths import (
    JsonFile,
    as_store_io,
    directory_in,
    exists,
    names_below,
    names_in,
    read_image,
    remove_file,
)
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.domain.health import FailedEntry
from agent_memory.domain.instants import ms_of
from agent_memory.domain.queue import FileSnapshot, InboxEntry, InlineNote, Trouble
from agent_memory.errors import Error, InboxEntryInvalid, PathRefused, StateCorrupt, StoreIo
from agent_memory.formats.inbox_json import (
    MAX_ENTRY_BYTES,
    TROUBLES as FORMAT,
    entry_of,
    render_changes,
    with_changes,
)
from agent_memory.results import as_result, unwrap

PROCESSED = f"{INBOX}/.processed"
FAILED = f"{INBOX}/.failed"
REASON_ENDING = ".reason.json"
"""Of the file beside a malformed one that says what is wrong with it."""

MAX_RETIRED_BYTES = 4 << 20

# -- names and files --------------------------------------------------------------------------------------------------


def is_entry_name(name: str) -> bool:
    """Whether a file counts as an entry: `….json`, not hidden, not the reason beside a malformed one."""
    return name.endswith(".json") and not name.startswith(".") and not name.endswith(REASON_ENDING)


def printable(name: str) -> str:
    """A file's name as it may be shown on any terminal."""
    return name if name.isprintable() else ascii(name)[1:-1]


def text_in(path: str, max_bytes: int) -> str | None:
    """The text of a regular file in UTF-8 of at most `max_bytes`; anything else that lies there is malformed."""
    try:
        image = read_image(path, max_bytes)
        return None if image is None else image.data.decode()
    except PathRefused as refused:
        raise InboxEntryInvalid((refused.reason,)) from refused
    except UnicodeDecodeError as error:
        raise InboxEntryInvalid((f"the file is not UTF-8 at byte {error.start:,}",)) from error


def entry_in(root: str, place: str, name: str) -> InboxEntry | None:
    """The entry in a file of the inbox (`place`: INBOX, PROCESSED or FAILED)."""
    text = text_in(f"{root}/{place}/{name}", MAX_ENTRY_BYTES if place == INBOX else MAX_RETIRED_BYTES)
    return None if text is None else entry_of(text)


# -- what was given up ------------------------------------------------------------------------------------------------

MOST_REASONS = 200
"""Of so many entries at most the reason is read, so that a status stays quick."""
_MAX_REASON_BYTES = 1 << 20


@as_result
def failed_entries(root: str) -> tuple[FailedEntry, ...]:
    """Every entry that was given up and every file that never was an entry, by name."""
    directory = f"{root}/{FAILED}"
    present = frozenset(names_in(directory))
    found: list[FailedEntry] = []
    for number, name in enumerate(sorted(filter(is_entry_name, present))):
        malformed = f"{name}{REASON_ENDING}" in present
        path = f"{directory}/{name}{REASON_ENDING if malformed else ''}"
        found.append(FailedEntry(printable(name), _reason(path) if number < MOST_REASONS else "", malformed))
    return tuple(found)


def _reason(path: str) -> str:
    """The reason in a file of ours; empty where it cannot be read, which must not hide the rest of the status."""
    try:
        image = read_image(path, _MAX_REASON_BYTES)
        document = None if image is None else json.loads(image.data)
    except (PathRefused, StoreIo, ValueError, RecursionError):
        return ""
    match document:
        case {"problems": [*problems]}:
            return "; ".join(map(str, problems))
        case {"outcome": {"reason": str(reason)}}:
            return reason
        case _:
            return ""


# -- captures, told from names alone ----------------------------------------------------------------------------------

_NAME = re.compile(r"(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3}Z)_([a-z][a-z-]*)_[0-9A-Za-z]+\.json", re.ASCII)


@as_result
def captures(root: str) -> tuple[tuple[str, int], ...]:
    """Harness and instant (epoch ms) of every entry, told from its name, each harness's newest last: waiting, worked on or
    given up."""
    found = chain.from_iterable(names_below(root, relative) for relative in (INBOX, PROCESSED, FAILED))
    told = [(name[5], ms_of(f"{name[1]}{name[2]}:{name[3]}:{name[4]}")) for name in map(_NAME.fullmatch, found) if name]
    return tuple(sorted((harness, at_ms) for harness, at_ms in told if at_ms is not None))


# -- entries, the newest first ----------------------------------------------------------------------------------------

MOST_OPENED = 5_000
"""Of all the files, by name: a name begins with the time of its capture."""


def newest_entries(root: str, places: Iterable[str], most: int = MOST_OPENED) -> Iterator[Result[InboxEntry, Error]]:
    """The entries that lie in these places, at most so many; an error where something cannot be looked at, which may be the
    newest (P6). What is malformed is left out, since `memory status` tells of it, and what has moved on meanwhile."""
    found: list[tuple[str, str]] = []
    for place in places:
        try:
            found += [(name, place) for name in names_below(root, place, is_entry_name)]
        except (StoreIo, PathRefused) as error:
            yield Failure(error)
    for name, place in sorted(found, reverse=True)[:most]:
        try:
            entry = entry_in(root, place, name)
        except InboxEntryInvalid:
            continue
        except (StoreIo, PathRefused) as error:
            yield Failure(error)
        else:
            if entry is not None:
                yield Success(entry)


def recent_entries(root: str, most: int = MOST_OPENED) -> Iterator[Result[InboxEntry, Error]]:
    """The newest entries of sessions below a real root, whatever became of them."""
    for each in newest_entries(root, (INBOX, PROCESSED, FAILED), most):
        if isinstance(each, Failure) or not isinstance(each.unwrap().retrieval, InlineNote | FileSnapshot):
            yield each


# -- what is wrong with the queue -------------------------------------------------------------------------------------
# What pending entries have been through, of those only that are in trouble: a file, and a line for each change since, so
# that a crowd of entries in trouble does not cost a whole file each.


TROUBLES = f"{INBOX}/.queue.json"
CHANGES = f"{INBOX}/.queue.jsonl"
MAX_BYTES = 64 << 20


@frozen
class QueueTroubles:
    """The trouble of one root's entries by `queue_key`; written by the holder of the run lock alone."""

    root: str

    @as_result
    def read(self) -> Mapping[str, Trouble]:
        """All of it. A damaged file is an error, never "no trouble" (P6)."""
        path = f"{self.root}/{CHANGES}"
        try:
            return with_changes(self._whole.read() or {}, text_in(path, MAX_BYTES) or "")
        except InboxEntryInvalid as malformed:
            raise StateCorrupt(path, malformed.problems) from malformed

    def settled(self) -> Mapping[str, Trouble]:
        """The same, once it is in one file: for the beginning of a run. After a crash in between the changes count again,
        which makes no difference."""
        troubles = unwrap(self.read())
        if exists(f"{self.root}/{CHANGES}"):
            self._whole.write(dict(sorted(troubles.items())))
            remove_file(self.root, CHANGES)
        return troubles

    def clear(self, keys: Collection[str]) -> None:
        """Forget the trouble of some entries; writes nothing where none has any."""
        if exists(f"{self.root}/{TROUBLES}") or exists(f"{self.root}/{CHANGES}"):
            self.change(dict.fromkeys(keys))

    @property
    def _whole(self) -> JsonFile[dict[str, Trouble]]:
        return JsonFile(self.root, TROUBLES, FORMAT, MAX_BYTES)

    def change(self, changes: Mapping[str, Trouble | None]) -> None:
        """Replace the trouble of these entries; None where one has none any more."""
        directory = directory_in(self.root, INBOX)
        path = f"{self.root}/{CHANGES}"
        with as_store_io("write", path):
            make_directories(directory)
            append_line(path, render_changes(changes).encode("utf-8", "backslashreplace"), FILE_MODE)
            flush(path)
