"""Files under the root by their relative paths: read, put, dropped, listed. Errors are StoreIo and PathRefused."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from agent_memory.adapters.disk.durable import fsync_directory, make_directories, replace_file
from agent_memory.adapters.disk.paths import as_store_io, directory_in, path_in, read_image, real_root
from agent_memory.errors import PathRefused, StoreIo

if TYPE_CHECKING:
    from pathlib import Path


T = TypeVar("T")


class Codec(Protocol[T]):
    """One kind of file: `json_codec.Format`, or what is asked as one is."""

    def render(self, value: T) -> str:
        """The text of the file."""
        ...

    def parse(self, data: bytes, path: str) -> T:
        """What was rendered; StateCorrupt for anything else."""
        ...


MAX_STATE_BYTES = 4 << 20
"""Of a small file of ours."""

# -- one file ---------------------------------------------------------------------------------------------------------


def read_bytes(root: str, relative: str, max_bytes: int) -> bytes | None:
    """What the file holds; None where there is none."""
    image = read_image(path_in(root, relative), max_bytes)
    return None if image is None else image.data


def write_text(root: str, relative: str, text: str) -> None:
    """Make the file hold `text` (UTF-8), durably, with the directories it needs. Half a surrogate pair, which has no
    bytes, becomes its own JSON escape."""
    parent = os.path.dirname(relative)
    directory = directory_in(root, parent) if parent else root
    with as_store_io("write", f"{root}/{relative}"):
        make_directories(directory)
        replace_file(f"{root}/{relative}", text.encode("utf-8", "backslashreplace"))


def remove_file(root: str, relative: str) -> None:
    """Remove the file, durably; one that is not there counts as removed."""
    path = f"{root}/{relative}"
    with as_store_io("remove", path), suppress(FileNotFoundError):
        os.unlink(path)
        fsync_directory(os.path.dirname(path))


class JsonFile(Generic[T]):
    """A JSON file of ours under the root."""

    def __init__(self, root: Path | str, relative: str, format: Codec[T], max_bytes: int = MAX_STATE_BYTES) -> None:
        self.path = relative
        self._root = real_root(root)
        self._format = format
        self._max_bytes = max_bytes

    def read(self) -> T | None:
        """The value; None where there is no file. A damaged one is StateCorrupt, never None (P6)."""
        data = read_bytes(self._root, self.path, self._max_bytes)
        return None if data is None else self._format.parse(data, f"{self._root}/{self.path}")

    def write(self, value: T) -> None:
        """Replace the value, durably."""
        write_text(self._root, self.path, self._format.render(value))

    def remove(self) -> None:
        """Remove the file; one that is not there counts as removed."""
        path_in(self._root, self.path)
        remove_file(self._root, self.path)


# -- directories ------------------------------------------------------------------------------------------------------


def names_in(directory: str, is_wanted: Callable[[str], bool] = bool) -> tuple[str, ...]:
    """The names in a directory that are wanted, sorted; none where there is no directory. StoreIo for one that cannot be
    listed, which is never taken for an empty one (P6)."""
    with as_store_io("list", directory):
        try:
            return tuple(sorted(filter(is_wanted, os.listdir(directory))))
        except FileNotFoundError:
            return ()


def names_below(root: str, relative: str, is_wanted: Callable[[str], bool] = bool) -> tuple[str, ...]:
    """Those of a directory below the root; PathRefused where a symbolic link leads out of it."""
    return names_in(directory_in(root, relative), is_wanted)


def subdirectories(directory: str) -> tuple[str, ...]:
    """The names of the directories in a directory, links left out, sorted; none where there is no such directory (P6)."""
    with as_store_io("list", directory):
        try:
            with os.scandir(directory) as found:
                return tuple(sorted(each.name for each in found if each.is_dir(follow_symlinks=False)))
        except FileNotFoundError:
            return ()


def files_below(directory: str) -> tuple[str, ...]:
    """The paths of all files below a directory, links not followed. Unlike in `os.walk` a directory that cannot be listed
    is an error, and not passed over (P6)."""
    with as_store_io("list", directory):
        walk = os.walk(directory, onerror=_refuse, followlinks=False)
        return tuple(f"{parent}/{name}" for parent, _, names in walk for name in names)


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


# -- derived files ----------------------------------------------------------------------------------------------------

CACHE = ".cache"
_FORMER = (
    "analysis",
    "compared",
    "examined",
    "past-sessions.json",
    "listing-topics",
    "listing-archive",
    "search/index.db",
    "search/index.db-journal",
)
"""What was noticed in notes, what comparing them found, what doctor found in each, listings, and the index."""


def remove_former(root: Path | str) -> None:
    """Remove the files that earlier versions kept, and none reads any more: they say what was in notes."""
    with suppress(PathRefused, StoreIo):
        directory = directory_in(real_root(root), CACHE)
        for name in _FORMER:
            with suppress(OSError):
                os.unlink(f"{directory}/{name}")
        with suppress(OSError):
            os.rmdir(f"{directory}/search")
