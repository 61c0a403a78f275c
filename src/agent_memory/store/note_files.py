"""The files of notes: the names in a directory of a store, their stat values, and their contents; and the row that the
database keeps of each."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from operator import attrgetter
from stat import S_ISREG
from typing import TYPE_CHECKING

from attrs import evolve, fields, frozen

from agent_memory.errors import EntryUnreadable, PathRefused, StateCorrupt, StoreIo
from agent_memory.files import paths
from agent_memory.files.paths import FileImage, as_store_io, directory_in, look_of, oddity, path_in, store_io
from agent_memory.note.file_name import id_in_name, is_note_name
from agent_memory.note.note import (
    TIERS_FILE,
    Harness,
    Importance,
    Kind,
    Listed,
    Meta,
    Origin,
    Sensitivity,
    Source,
    Status,
    StoredEntry,
    TierList,
    UnreadableFile,
    body_hash,
)
from agent_memory.results import as_result, unwrap
from agent_memory.text.ids import content_hash, is_id

if TYPE_CHECKING:
    from agent_memory.rules.change import FileState

TOPICS = "topics"
ARCHIVE = "archive"
RUNS = "runs"

TRANSACTION = ".transaction"
JOURNAL = f"{TRANSACTION}/journal.json"
"""Exists while a batch is being applied, or since its process died."""

Seen = Listed | UnreadableFile
"""A note's file as a listing has it."""

MAX_FILE_BYTES = 4 << 20
"""A larger file is not a note: it is neither read nor moved."""


# -- what a file holds ------------------------------------------------------------------------------------------------


def read_image(root: str, path: str, max_bytes: int = MAX_FILE_BYTES) -> FileImage | None:
    """Returns the file at a path relative to a real root; None if there is none."""
    return paths.read_image(path_in(root, path), max_bytes)


def read_stored(root: str, path: str, listed: Listed | None = None) -> StoredEntry | None:
    """Returns what `understand` does of the file at a path relative to a real root; None if there is none."""
    image = read_image(root, path)
    return None if image is None else understand(path, image.data, image.mtime_ns, listed)


def understand(path: str, data: bytes, mtime_ns: int, listed: Listed | None = None) -> StoredEntry:
    """Returns the note in these bytes at this path: live in `topics/`, archived in `archive/`, or a version at
    `archive/<id>/<ms>.md`, where the directory supplies the id if the file does not. Of a `listed` note, unchanged bytes
    are parsed only for the body, and keep the listing's instants. Raises EntryUnreadable."""
    if listed is not None and content_hash(data) == listed.content_hash:
        from agent_memory.note.frontmatter import split_note

        return StoredEntry(listed, split_note(data.decode()).body)
    from agent_memory.note.note_format import read_note  # not needed if the database knows every file

    note = read_note(data, path, mtime_ns // 1_000_000)
    directory = os.path.basename(os.path.dirname(path))
    if is_id(directory) and note.meta.id != directory:
        if not note.provisional_id:
            raise EntryUnreadable(path, (f"it lies under {directory} but says that it is {note.meta.id}",))
        note = evolve(note, meta=evolve(note.meta, id=directory), provisional_id=False)
    listed = Listed(
        note.meta,
        path,
        content_hash(data),
        archived=path.startswith(f"{ARCHIVE}/"),
        provisional_id=note.provisional_id,
        body_hash=body_hash(note.body),
        conflicted=note.conflicted,
    )
    return StoredEntry(listed, note.body)


def entry_or_none(path: str, data: bytes, mtime_ns: int) -> StoredEntry | None:
    """Like `understand`, but returns None for an invalid note."""
    try:
        return understand(path, data, mtime_ns)
    except EntryUnreadable:
        return None


def unreadable(path: str, error: EntryUnreadable | PathRefused | StoreIo) -> UnreadableFile:
    """Returns the listing's item for a file that could not be read."""
    match error:
        case EntryUnreadable(_, problems):
            return UnreadableFile(path, problems)
        case PathRefused(_, reason):
            return UnreadableFile(path, (reason,))
        case StoreIo(_, _, errno_name, reason):
            return UnreadableFile(path, (f"it cannot be read: {reason} ({errno_name})",), error)


def trouble_with(id: str, unreadable: Iterable[UnreadableFile]) -> EntryUnreadable | StoreIo | None:
    """Returns why the note of an id that is not listed may still exist: its file is invalid, or one cannot be read (P6)."""
    for file in unreadable:
        if file.io_error is not None:
            return file.io_error
        if id in (id_in_name(file.path), file.path.split("/")[1]):
            return EntryUnreadable(file.path, file.problems)
    return None


# -- the tier list ----------------------------------------------------------------------------------------------------


def render_tiers(tiers: TierList) -> bytes:
    """Returns `{"hot": ["id__a1b2c3", …], "warm": […]}` with one id a line, so that changes read well in git."""
    return (json.dumps({"hot": list(tiers.hot), "warm": list(tiers.warm)}, indent=2) + "\n").encode("ascii")


@as_result
def parse_tiers(data: bytes, path: str) -> TierList:
    """Returns the rendered tier list; raises StateCorrupt with every problem, never returns an empty list (P6)."""
    from agent_memory.text.json_codec import InvalidValue, load_document, value_of  # hooks never get here

    try:
        tiers: TierList = value_of(load_document(data), TierList)
    except InvalidValue as error:
        raise StateCorrupt(path, error.problems) from error
    if twice := [f"{id} is in it twice" for id, count in Counter((*tiers.hot, *tiers.warm)).items() if count > 1]:
        raise StateCorrupt(path, tuple(twice))
    return tiers


def tiers_in(root: str, file: FileImage | FileState | None) -> TierList:
    """Returns the tier list in its file under a real root; empty if there is none."""
    return TierList() if file is None else unwrap(parse_tiers(file.data, f"{root}/{TIERS_FILE}"))


# -- stat values ------------------------------------------------------------------------------------------------------


@frozen
class DirectoryListing:
    """The contents of a directory of notes, unordered, without opening any file."""

    files: Mapping[str, int]
    """`paths.look_of` for each regular file of a note, by its path relative to the root."""
    odd: tuple[UnreadableFile, ...] = ()
    """Other things with the name of a note."""
    directories: tuple[str, ...] = ()
    """Paths of other directories that are not hidden, and of what may be one if the disk does not tell."""


def list_directory(root: str, directory: str) -> DirectoryListing:
    """Returns the contents of a directory of a real root; nothing if it does not exist."""
    absolute = directory_in(root, directory)
    files: dict[str, int] = {}
    odd: list[UnreadableFile] = []
    directories: list[str] = []
    with as_store_io("list", absolute), suppress(FileNotFoundError), os.scandir(absolute) as found:
        for entry in found:
            path = f"{directory}/{entry.name}"
            if is_note_name(entry.name):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    trouble = unreadable(path, store_io(error, "read", path))
                else:
                    if S_ISREG(status.st_mode):
                        files[path] = look_of(status)
                        continue
                    trouble = UnreadableFile(path, (oddity(status.st_mode) or "",))
                odd.append(trouble if is_text(path) else unnameable(path))
            elif not entry.name.startswith("."):
                try:
                    may_be_directory = entry.is_dir(follow_symlinks=False)
                except OSError:  # not every file system returns types with names
                    may_be_directory = True
                if may_be_directory:
                    directories.append(path)
    return DirectoryListing(files, tuple(odd), tuple(directories))


def unnameable(path: str) -> UnreadableFile:
    """Returns the listing's item for a file whose name is not text."""
    return UnreadableFile(printable(path), ("its name is not UTF-8",))


def is_text(path: str) -> bool:
    """Returns whether the path is UTF-8: SQLite accepts nothing else."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """Returns a name that is safe to show."""
    return os.fsencode(path).decode("utf-8", "replace")


@frozen
class ReadFile:
    """A file as just read; without a hash if it is gone or unreadable."""

    path: str
    look: int | None = None
    """None if it cannot be relied on."""
    hash: str | None = None
    stored: StoredEntry | None = None
    trouble: UnreadableFile | None = None

    @property
    def seen(self) -> Seen | None:
        return self.trouble if self.stored is None else self.stored.listed

    @property
    def is_unread(self) -> bool:
        return self.hash is None and self.trouble is not None


def standing(provisional: bool, id: str, path: str) -> tuple[bool, bool, str]:
    """Returns a sort key: of several files with one id, the first is the note, which is the one that states the id and
    has it in its name. Copies made by sync programs have the id in the middle of theirs."""
    return (provisional, id_in_name(path) != id, path)


# -- a listed note as a JSON array: the row of the index --------------------------------------------------------------
# It is derived data, read only by the version that wrote it.

_META = tuple(each.name for each in fields(Meta))
_LISTED = tuple(name for name in (each.name for each in fields(Listed)) if name != "meta")
_SOURCE = tuple(each.name for each in fields(Source))

LISTED_LAYOUT = repr((_META, _LISTED, _SOURCE))
"""Changes with the fields: rows of another layout must not be read."""

_ENUMS = tuple(
    (_META.index(name), {member.value: member for member in members})
    for name, members in (
        ("kind", Kind),
        ("status", Status),
        ("origin", Origin),
        ("importance", Importance),
        ("sensitivity", Sensitivity),
    )
)
_TURNS = _SOURCE.index("turns")
_HARNESSES = {member.value: member for member in Harness}
_TAGS, _CLEARED, _ALIASES, _SUPERSEDES, _SOURCES = (
    _META.index(name) for name in ("tags", "cleared", "aliases", "supersedes", "sources")
)

_render = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_parse = json.JSONDecoder().raw_decode
_meta_values = attrgetter(*_META)
_listed_values = attrgetter(*_LISTED)
_source_values = attrgetter(*_SOURCE)


def render_listed(listed: Listed) -> str:
    """Returns the array: the values of `meta`, then the others."""
    meta = list(_meta_values(listed.meta))
    meta[_SOURCES] = [_source_values(source) for source in listed.meta.sources]
    return _render([meta, *_listed_values(listed)])


def parse_listed(text: str) -> Listed:
    """Returns the rendered note. Raises ValueError, TypeError or LookupError for damaged data."""
    (meta, *others), end = _parse(text)
    if end != len(text):
        raise ValueError("this is not an array of one note")
    for at, members in _ENUMS:
        meta[at] = members[meta[at]]
    for at in (_TAGS, _CLEARED, _ALIASES, _SUPERSEDES):
        meta[at] = tuple(meta[at])
    for source in meta[_SOURCES]:
        source[0], source[_TURNS] = _HARNESSES[source[0]], tuple(source[_TURNS])
    meta[_SOURCES] = tuple([Source(*source) for source in meta[_SOURCES]])
    return Listed(Meta(*meta), *others)
