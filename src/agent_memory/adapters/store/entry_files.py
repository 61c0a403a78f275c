"""One file of an entry, read and understood."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import FileImage, inside, read_file
from agent_memory.domain.entry import Listed, StoredEntry, UnreadableFile
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.text.derive import body_hash
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryUnreadable, Error, PathRefused, StoreIo

if TYPE_CHECKING:
    from agent_memory.formats.note import ParsedNote

TOPICS = "topics"
ARCHIVE = "archive"
RUNS = "runs"

TRANSACTION = ".transaction"
JOURNAL = f"{TRANSACTION}/journal.json"
"""It exists while a batch is on its way, or was when its process died."""

MAX_FILE_BYTES = 4 << 20
"""A larger file is no memory entry: it is neither read nor moved."""


def read_image(root: str, path: str) -> Result[FileImage | None, Error]:
    """The bytes of the file at a path relative to a real root; None where there is none."""
    return inside(root, path).bind(lambda absolute: read_file(absolute, MAX_FILE_BYTES))


def understand(path: str, data: bytes, mtime_ns: int) -> Result[StoredEntry, EntryUnreadable]:
    """The entry that these bytes are at this path: live in `topics/`, archived in `archive/`.

    A version lies at `archive/<id>/<ms>.md`: there the directory states the id where the file itself does not.
    """
    from agent_memory.formats.note import parse_note  # not needed where the listing cache knows every file

    return (
        parse_note(data, path, mtime_ns // 1_000_000)
        .bind(lambda note: _under_its_id(note, path))
        .map(
            lambda note: StoredEntry(
                Listed(
                    note.meta,
                    path,
                    content_hash(data),
                    archived=path.startswith(f"{ARCHIVE}/"),
                    provisional_id=note.provisional_id,
                    body_hash=body_hash(note.body),
                    conflicted=note.conflicted,
                ),
                note.body,
            )
        )
    )


def understand_again(listed: Listed, data: bytes, mtime_ns: int) -> Result[StoredEntry, EntryUnreadable]:
    """The same for the file of an entry that was listed: bytes that are still the same are not read once more, but for the
    body. Instants that such a file takes from its mtime stay those of the listing."""
    if content_hash(data) != listed.content_hash:
        return understand(listed.path, data, mtime_ns)
    from agent_memory.formats.frontmatter import split_note

    body = split_note(data.decode("utf-8", "replace")).map(lambda parts: StoredEntry(listed, parts.body))
    return body.lash(lambda _: understand(listed.path, data, mtime_ns))


def unreadable(path: str, error: Error) -> UnreadableFile:
    """How a listing says that a file could not be read."""
    match error:
        case EntryUnreadable(_, problems):
            return UnreadableFile(path, problems)
        case PathRefused(_, reason):
            return UnreadableFile(path, (reason,))
        case StoreIo(_, _, errno_name, reason):
            return UnreadableFile(path, (f"it cannot be read: {reason} ({errno_name})",), error)
        case _:
            return UnreadableFile(path, (error.code,))


def _under_its_id(note: ParsedNote, path: str) -> Result[ParsedNote, EntryUnreadable]:
    directory = os.path.basename(os.path.dirname(path))
    if not is_id(directory) or note.meta.id == directory:
        return Success(note)
    if note.provisional_id:
        return Success(evolve(note, meta=evolve(note.meta, id=directory), provisional_id=False))
    return Failure(EntryUnreadable(path, (f"it lies under {directory} but says that it is {note.meta.id}",)))
