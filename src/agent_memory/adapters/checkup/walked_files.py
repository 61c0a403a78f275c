"""Everything below the root as `lstat` sees it. No link is followed, nothing is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent_memory.domain.checkup.file_checks import Found

_NOT_ENTERED = ".git"
"""Beginning of the names of directories that are git's business: the repository, and those that were moved aside."""


def walk(root: str) -> Iterator[Found | OSError]:
    """The root and all below it, directories before what is in them; an error where a directory cannot be looked at."""
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
        try:
            with os.scandir(f"{root}/{directory}") as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as error:
            yield error
            continue
        for name in names:
            path = f"{directory}/{name}" if directory else name
            try:
                found = _found(path, os.lstat(f"{root}/{path}"))
            except FileNotFoundError:
                continue
            except OSError as error:
                yield error
                continue
            yield found
            if stat.S_ISDIR(found.mode) and not name.startswith(_NOT_ENTERED):
                waiting.append(path)


def _found(path: str, status: os.stat_result) -> Found:
    return Found(path, status.st_mode, status.st_uid, status.st_mtime_ns // 1_000_000)
