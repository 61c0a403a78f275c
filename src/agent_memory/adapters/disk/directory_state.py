"""What tells one state of all files in a directory from another, without opening any: for what is derived from them.

Imports nothing but C modules, since hooks use it.
"""

import os
import time
from _operator import attrgetter
from itertools import islice
from stat import S_ISREG

from agent_memory.adapters.disk.durable import close_quietly

NOWHERE = 0
"""The state of a directory that is not there."""
_AT_ONCE = 256
"""So many are looked at before what they look like is worked out: what the system says of each is half a kilobyte."""

_GRAIN_NS = 20_000_000
"""Of the times of directories, where they have parts of a second."""
_COARSE_GRAIN_NS = 2_000_000_000
"""Where they have none (FAT)."""
_SECOND_NS = 1_000_000_000

_known_by = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")
_touched_ns = attrgetter("st_ctime_ns")
_mode = attrgetter("st_mode")


def look_of(mtime_ns: int, touched_ns: int, size_bytes: int, inode: int) -> int:
    """What tells one state of a file from another without reading it. The hash of whole numbers is the same in every
    process, other than that of texts."""
    return hash((mtime_ns, touched_ns, size_bytes, inode))


def directory_known_by(path: str) -> tuple[int, ...] | None:
    """What changes when a name in a directory comes, goes or is given to another file from now on; None where the next change
    would not show, and where there is no directory that can be looked at."""
    now_ns = time.time_ns()
    try:
        return _known_if_rested(os.lstat(path), now_ns)
    except OSError:
        return None


def _known_if_rested(status: os.stat_result, now_ns: int) -> tuple[int, ...] | None:
    """`now_ns` is of just before its status was asked for, in epoch ns: a change after it bears a later time only where the
    last one is older than the grain of its times."""
    touched_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    grain_ns = _GRAIN_NS if touched_ns % _SECOND_NS else _COARSE_GRAIN_NS
    if now_ns - touched_ns < grain_ns:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


class DirectoryLook:
    """One look at everything that is directly in a directory, in the order of `os.listdir`. What goes meanwhile is left out:
    the directory tells it the next time."""

    __slots__ = ("at_ns", "directory", "irregular", "looks", "names", "newest_ns", "refused", "state")

    def __init__(self) -> None:
        self.at_ns = 0
        """When it began, of a clock that is never set (`time.monotonic_ns`)."""
        self.directory: tuple[int, ...] | None = None
        """What the directory itself was known by then (`directory_known_by`). With None the look serves nobody but its
        taker."""
        self.state = NOWHERE
        """A number for the times and the inode of the directory, and how everything in it looks that could be looked at:
        other than that of an earlier look where anything changed since. Names need not be in it: a new name is a new time of
        change (`st_ctime`) of the file, and of its directory (`st_mtime`). Since a sum has no order, nothing need be sorted."""
        self.newest_ns = 0
        """When the last of them was touched, in epoch ns."""
        self.names: list[str] = []
        self.looks: list[int] = []
        """How each of them looks (`look_of`)."""
        self.irregular: dict[str, int] = {}
        """Which of them are no regular files: their `st_mode`."""
        self.refused: list[tuple[str, bool, OSError]] = []
        """What cannot be looked at, and is not among them: its name, whether it is a directory or may be one, and why."""

    def take(self, entries: "list[os.DirEntry[str]]") -> None:
        """Look at these, too."""
        try:
            statuses = [entry.stat(follow_symlinks=False) for entry in entries]
        except OSError as error:
            if len(entries) > 1:
                for entry in entries:
                    self.take([entry])
            elif not isinstance(error, FileNotFoundError):
                self.refused.append((entries[0].name, _may_be_directory(entries[0]), error))
            return
        self.see([entry.name for entry in entries], statuses)

    def see(self, names: list[str], statuses: "list[os.stat_result]") -> None:
        """These are there, and look so."""
        self.names += names
        self.looks += map(hash, map(_known_by, statuses))  # `look_of`
        self.newest_ns = max(self.newest_ns, *map(_touched_ns, statuses))
        modes = list(map(_mode, statuses))
        if not all(map(S_ISREG, set(modes))):
            self.irregular.update((name, mode) for name, mode in zip(names, modes, strict=True) if not S_ISREG(mode))


def _may_be_directory(entry: "os.DirEntry[str]") -> bool:
    """To be asked while the directory is open: not every disk tells with a name what it is the name of."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return True


def look_through(path: str, look: DirectoryLook | None = None) -> DirectoryLook:
    """A look at a directory; at nothing where there is none. A link to one is not followed. OSError where it cannot be
    listed. `look` is one that has seen nothing yet, of somebody who wants to know more."""
    look = look or DirectoryLook()
    look.at_ns, now_ns = time.monotonic_ns(), time.time_ns()
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return look
    try:
        directory = os.fstat(descriptor)
        look.directory = _known_if_rested(directory, now_ns)
        with os.scandir(descriptor) as found:
            while some := list(islice(found, _AT_ONCE)):
                look.take(some)
    finally:
        close_quietly(descriptor)
    look.state = sum(look.looks) + hash((directory.st_mtime_ns, directory.st_ino))
    look.newest_ns = max(look.newest_ns, directory.st_mtime_ns)
    return look


def whole_look(path: str) -> DirectoryLook:
    """The same; OSError where something in it cannot be looked at, too."""
    look = look_through(path)
    for *_, error in look.refused:
        raise error
    return look
