"""The names in a directory of a store, and what each file looks like from outside. No file is opened."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from stat import S_ISREG
from typing import NamedTuple

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import close_quietly, directory_inside, known_by
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.values import frozen

NOTE_ENDING = ".md"


class OtherName(NamedTuple):
    """A name in a directory that is not that of a regular file of a note."""

    name: str
    is_directory: bool = False
    oddity: int | OSError | None = None
    """Why it is none, though it has a name that notes have: its `st_mode`, or what the operating system said."""


@frozen
class ShelfLook:
    """What is on a shelf, in no order."""

    files: Mapping[str, bytes]
    """What each regular file of a note is known by, by its path relative to the root."""
    others: Sequence[OtherName]


class _Collector:
    has_frozen = False


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
            if not _Collector.has_frozen and gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def kept_for_good() -> None:
    """What is there by now is never looked through by the collector again: for what is kept as long as the process lasts."""
    gc.freeze()
    _Collector.has_frozen = True


def look_at_shelf(root: str, directory: str) -> Result[ShelfLook, Error]:
    """What is in a directory of a real root; nothing where there is no such directory."""
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                # Through its descriptor each `stat` looks up one name, and not the whole path again.
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    with keeping_all(), os.scandir(descriptor) as found:
                        return Success(_sorted_out(found, f"{directory}/"))
                finally:
                    close_quietly(descriptor)
            except FileNotFoundError:
                return Success(ShelfLook({}, ()))
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _sorted_out(found: Iterable[os.DirEntry[str]], prefix: str) -> ShelfLook:
    files: dict[str, bytes] = {}
    others: list[OtherName] = []
    for entry in found:
        name = entry.name
        if name.startswith(".") or not name.endswith(NOTE_ENDING):
            others.append(OtherName(name, is_directory=entry.is_dir(follow_symlinks=False)))
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            others.append(OtherName(name, oddity=error))
            continue
        if S_ISREG(status.st_mode):
            files[prefix + name] = known_by(status)
        else:
            others.append(OtherName(name, oddity=status.st_mode))
    return ShelfLook(files, others)


def looks_of(path: str) -> bytes | int | OSError:
    """What one regular file is known by, else why it is none (see `OtherName.oddity`)."""
    try:
        status = os.lstat(path)
    except OSError as error:
        return error
    return known_by(status) if S_ISREG(status.st_mode) else status.st_mode


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
