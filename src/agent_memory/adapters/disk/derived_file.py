"""Files in `.cache/` of a store: derived, so that what cannot be read is made anew, and what cannot be written done without."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from returns.result import Failure, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file
from agent_memory.adapters.disk.paths import directory_inside, is_directory, read_file, real_root
from agent_memory.results import sealed

if TYPE_CHECKING:
    from pathlib import Path

CACHE = ".cache"
_FORMER = (
    "analysis",
    "compared",
    "examined",
    "listing-topics",
    "listing-archive",
    "search/index.db",
    "search/index.db-journal",
)
"""What was noticed in notes, what comparing them found, what doctor found in each, listings, and the index."""


def read_derived(root: Path | str, name: str, max_bytes: int) -> bytes | None:
    """The bytes of the file; None where it is absent, too long or not to be read."""
    path = directory_inside(real_root(root), CACHE).map(lambda there: f"{there}/{name}")
    image = path.bind(lambda there: read_file(there, max_bytes)).value_or(None)
    return None if image is None else image.data


def write_derived(root: Path | str, name: str, data: bytes) -> None:
    """Replace the file durably, if that can be done. A store that is not there yet is not made for it."""
    if is_directory(str(root)) != Success(True):
        return
    match sealed(directory_inside(real_root(root), CACHE)):
        case Success(directory):
            try:
                make_directories(directory)
                replace_file(f"{directory}/{name}", data)
            except OSError:
                return
        case Failure(_):
            return


def remove_former(root: Path | str) -> None:
    """Remove the files that earlier versions kept, and none reads any more: they say what was in notes."""
    match sealed(directory_inside(real_root(root), CACHE)):
        case Success(directory):
            for name in _FORMER:
                with suppress(OSError):
                    os.unlink(f"{directory}/{name}")
            with suppress(OSError):
                os.rmdir(f"{directory}/search")
        case Failure(_):
            return
