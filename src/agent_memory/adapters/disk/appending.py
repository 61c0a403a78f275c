"""Lines added to logs that several processes write to without waiting for each other.

Imports nothing but `os` and `errno`, since hooks use it. Errors are plain `OSError`.
"""

import errno
import os


def append_line(path: str, line: bytes, mode: int) -> None:
    """Add a line, its line end included, in one write to a regular file, which is made with this mode where it is missing. A
    line that a full disk or a power cut left unfinished stays a line of its own. OSError where the disk takes only a part of
    the line: that part spoils no other."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode)
    try:
        if os.fstat(descriptor).st_mode & _KIND != _REGULAR:
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        os.fchmod(descriptor, mode)
        whole = line_of_its_own(descriptor, line)
        if os.write(descriptor, whole) < len(whole):
            raise OSError(errno.ENOSPC, "only a part of the line was written", path)
    finally:
        os.close(descriptor)


def line_of_its_own(descriptor: int, line: bytes) -> bytes:
    """The line as it is to be added to a file: after a line end where a power cut or a full disk left the last one unfinished."""
    size_bytes = os.fstat(descriptor).st_size
    is_cut = size_bytes > 0 and os.pread(descriptor, 1, size_bytes - 1) != b"\n"
    return b"\n" + line if is_cut else line


def make_room(path: str, previous: str, line_bytes: int, max_bytes: int) -> None:
    """A log that would be larger than this with so many bytes more takes the place of its predecessor."""
    try:
        size_bytes = os.lstat(path).st_size
    except FileNotFoundError:
        return
    if size_bytes + line_bytes > max_bytes:
        os.replace(path, previous)


_KIND, _REGULAR = 0o170000, 0o100000
"""As in `stat`, which not every hook loads otherwise."""
