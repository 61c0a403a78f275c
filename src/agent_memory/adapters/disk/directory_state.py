"""What tells one state of all files in a directory from another, without opening any: for what is derived from them.

Imports nothing but C modules, since hooks use it.
"""

import os

from agent_memory.adapters.disk.durable import close_quietly

NOWHERE = (0, 0)
"""Of a directory that is not there."""


def look_of(mtime_ns: int, touched_ns: int, size_bytes: int, inode: int) -> int:
    """What tells one state of a file from another without reading it. The hash of whole numbers is the same in every
    process, other than that of texts."""
    return hash((mtime_ns, touched_ns, size_bytes, inode))


def own_look(status: os.stat_result) -> int:
    """What a directory itself adds to its state."""
    return hash((status.st_mtime_ns, status.st_ino))


def directory_state(path: str) -> tuple[int, int]:
    """A number for the times, sizes and inodes of the directory and everything in it, and when the last of them was touched,
    in epoch ns. Other than the number of an earlier look where anything changed since. Links are not followed. OSError where
    something cannot be looked at.

    Names need not be looked at: a new name is a new time of change (`st_ctime`) of the file, and of its directory
    (`st_mtime`). Since a sum has no order, nothing need be sorted.
    """
    return directory_looks(path)[:2]


def directory_looks(path: str) -> tuple[int, int, list[int]]:
    """What `directory_state` says, and how each of those that it has seen looks (`look_of`), in the order of
    `os.listdir`."""
    looks: list[int] = []
    newest_ns = 0
    try:
        # Through its descriptor each `stat` looks up one name, and not the whole path again.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return *NOWHERE, looks
    try:
        directory = os.fstat(descriptor)
        with os.scandir(descriptor) as found:
            for entry in found:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone meanwhile, which the directory tells the next time
                    continue
                touched_ns = status.st_ctime_ns
                looks.append(hash((status.st_mtime_ns, touched_ns, status.st_size, status.st_ino)))  # `look_of`
                if touched_ns > newest_ns:
                    newest_ns = touched_ns
    finally:
        close_quietly(descriptor)
    state = sum(looks) + own_look(directory)
    return state, max(newest_ns, directory.st_mtime_ns), looks
