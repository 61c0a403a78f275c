"""One look at the files of both shelves, for bringing the index into line with them."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import partial

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.directory_state import directory_state
from agent_memory.adapters.disk.paths import directory_inside, known_by
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS
from agent_memory.adapters.store.shelf_names import NOTE_ENDING, is_text, look_at_shelf
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.values import frozen

_SHELVES = (TOPICS, ARCHIVE)


@frozen
class ShelfLook:
    """What both shelves look like from outside."""

    files: Mapping[str, bytes]
    """What each regular file of a note is known by (`paths.known_by`), by its path relative to the root: `topics/*.md` and
    the retired ones, `archive/*.md`. Earlier versions are not searched."""
    state: bytes | None
    """Of the same look: see `shelf_state`."""


def look_at_shelves(root: str) -> Result[ShelfLook, Error]:
    """What is there now, below a real root. A shelf that is not there is empty; one that cannot be listed is an error (P6)."""
    for shelf in _SHELVES:
        contained = directory_inside(root, shelf)
        if isinstance(contained, Failure):
            return contained
    files: dict[str, bytes] = {}
    try:
        states = tuple(directory_state(f"{root}/{shelf}", partial(_note, files, shelf))[0] for shelf in _SHELVES)
    except OSError:
        # One file that cannot be looked at hides no other.
        return _scanned(root).map(lambda scanned: ShelfLook(scanned, None))
    return Success(ShelfLook(files, b"%d %d" % states))


def _note(files: dict[str, bytes], shelf: str, name: str, status: os.stat_result) -> None:
    is_note = name.endswith(NOTE_ENDING) and name[0] != "." and stat.S_ISREG(status.st_mode)
    if is_note and (name.isprintable() or is_text(name)):
        files[f"{shelf}/{name}"] = known_by(status)


def _scanned(root: str) -> Result[Mapping[str, bytes], Error]:
    files: dict[str, bytes] = {}
    for shelf in _SHELVES:
        match sealed(look_at_shelf(root, shelf)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                files |= {path: look for path, look in found.files.items() if is_text(path)}
    return Success(files)
