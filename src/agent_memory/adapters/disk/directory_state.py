"""What tells one state of all files in a directory from another, without opening any: for what is derived from them.

Imports nothing but C modules, since hooks use it.
"""

import os

from agent_memory.adapters.disk.durable import close_quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NOWHERE = (0, 0)
"""Of a directory that is not there."""


def directory_state(path: str, tell: "Callable[[str, os.stat_result], None] | None" = None) -> tuple[int, int]:
    """A number for the times, sizes and inodes of the directory and everything in it, and when the last of them was touched,
    in epoch ns. Other than the number of an earlier look where anything changed since. Links are not followed. OSError where
    something cannot be looked at. `tell` is told each name, and what it looks like.

    Names need not be looked at: a new name is a new time of change (`st_ctime`) of the file, and of its directory
    (`st_mtime`). Since a sum has no order, nothing need be sorted.
    """
    state = newest_ns = 0
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return NOWHERE
    try:
        directory = os.fstat(descriptor)
        with os.scandir(descriptor) as found:
            for entry in found:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile, which the directory tells the next time
                    continue
                # The hash of whole numbers is the same in every process, other than that of texts.
                touched_ns = status.st_ctime_ns
                state += hash((status.st_mtime_ns, touched_ns, status.st_size, status.st_ino, status.st_mode))
                if touched_ns > newest_ns:
                    newest_ns = touched_ns
                if tell is not None:
                    tell(entry.name, status)
    finally:
        close_quietly(descriptor)
    return state + hash((directory.st_mtime_ns, directory.st_ino)), max(newest_ns, directory.st_mtime_ns)
