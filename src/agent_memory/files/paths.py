"""Containment (P21): what may be opened under the storage root. No symbolic link inside the root is ever followed.

The root itself may be a symbolic link; it is resolved once. This guards against names from outside and against links in
a shared or cloned store, not against another process of the same user that swaps directories meanwhile.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from attrs import frozen

from agent_memory.errors import PathRefused, StoreIo
from agent_memory.files.durable import (
    FILE_MODE,
    close_quietly as close_quietly,
    fsync_directory,
    make_directories,
    replace_file,
)
from agent_memory.files.root import is_directory as is_a_directory

if TYPE_CHECKING:
    from agent_memory.text.json_codec import Documents

MAX_NAME_BYTES = 255


@frozen
class FileImage:
    """A regular file at the time it was opened."""

    data: bytes
    mtime_ns: int
    touched_ns: int
    """The later of its two times: nothing has changed since, within the clock's resolution."""
    look: int
    links: int = 1
    """How many names (hard links) it has."""


def real_root(root: Path | str) -> str:
    """Returns the real path of the root, whether or not it exists."""
    return os.path.realpath(root)


def look_of(status: os.stat_result) -> int:
    """Returns a number that changes when a file does, without reading it: the hash of both times, size and inode.
    Hashes of whole numbers, unlike those of texts, are the same in every process."""
    return hash((status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino))


def path_in(root: str, relative: str) -> str:
    """Returns the absolute path of `relative` (with `/`) under a real root. All directories on the way must be real
    ones or missing. The last name is not checked; `read_image` does that."""
    names = relative.split("/")
    if bad := next((name for name in names if not is_plain_name(name)), None):
        raise PathRefused(relative, f"{bad!r} is not a plain name")
    if "" in names:
        raise PathRefused(relative, "it is not a plain relative path")
    path = root
    for name in ("", *names[:-1]):
        path = f"{path}/{name}" if name else path
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            break
        except OSError as error:
            raise store_io(error, "open", path) from error
        if not stat.S_ISDIR(mode):
            raise PathRefused(path, oddity(mode) or "it is not a directory")
    return f"{root}/{relative}"


def directory_in(root: str, relative: str) -> str:
    """Like `path_in`, but the last name must be a directory too (or missing)."""
    return os.path.dirname(path_in(root, f"{relative}/.d"))


def exists(path: str) -> bool:
    """Returns whether something has this name, even a dangling link; raises an error if that cannot be told (P6)."""
    with as_store_io("look at", path):
        return lies_there(path)


def lies_there(path: str) -> bool:
    """Like `exists`, but raises OSError, for callers with words of their own. An impossible path does not exist."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return True


def existing_paths(root: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Returns the relative paths that exist; raises an error if that cannot be told of one (P6)."""
    return tuple(path for path in paths if exists(f"{root}/{path}"))


def is_directory(path: str) -> bool:
    """Returns whether this is a directory or a link to one. Unlike `os.path.isdir`, raises the disk's errors (P6)."""
    try:
        return is_a_directory(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
        raise store_io(error, "look at", path) from error


def is_plain_name(name: str) -> bool:
    """Returns whether a name has only one component on every file system we run on."""
    if name in ("", ".", "..") or "/" in name or "\x00" in name:
        return False
    try:
        return len(os.fsencode(name)) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        return False


def read_image(path: str, max_bytes: int) -> FileImage | None:
    """Returns the whole regular file, or None. Raises PathRefused for anything else or a larger file. Never blocks."""
    try:
        descriptor = open_checked(path, os.O_RDONLY)
    except StoreIo as error:
        if error.errno_name == "ENOENT":
            return None
        raise
    try:
        with as_store_io("read", path):
            status = os.fstat(descriptor)
            data = b"" if status.st_size > max_bytes else _read_all(descriptor, status.st_size, max_bytes)
    finally:
        close_quietly(descriptor)
    if max(status.st_size, len(data)) > max_bytes:
        raise PathRefused(path, f"it is larger than {max_bytes} bytes")
    touched_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    return FileImage(data, status.st_mtime_ns, touched_ns, look_of(status), status.st_nlink)


def open_checked(path: str, flags: int) -> int:
    """Returns a descriptor of a regular file, opened without following a link or blocking; new files get mode 0600."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        # ENXIO: a socket, or a FIFO without a reader.
        kinds = {
            errno.ELOOP: stat.S_IFLNK,
            errno.EMLINK: stat.S_IFLNK,
            errno.ENXIO: stat.S_IFIFO,
            errno.EISDIR: stat.S_IFDIR,
        }
        if error.errno in kinds:
            raise PathRefused(path, oddity(kinds[error.errno]) or "") from error
        raise store_io(error, "open", path) from error
    try:
        with as_store_io("open", path):
            if reason := oddity(os.fstat(descriptor).st_mode):
                raise PathRefused(path, reason)
    except BaseException:
        close_quietly(descriptor)
        raise
    return descriptor


def oddity(mode: int) -> str | None:
    """Returns why something with this `st_mode` cannot be read as a file; None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return "it is a symbolic link, and links inside the store are not followed"
    if stat.S_ISDIR(mode):
        return "it is a directory"
    return "it is not a regular file"


def _read_all(descriptor: int, size: int, max_bytes: int) -> bytes:
    """Returns all of it, up to one byte more than `max_bytes`; in one read if its size has not changed."""
    chunks: list[bytes] = []
    left, wanted = max_bytes + 1, size + 1
    while left > 0 and (chunk := os.read(descriptor, min(left, wanted))):
        chunks.append(chunk)
        left -= len(chunk)
        wanted = 1 << 16
    return b"".join(chunks)


# -- from the operating system's errors to ours ------------------------------------------------------------------------


def store_io(error: OSError, operation: str, path: str) -> StoreIo:
    """Returns the error for a failed `operation` (a verb: `write`, `read`, `list`) on `path`."""
    name = errno.errorcode.get(error.errno, "EUNKNOWN") if error.errno is not None else "EUNKNOWN"
    return StoreIo(path, operation, name, error.strerror or str(error))


@contextmanager
def as_store_io(operation: str, path: str) -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise store_io(error, operation, path) from error


# Files under the root by their relative paths. Errors are StoreIo and PathRefused.


T = TypeVar("T")


MAX_STATE_BYTES = 4 << 20
"""The limit for small files of ours."""

# -- one file ---------------------------------------------------------------------------------------------------------


def read_bytes(root: str, relative: str, max_bytes: int) -> bytes | None:
    """Returns the file's bytes, or None if there is none."""
    image = read_image(path_in(root, relative), max_bytes)
    return None if image is None else image.data


def write_text(root: str, relative: str, text: str) -> None:
    """Makes the file hold `text` (UTF-8; a lone surrogate becomes its JSON escape), durably; creates its directories."""
    parent = os.path.dirname(relative)
    directory = directory_in(root, parent) if parent else root
    with as_store_io("write", f"{root}/{relative}"):
        make_directories(directory)
        replace_file(f"{root}/{relative}", text.encode("utf-8", "backslashreplace"))


def remove_file(root: str, relative: str) -> None:
    """Removes the file durably, if it exists."""
    path = f"{root}/{relative}"
    with as_store_io("remove", path), suppress(FileNotFoundError):
        os.unlink(path)
        fsync_directory(os.path.dirname(path))


class JsonFile(Generic[T]):
    def __init__(self, root: Path | str, relative: str, format: Documents[T], max_bytes: int = MAX_STATE_BYTES) -> None:
        self.path = relative
        self._root = real_root(root)
        self._format = format
        self._max_bytes = max_bytes

    def read(self) -> T | None:
        """Returns the value, or None if there is no file. A damaged file is StateCorrupt (P6)."""
        data = read_bytes(self._root, self.path, self._max_bytes)
        return None if data is None else self._format.parse(data, f"{self._root}/{self.path}")

    def write(self, value: T) -> None:
        write_text(self._root, self.path, self._format.render(value))

    def remove(self) -> None:
        path_in(self._root, self.path)
        remove_file(self._root, self.path)


# -- directories ------------------------------------------------------------------------------------------------------


def names_in(directory: str, is_wanted: Callable[[str], bool] = bool) -> tuple[str, ...]:
    """Returns the wanted names in a directory, if it exists, sorted. StoreIo if it cannot be listed (P6)."""
    with as_store_io("list", directory):
        try:
            return tuple(sorted(filter(is_wanted, os.listdir(directory))))
        except FileNotFoundError:
            return ()


def names_below(root: str, relative: str, is_wanted: Callable[[str], bool] = bool) -> tuple[str, ...]:
    """Like `names_in`, for a directory below the root; PathRefused if a symbolic link leads out of it."""
    return names_in(directory_in(root, relative), is_wanted)


def subdirectories(directory: str) -> tuple[str, ...]:
    """Returns the names of a directory's subdirectories, without links, sorted; none if it does not exist (P6)."""
    with as_store_io("list", directory):
        try:
            with os.scandir(directory) as found:
                return tuple(sorted(each.name for each in found if each.is_dir(follow_symlinks=False)))
        except FileNotFoundError:
            return ()


def files_below(directory: str) -> tuple[str, ...]:
    """Returns the paths of all files below a directory, not through links. Raises an error if one cannot be listed
    (P6)."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    with as_store_io("list", directory):
        walk = os.walk(directory, onerror=refuse, followlinks=False)
        return tuple(f"{parent}/{name}" for parent, _, names in walk for name in names)


def walk(directory: str, enters: Callable[[str], bool]) -> Iterator[tuple[str, os.stat_result] | OSError]:
    """Yields everything below a directory by name, each directory before what is in it, with its `lstat`; an error for
    what cannot be looked at. Looks into those directories that it `enters`, never through a link."""
    try:
        names = sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield error
        return
    for name in names:
        path = f"{directory}/{name}"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield error
            continue
        yield path, status
        if stat.S_ISDIR(status.st_mode) and enters(path):
            yield from walk(path, enters)


# -- derived files ----------------------------------------------------------------------------------------------------

_FORMER = (
    "analysis",
    "compared",
    "examined",
    "past-sessions.json",
    "pieces",
    "listing-topics",
    "listing-archive",
    "search/index.db",
    "search/index.db-journal",
)
"""Caches of earlier versions: features and findings of notes, a vocabulary, listings, and the index."""


def remove_former(root: Path | str) -> None:
    """Removes files that only earlier versions used: they contain text from notes, and people have stores of those versions."""
    with suppress(PathRefused, StoreIo):
        directory = directory_in(real_root(root), ".cache")
        for name in _FORMER:
            with suppress(OSError):
                os.unlink(f"{directory}/{name}")
        with suppress(OSError):
            os.rmdir(f"{directory}/search")


# -- the installed program `memory`, and the files shipped with the code ----------------------------------------------
# They are in `agent_memory/prompts/` of an installed package, in `prompts/` of a source checkout.

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE, _PACKAGE.parent.parent)
_PROGRAM_NAMES = ("memory", "agent-memory")


def read_shipped(name: str) -> str:
    """Returns the text of a shipped file (`prompts/defrag.md`); raises StoreIo if it is missing or unreadable."""
    try:
        found = (place / name for place in _PLACES if (place / name).is_file())
        return next(found, _PLACES[0] / name).read_text("utf-8")
    except OSError as error:
        raise store_io(error, "read", str(error.filename or name)) from None


def memory_program(environ: Mapping[str, str]) -> str | None:
    """Returns the absolute path of the running `memory`: as it was called, else beside its interpreter, else on PATH.
    Links are not resolved: they survive an installer's updates."""
    import shutil  # loads every compressor there is

    called = os.path.abspath(sys.argv[0]) if sys.argv and os.path.basename(sys.argv[0]) in _PROGRAM_NAMES else None
    beside = [f"{os.path.dirname(sys.executable)}/{name}" for name in _PROGRAM_NAMES] if sys.executable else []
    on_path = shutil.which(_PROGRAM_NAMES[0], path=environ.get("PATH", os.defpath))
    for candidate in (called, *beside, on_path):
        if candidate is not None and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.path.abspath(candidate)
    return None
