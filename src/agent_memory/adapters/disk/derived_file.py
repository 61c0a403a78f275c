"""Files in `.cache/` of a store: derived, so that what cannot be read is made anew, and what cannot be written done without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from returns.result import Failure, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file, replace_loosely
from agent_memory.adapters.disk.paths import directory_inside, is_directory, open_regular, read_file, real_root
from agent_memory.domain.results import sealed

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

CACHE = ".cache"


def read_derived(root: Path | str, name: str, max_bytes: int) -> bytes | None:
    """The bytes of the file; None where it is absent, too long or not to be read."""
    path = directory_inside(real_root(root), CACHE).map(lambda there: f"{there}/{name}")
    image = path.bind(lambda there: read_file(there, max_bytes)).value_or(None)
    return None if image is None else image.data


def parse_derived(
    root: Path | str, name: str, max_bytes: int, parse: Callable[[Callable[[int], bytes], int], T | None]
) -> T | None:
    """What is parsed of the file, piece by piece: `parse` gets what reads so many of the next bytes, and how many there are.
    None where it is absent, too long, not to be read or not understood."""
    opened = directory_inside(real_root(root), CACHE).bind(lambda there: open_regular(f"{there}/{name}", os.O_RDONLY))
    match sealed(opened):
        case Success(descriptor):
            try:
                with open(descriptor, "rb") as file:
                    size_bytes = os.fstat(descriptor).st_size
                    return parse(file.read, size_bytes) if size_bytes <= max_bytes else None
            except OSError:
                return None
        case Failure(_):
            return None


def write_derived(root: Path | str, name: str, data: bytes) -> None:
    """Replace the file durably, if that can be done. A store that is not there yet is not made for it."""
    _write(root, name, lambda path: replace_file(path, data))


def write_derived_loosely(root: Path | str, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    """The same without waiting for the disk, of a file in which digests show what a power cut left half written."""
    _write(root, name, lambda path: replace_loosely(path, pieces))


def _write(root: Path | str, name: str, write: Callable[[str], None]) -> None:
    if is_directory(str(root)) != Success(True):
        return
    match sealed(directory_inside(real_root(root), CACHE)):
        case Success(directory):
            try:
                make_directories(directory)
                write(f"{directory}/{name}")
            except OSError:
                return
        case Failure(_):
            return
