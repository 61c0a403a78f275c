"""Durable, atomic writes (P1, P2): temporary file in the same directory, write, fsync, rename, fsync the directory.

Imports nothing but `os` and `errno`, since capture uses it inside every turn of every agent. Errors are plain `OSError`.
"""

import errno
import os

TEMPORARY_PREFIX = ".tmp-"
"""Files with this prefix are left only by a crash; `doctor --fix` removes those that no process holds locked."""

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700

_KIND, _REGULAR = 0o170000, 0o100000
"""Like `stat`, which hooks would otherwise not always load."""


def close_quietly(descriptor: int) -> None:
    """Closes a descriptor through which nothing was written, so that an error would not matter."""
    try:
        os.close(descriptor)
    except OSError:
        return


def read_loosely(path: str, max_bytes: int) -> bytes:
    """Returns at most so many bytes of a regular file that we can do without; empty if it is missing, unreadable or of
    another kind. Never blocks, and follows no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, max_bytes) if os.fstat(descriptor).st_mode & _KIND == _REGULAR else b""
    except OSError:
        return b""
    finally:
        close_quietly(descriptor)


def read_regular(path: str, max_bytes: int) -> bytes:
    """Returns at most so many bytes of a regular file, through links; empty for a FIFO or the like. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        return os.read(descriptor, min(status.st_size, max_bytes)) if status.st_mode & _KIND == _REGULAR else b""
    finally:
        close_quietly(descriptor)


def fsync_directory(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush(path: str) -> None:
    """Makes what was appended to a file durable, and its name."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fsync_directory(os.path.dirname(path) or ".")


def make_directories(path: str) -> None:
    """Creates a directory and its missing parents with mode 0700 under any umask, durably."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path.rstrip("/")) or "/"
    if parent != path:
        make_directories(parent)
    try:
        os.mkdir(path, DIRECTORY_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", path) from None
        return
    os.chmod(path, DIRECTORY_MODE)
    fsync_directory(parent)


def share_like_parent(path: str) -> None:
    """Gives a new file or directory of a repository to all who may use the directory that it is in: a team reads it."""
    mode = os.stat(os.path.dirname(path)).st_mode & (0o777 if os.path.isdir(path) else 0o666)
    os.chmod(path, mode)


def write_new_file(path: str, data: bytes) -> None:
    """Creates a file with durable bytes and, once the directory is flushed, a durable name. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        try:
            _fill(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        os.unlink(path)
        raise


def _fill(descriptor: int, data: bytes) -> None:
    os.fchmod(descriptor, FILE_MODE)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _new_temporary(directory: str) -> tuple[str, int]:
    """Returns a temporary file and its descriptor, which holds it locked until the process ends, however it ends."""
    while True:
        path = f"{directory}/{TEMPORARY_PREFIX}{os.urandom(8).hex()}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        try:
            os.lockf(descriptor, os.F_LOCK, 0)
        except OSError:  # a file system without locks: only the file's age tells
            return path, descriptor
        try:
            is_there = os.fstat(descriptor).st_nlink
        except BaseException:
            os.unlink(path)
            os.close(descriptor)
            raise
        if is_there:  # else `doctor --fix` removed it meanwhile
            return path, descriptor
        os.close(descriptor)


def claim_abandoned(path: str) -> int | None:
    """Returns the descriptor of a temporary file that no living process writes, locked until it is closed; None if one
    does. Raises OSError if that cannot be told."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        os.lockf(descriptor, os.F_TLOCK, 0)
    except OSError as error:
        os.close(descriptor)
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return None
        raise
    return descriptor


def replace_file(path: str, data: bytes, *, is_durable: bool = True) -> None:
    """Makes `path` hold `data`: after a crash it holds either its old or its new bytes. The directory must exist. A
    derived file need not be durable: it is not flushed, and after a power cut its digest reveals any damage."""
    directory = os.path.dirname(path) or "."
    temporary, descriptor = _new_temporary(directory)
    try:
        _fill(descriptor, data)
        if is_durable:
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    finally:
        os.close(descriptor)
    if is_durable:
        fsync_directory(directory)


def create_file(path: str, data: bytes) -> None:
    """Like `replace_file`, but raises FileExistsError if the name is taken; never overwrites."""
    directory = os.path.dirname(path) or "."
    temporary, descriptor = _new_temporary(directory)
    try:
        _fill(descriptor, data)
        os.fsync(descriptor)
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            try:
                os.lstat(path)
            except FileNotFoundError:  # any other error proves nothing (P6)
                os.replace(temporary, path)
                temporary = ""
            else:
                raise FileExistsError(errno.EEXIST, "File exists", path) from None
    finally:
        try:
            if temporary:
                os.unlink(temporary)
        finally:
            os.close(descriptor)
    fsync_directory(directory)


def move_file(source: str, target: str) -> None:
    """Renames within one file system, durably in both directories."""
    os.replace(source, target)
    fsync_directory(os.path.dirname(target) or ".")
    if os.path.dirname(source) != os.path.dirname(target):
        fsync_directory(os.path.dirname(source) or ".")


# -- logs that several processes append to without waiting for each other ----------------------------------------------


def append_line(path: str, line: bytes) -> None:
    """Appends a line (with its line end) in one write to a regular file, which it may create, and on a line of its own
    after one that was cut off. If a full disk takes only part of it, raises OSError; that part spoils no other
    line."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, FILE_MODE)
    try:
        if os.fstat(descriptor).st_mode & _KIND != _REGULAR:
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        os.fchmod(descriptor, FILE_MODE)
        whole = line_of_its_own(descriptor, line)
        if os.write(descriptor, whole) < len(whole):
            raise OSError(errno.ENOSPC, "only a part of the line was written", path)
    finally:
        os.close(descriptor)


def line_of_its_own(descriptor: int, line: bytes) -> bytes:
    """Returns the line, after a line end if the file's last line is unfinished."""
    size_bytes = os.fstat(descriptor).st_size
    is_cut = size_bytes > 0 and os.pread(descriptor, 1, size_bytes - 1) != b"\n"
    return b"\n" + line if is_cut else line


def make_room(path: str, previous: str, line_bytes: int, max_bytes: int) -> None:
    """Renames a log that would grow beyond this to `previous`, replacing it."""
    try:
        size_bytes = os.lstat(path).st_size
    except FileNotFoundError:
        return
    if size_bytes + line_bytes > max_bytes:
        os.replace(path, previous)
