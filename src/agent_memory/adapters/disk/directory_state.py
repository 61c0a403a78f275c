"""What tells one state of all files in a directory from another, without opening any: for what is derived from them.

Imports nothing but C modules, since hooks use it.
"""

import os
from _operator import attrgetter
from itertools import islice
from stat import S_ISREG

from agent_memory.adapters.disk.durable import close_quietly

NOWHERE = (0, 0)
"""Of a directory that is not there."""
_AT_ONCE = 256
"""So many are looked at before what they look like is worked out: what the system says of each is half a kilobyte."""

_known_by = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino")
_touched_ns = attrgetter("st_ctime_ns")
_mode = attrgetter("st_mode")


def look_of(mtime_ns: int, touched_ns: int, size_bytes: int, inode: int) -> int:
    """What tells one state of a file from another without reading it. The hash of whole numbers is the same in every
    process, other than that of texts."""
    return hash((mtime_ns, touched_ns, size_bytes, inode))


def directory_known_by(status: os.stat_result) -> tuple[int, ...]:
    """What changes when a name in a directory comes, goes or is given to another file."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev


class DirectoryLook:
    """One look at everything that is directly in a directory, in the order of `os.listdir`. What goes meanwhile is left out:
    the directory tells it the next time."""

    __slots__ = ("directory", "irregular", "looks", "names", "newest_ns", "refused", "state")

    def __init__(self) -> None:
        self.directory: tuple[int, ...] = ()
        """What the directory itself was known by before (`directory_known_by`)."""
        self.state, self.newest_ns = NOWHERE
        """See `directory_state`; it is of those that could be looked at."""
        self.names: list[str] = []
        self.looks: list[int] = []
        """How each of them looks (`look_of`)."""
        self.irregular: dict[str, int] = {}
        """Which of them are no regular files: their `st_mode`."""
        self.refused: list[tuple[os.DirEntry[str], OSError]] = []
        """What cannot be looked at, and is not among them."""

    def take(self, entries: "list[os.DirEntry[str]]") -> None:
        """Look at these, too."""
        try:
            statuses = [entry.stat(follow_symlinks=False) for entry in entries]
        except OSError as error:
            if len(entries) > 1:
                for entry in entries:
                    self.take([entry])
            elif not isinstance(error, FileNotFoundError):
                self.refused.append((entries[0], error))
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


def look_through(path: str, look: DirectoryLook | None = None) -> DirectoryLook:
    """A look at a directory; at nothing where there is none. A link to one is not followed. OSError where it cannot be
    listed. `look` is one that has seen nothing yet, of somebody who wants to know more."""
    look = look or DirectoryLook()
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return look
    try:
        directory = os.fstat(descriptor)
        look.directory = directory_known_by(directory)
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
    for _, error in look.refused:
        raise error
    return look


def directory_state(path: str) -> tuple[int, int]:
    """A number for the times, sizes and inodes of the directory and everything in it, and when the last of them was touched,
    in epoch ns. Other than the number of an earlier look where anything changed since. Links are not followed. OSError where
    something cannot be looked at.

    Names need not be looked at: a new name is a new time of change (`st_ctime`) of the file, and of its directory
    (`st_mtime`). Since a sum has no order, nothing need be sorted.
    """
    look = whole_look(path)
    return look.state, look.newest_ns
