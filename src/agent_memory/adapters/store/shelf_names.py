"""The names in a directory of a store, and what each file looks like from outside. No file is opened."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import not_
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.directory_state import NOWHERE, DirectoryLook, look_of, look_through
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.errors import Error
from agent_memory.results import sealed


class OtherName(NamedTuple):
    """A name in a directory that is not that of a regular file of a note."""

    name: str
    is_directory: bool = False
    """Or may be one: a disk may not tell of what cannot be looked at."""
    oddity: int | OSError | None = None
    """Why it is none, though it has a name that notes have: its `st_mode`, or what the operating system said."""


@frozen
class ShelfLook:
    """What is on a shelf, in no order."""

    files: Mapping[str, int]
    """How each regular file of a note looks (`directory_state.look_of`), by its path relative to the root."""
    others: Sequence[OtherName]
    state: int | None = NOWHERE
    """See `DirectoryLook`; None where something on it cannot be looked at."""


class Odd(NamedTuple):
    """What is no regular file."""

    why: int | OSError
    """See `OtherName.oddity`."""


def look_at_shelf(root: str, directory: str) -> Result[ShelfLook, Error]:
    """What is in a directory of a real root; nothing where there is no such directory."""
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                return Success(_sorted_out(look_through(path), f"{directory}/"))
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _sorted_out(look: DirectoryLook, prefix: str) -> ShelfLook:
    names, looks, others = look.names, look.looks, list[OtherName]()
    are_notes = list(map(is_note_name, names))
    if look.irregular:
        are_notes = [is_note and name not in look.irregular for name, is_note in zip(names, are_notes, strict=True)]
    if not all(are_notes):
        others = [_other(name, look.irregular.get(name)) for name in compress(names, map(not_, are_notes))]
        names, looks = list(compress(names, are_notes)), list(compress(looks, are_notes))
    others += (_refused(*each) for each in look.refused)
    files = dict(zip((prefix + name for name in names), looks, strict=True))
    return ShelfLook(files, tuple(others), None if look.refused else look.state)


def _other(name: str, mode: int | None) -> OtherName:
    return OtherName(name, oddity=mode) if is_note_name(name) else OtherName(name, mode is not None and S_ISDIR(mode))


def _refused(name: str, may_be_directory: bool, error: OSError) -> OtherName:
    return OtherName(name, oddity=error) if is_note_name(name) else OtherName(name, may_be_directory)


def looks_of(path: str) -> int | Odd:
    """How one regular file looks, else why it is none."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return Odd(error)
    if not S_ISREG(status.st_mode):
        return Odd(status.st_mode)
    return look_of(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def is_open_directory(found: OtherName) -> bool:
    """Whether it is a directory that is not hidden."""
    return found.is_directory and not found.name.startswith(".")


def is_text(path: str) -> bool:
    """Whether it is UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """A name as it may be shown."""
    return os.fsencode(path).decode("utf-8", "replace")
