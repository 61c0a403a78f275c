"""The names in a directory of a store, and what each file looks like from outside. No file is opened."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import close_quietly, directory_inside, known_by
from agent_memory.domain.results import sealed
from agent_memory.errors import Error

NOTE_ENDING = ".md"

Looks = tuple[int, bytes]
"""What a file looks like from outside: its `st_mode`, and what it is known by."""


class FoundName(NamedTuple):
    """A name in a directory, and what is known of it without opening it."""

    name: str
    is_directory: bool
    looks: Looks | OSError | None
    """Only of names that notes have."""


@contextmanager
def keeping_all() -> Generator[None, None, None]:
    """Without the cyclic collector: it would look again and again through many small values, all of which are kept.

    They end in its oldest generation without having been looked at (freezing and thawing moves lists, nothing else).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def scan_shelf(root: str, directory: str) -> Result[tuple[FoundName, ...], Error]:
    """Every name in a directory of a real root, in no order; none where there is no such directory."""
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                # Through its descriptor each `stat` looks up one name, and not the whole path again.
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    with keeping_all(), os.scandir(descriptor) as found:
                        return Success(tuple(map(_found, found)))
                finally:
                    close_quietly(descriptor)
            except FileNotFoundError:
                return Success(())
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _found(entry: os.DirEntry[str]) -> FoundName:
    name = entry.name
    if name.startswith(".") or not name.endswith(NOTE_ENDING):
        return FoundName(name, entry.is_dir(follow_symlinks=False), None)
    try:
        status = entry.stat(follow_symlinks=False)
        return FoundName(name, False, (status.st_mode, known_by(status)))
    except OSError as error:
        return FoundName(name, False, error)


def looks_of(path: str) -> Looks | OSError:
    """Of one file."""
    try:
        status = os.lstat(path)
        return status.st_mode, known_by(status)
    except OSError as error:
        return error


def is_open_directory(found: FoundName) -> bool:
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
