"""Everything below the root as `lstat` sees it. No link is followed, nothing is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter

from agent_memory.domain.checkup.file_checks import Found

_NOT_ENTERED = ".git"
"""Beginning of the names of directories that are git's business: the repository, and those that were moved aside."""


Looking = Callable[[], Iterable[Found | OSError]]


def walk(root: str, otherwise: Mapping[str, Looking] | None = None) -> Iterator[Found | OSError]:
    """The root and all below it, directories before what is in them; an error where a directory cannot be looked at. What is
    directly in some directories may be found `otherwise`."""
    try:
        yield _found("", os.lstat(root))
    except FileNotFoundError:
        return
    except OSError as error:
        yield error
        return
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        looking = (otherwise or {}).get(directory)
        for each in _in_directory(root, directory) if looking is None else looking():
            yield each
            if isinstance(each, Found) and stat.S_ISDIR(each.mode) and not _is_gits(each.path):
                waiting.append(each.path)


def _is_gits(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_NOT_ENTERED)


def _in_directory(root: str, directory: str) -> list[Found | OSError]:
    """By name. Through the directory's descriptor each `lstat` looks up one name, and not the whole path again."""
    found: list[Found | OSError] = []
    prefix = f"{directory}/" if directory else ""
    try:
        descriptor = os.open(f"{root}/{directory}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            with os.scandir(descriptor) as entries:
                for entry in sorted(entries, key=attrgetter("name")):
                    path = prefix + entry.name
                    try:
                        found.append(_found(path, entry.stat(follow_symlinks=False)))
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        error.filename = f"{root}/{path}"
                        found.append(error)
        finally:
            os.close(descriptor)
    except OSError as error:
        error.filename = f"{root}/{directory}"
        found.append(error)
    return found


def _found(path: str, status: os.stat_result) -> Found:
    return Found(path, status.st_mode, status.st_uid, status.st_mtime_ns // 1_000_000)
