"""What a directory holds, by name."""

from __future__ import annotations

import os
from collections.abc import Callable

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.errors import Error


def listed_names(directory: str, is_wanted: Callable[[str], bool] = bool) -> Result[tuple[str, ...], Error]:
    """The names in a directory that are wanted, sorted; none where there is no directory. StoreIo for one that cannot be
    listed, which is never taken for an empty one (P6)."""
    try:
        return Success(tuple(sorted(filter(is_wanted, os.listdir(directory)))))
    except FileNotFoundError:
        return Success(())
    except OSError as error:
        return Failure(store_io(error, "list", directory))


def names_inside(root: str, relative: str, is_wanted: Callable[[str], bool] = bool) -> Result[tuple[str, ...], Error]:
    """Those of a directory below the root; PathRefused where a symbolic link leads out of it."""
    return directory_inside(root, relative).bind(lambda directory: listed_names(directory, is_wanted))


def directories_in(directory: str) -> Result[tuple[str, ...], Error]:
    """The names of the directories in a directory, links left out, sorted; none where there is no such directory (P6)."""
    try:
        with os.scandir(directory) as found:
            return Success(tuple(sorted(each.name for each in found if each.is_dir(follow_symlinks=False))))
    except FileNotFoundError:
        return Success(())
    except OSError as error:
        return Failure(store_io(error, "list", directory))


def files_below(directory: str) -> Result[tuple[str, ...], Error]:
    """The paths of all files below a directory, links not followed. Unlike in `os.walk` a directory that cannot be listed
    is an error, and not passed over (P6)."""
    found: list[str] = []
    try:
        for parent, _, names in os.walk(directory, onerror=_refuse, followlinks=False):
            found += [f"{parent}/{name}" for name in names]
    except OSError as error:
        return Failure(store_io(error, "list", directory))
    return Success(tuple(found))


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
