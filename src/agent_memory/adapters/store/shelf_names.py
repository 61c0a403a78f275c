"""The names in a directory of a store, and what each file looks like from outside. No file is opened."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.directory_state import NOWHERE, look_of, own_look
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import close_quietly, directory_inside
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.garbage import keeping_all
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

    files: Mapping[str, int]
    """How each regular file of a note looks (`directory_state.look_of`), by its path relative to the root."""
    others: Sequence[OtherName]
    state: int | None = NOWHERE[0]
    """What `directory_state` says of the shelf; None where something on it cannot be looked at."""


class Odd(NamedTuple):
    """What is no regular file."""

    why: int | OSError
    """See `OtherName.oddity`."""


def look_at_shelf(root: str, directory: str, before: Mapping[str, int] | None = None) -> Result[ShelfLook, Error]:
    """What is in a directory of a real root; nothing where there is no such directory. Of `before`, the files of an earlier
    look, it takes the very paths: those of 50,000 notes are ten megabytes, and need not be there twice."""
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                # Through its descriptor each `stat` looks up one name, and not the whole path again.
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    of_directory = own_look(os.fstat(descriptor))
                    with keeping_all(), os.scandir(descriptor) as found:
                        look, count = _sorted_out(found, f"{directory}/", of_directory, dict(before or {}))
                    if len(look.files) == count:
                        return Success(look)
                    # Of those before some are gone.
                    with keeping_all(), os.scandir(descriptor) as found:
                        return Success(_sorted_out(found, f"{directory}/", of_directory, {})[0])
                finally:
                    close_quietly(descriptor)
            except FileNotFoundError:
                return Success(ShelfLook({}, ()))
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _sorted_out(
    found: Iterable[os.DirEntry[str]], prefix: str, of_directory: int, files: dict[str, int]
) -> tuple[ShelfLook, int]:
    """What is there, added to these files, and how many of those that are in it now are there."""
    count = 0
    others: list[OtherName] = []
    looks_total, is_whole = of_directory, True
    for entry in found:
        name = entry.name
        is_named_so = name.endswith(NOTE_ENDING) and not name.startswith(".")
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            is_whole &= isinstance(error, FileNotFoundError)  # gone meanwhile, which the directory tells the next time
            is_directory = not is_named_so and entry.is_dir(follow_symlinks=False)
            others.append(OtherName(name, is_directory, error if is_named_so else None))
            continue
        look = hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino))  # `look_of`
        looks_total += look
        if not is_named_so:
            others.append(OtherName(name, S_ISDIR(status.st_mode)))
        elif S_ISREG(status.st_mode):
            files[prefix + name] = look  # a path that is in it stays the very same
            count += 1
        else:
            others.append(OtherName(name, oddity=status.st_mode))
    return ShelfLook(files, others, looks_total if is_whole else None), count


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
