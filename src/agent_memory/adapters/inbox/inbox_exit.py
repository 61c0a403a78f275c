"""How entries leave the inbox, and how given-up ones come back. Each step may be the last before a crash (P3).

An entry is written to where it goes, with its outcome, before it is taken out of the inbox; a rerun finds it in both
places and goes on from there. Nothing is overwritten but an earlier copy of the very same entry. What was consumed is
kept without the secrets in its names; what was given up keeps what finds its session, since it may come back. A malformed file
is moved aside with the reason beside it, never deleted (P6), and without secrets (P20).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress

from attrs import field, frozen

from agent_memory.adapters.disk.durable import create_file, make_directories, move_file, replace_file
from agent_memory.adapters.disk.paths import as_store_io, directory_in, exists, read_image
from agent_memory.adapters.disk.root_files import remove_file, write_text
from agent_memory.adapters.inbox.inbox_put import INBOX, put_text, random_digits
from agent_memory.adapters.inbox.inbox_reading import (
    FAILED,
    PROCESSED,
    REASON_ENDING,
    pending_in,
    printable,
    retired_in,
)
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot, InboxEntry
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import Outcome, Pending, Quarantined
from agent_memory.domain.queueing.fold import is_same_work, queue_key
from agent_memory.domain.queueing.redacted_entry import as_captured, as_consumed
from agent_memory.domain.redaction import redact_path, redact_with_paths
from agent_memory.errors import AgentMemoryError, InboxEntryInvalid, PathRefused, StoreIo
from agent_memory.formats.inbox_json import render_inbox_entry, render_retired_entry
from agent_memory.results import as_result

# -- leaving ----------------------------------------------------------------------------------------------------------


def leave(root: str, pending: Pending, outcome: Outcome, target: str) -> None:
    """Move all files of `pending` to `target` with the outcome added, then the snapshot if there is one.

    A file that is gone counts as moved; one that no longer asks for what was worked on stays, to be worked on next.
    """
    for name in pending.names:
        with suppress(InboxEntryInvalid):
            entry = pending_in(f"{root}/{INBOX}/{name}")
            if entry is not None and is_same_work(entry, name, pending):
                entry = as_consumed(entry) if target == PROCESSED else as_captured(entry)
                free = _free_name(root, target, name, entry)
                write_text(root, f"{target}/{free}", render_retired_entry(entry, outcome))
                remove_file(root, f"{INBOX}/{name}")
    snapshot = pending.entry.retrieval
    if isinstance(snapshot, FileSnapshot) and snapshot.path.startswith(f"{SNAPSHOTS}/"):
        _move_snapshot(root, snapshot.path, f"{target}/{os.path.basename(snapshot.path)}")


def _free_name(root: str, directory: str, name: str, entry: InboxEntry) -> str:
    """The name, or the first numbered one that nothing else has; a copy of this very entry may be replaced."""
    stem = name.removesuffix(".json")
    candidates = (name, *(f"{stem}~{number}.json" for number in range(2, 100)))
    free = (candidate for candidate in candidates if _is_free(f"{root}/{directory}/{candidate}", entry))
    return next(free, f"{stem}~{random_digits()}.json")


def _is_free(path: str, entry: InboxEntry) -> bool:
    try:
        there = retired_in(path)
    except AgentMemoryError:
        return False
    return there is None or there[0] == entry


def is_retired(root: str, name: str, entry: InboxEntry) -> bool:
    """Whether the entry was retired by a run that was stopped before it could take this copy out of the inbox."""
    try:
        there = retired_in(f"{root}/{PROCESSED}/{name}")
    except InboxEntryInvalid:
        return False
    return there is not None and there[0] == as_consumed(entry)


# -- coming back ------------------------------------------------------------------------------------------------------


def bring_back(root: str, names: Iterable[str]) -> frozenset[str]:
    """Put what was given up back into the inbox; the queue keys. What is malformed, or no entry of ours, stays."""
    keys: set[str] = set()
    for name in names:
        try:
            retired = retired_in(f"{root}/{FAILED}/{name}")
        except InboxEntryInvalid:
            continue
        if retired is not None:
            entry = retired[0]
            if isinstance(entry.retrieval, FileSnapshot):
                _fetch_snapshot_back(root, entry.retrieval.path)
            new_name = _make_pending(root, name, entry)
            remove_file(root, f"{FAILED}/{name}")
            keys.add(queue_key(entry, new_name))
    return frozenset(keys)


def _make_pending(root: str, name: str, entry: InboxEntry) -> str:
    path = f"{root}/{INBOX}/{name}"
    text = render_inbox_entry(entry)
    try:
        with as_store_io("write", path):
            create_file(path, text.encode("utf-8", "backslashreplace"))
    except StoreIo as taken:
        if taken.errno_name != "EEXIST":
            raise
        with suppress(AgentMemoryError):
            if pending_in(path) == entry:
                return name
        return put_entry(root, entry, text)
    return name


def put_entry(root: str, entry: InboxEntry, text: str) -> str:
    """Write a new inbox file that holds `text`; its name."""
    directory = directory_in(root, INBOX)
    with as_store_io("write to", directory):
        make_directories(directory)
        return put_text(root, INBOX, text, iso_of(entry.at_ms), entry.harness, ".json")


# -- snapshots: redacted copies of files, beside the entries that name them -------------------------------------------

_MAX_LABEL_CHARS = 40


@as_result
def put_snapshot(root: str, text: str, original_name: str, at_ms: int) -> str:
    """Keep `text`, durably; its path relative to the root. The file's name tells the original's, as far as is safe."""
    stem, ending = os.path.splitext(redact_path(os.path.basename(original_name)))
    label = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:_MAX_LABEL_CHARS] or "file"
    safe_ending = ending.lower() if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", ending) else ".txt"
    directory = directory_in(root, SNAPSHOTS)
    with as_store_io("write to", directory):
        return f"{SNAPSHOTS}/{put_text(root, SNAPSHOTS, text, iso_of(at_ms), label, safe_ending)}"


def _fetch_snapshot_back(root: str, path: str) -> None:
    """Bring a snapshot back to its place. An error where it cannot be told whether it is there: the entry that it belongs to
    is not to come back without it (P6)."""
    copies = (f"{source}/{os.path.basename(path)}" for source in (FAILED, PROCESSED))
    if (there := next((copy for copy in copies if exists(f"{root}/{copy}")), None)) is not None:
        _move_snapshot(root, there, path)


def _move_snapshot(root: str, source: str, target: str) -> None:
    """One that is not there counts as moved."""
    directory = directory_in(root, os.path.dirname(target))
    with as_store_io("move", f"{root}/{source}"), suppress(FileNotFoundError):
        make_directories(directory)
        move_file(f"{root}/{source}", f"{root}/{target}")


# -- malformed files --------------------------------------------------------------------------------------------------

_MAX_NAME_BYTES = 200
_MAX_REDACTED_BYTES = 16 << 20
"""A larger file, 250 times as large as an entry may be, is moved as it is."""


@frozen
class Quarantine:
    """Where the malformed files of one load go. `taken` grows with each that was moved, `left` with each that could not be."""

    root: str
    now_ms: int
    taken: list[Quarantined] = field(factory=list[Quarantined])
    left: list[Quarantined] = field(factory=list[Quarantined])

    def take(self, name: str, problems: tuple[str, ...]) -> None:
        """Move the file and write its reason.

        The reason is durable before the file moves, so a crash in between loses nothing and is mended by the next load.
        """
        safe_name = redact_path(name.removesuffix(".json")) + ".json"
        problems = tuple(redact_with_paths(each) for each in problems)
        reason = "; ".join(problems)
        target = f"{self.root}/{FAILED}"
        document = {"version": 1, "name": safe_name, "at": iso_of(self.now_ms), "problems": problems}
        try:
            make_directories(target)
            free = _free_name_aside(target, safe_name)
            _take_out_secrets(f"{self.root}/{INBOX}/{name}")
            replace_file(f"{target}/{free}{REASON_ENDING}", (json.dumps(document, indent=1) + "\n").encode())
            move_file(f"{self.root}/{INBOX}/{name}", f"{target}/{free}")
        except OSError as error:
            words = f"{reason}; and it could not be moved aside: {error.strerror}"
            self.left.append(Quarantined(printable(safe_name), words))
        else:
            self.taken.append(Quarantined(printable(safe_name), reason))


def _take_out_secrets(path: str) -> None:
    """Replace what is secret in a regular file: whatever it was meant to be, it stays on the disk now."""
    try:
        image = read_image(path, _MAX_REDACTED_BYTES)
    except (PathRefused, StoreIo):
        return
    text = "" if image is None else image.data.decode(errors="surrogateescape")
    if (safe := redact_with_paths(text)) != text:
        replace_file(path, safe.encode(errors="surrogateescape"))


def _free_name_aside(directory: str, name: str) -> str:
    """The name, unless it is taken or leaves no room for the reason's; then a part of it with random digits. Raises OSError
    where that cannot be told: what bears it already would be written over (P6)."""
    if len(os.fsencode(name)) <= _MAX_NAME_BYTES:
        try:
            os.lstat(f"{directory}/{name}")
        except FileNotFoundError:
            return name
    stem = os.fsdecode(os.fsencode(name.removesuffix(".json"))[: _MAX_NAME_BYTES - 20])
    return f"{stem}~{random_digits()}.json"
