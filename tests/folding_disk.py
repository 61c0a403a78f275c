"""A file system that folds names as a Mac's may: whatever the case, and in decomposed form (NFD). Over FUSE.

`python folding_disk.py SOURCE PLACE` serves the files of one directory in another until that is unmounted.
"""

from __future__ import annotations

import errno
import os
import sys
import unicodedata
from collections.abc import Callable
from typing import Any, TypeVar

import mfusepy  # type: ignore[import-untyped,import-not-found,unused-ignore]

Value = TypeVar("Value")
_STATUS = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid")
_ROOM = (
    *("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_flag", "f_frsize"),
    "f_namemax",
)


def folded(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


class Folding(mfusepy.Operations):  # type: ignore[misc,unused-ignore]
    """Each name finds what is there under any spelling of it; a new one is kept decomposed."""

    use_ns = True

    def __init__(self, source: str) -> None:
        self.source = source

    def _found(self, path: str) -> str:
        here = self.source
        for part in filter(None, path.split("/")):
            try:
                names = os.listdir(here)
            except NotADirectoryError:
                names = []
            spelled = (name for name in names if folded(name) == folded(part))
            here = os.path.join(here, next(spelled, unicodedata.normalize("NFD", part)))
        return here

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        status = _done(lambda: os.lstat(self._found(path)))
        times = {f"st_{each}": getattr(status, f"st_{each}_ns") for each in ("atime", "mtime", "ctime")}
        return {**{name: getattr(status, name) for name in _STATUS}, **times}

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *_done(lambda: os.listdir(self._found(path)))]

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        return _done(lambda: os.open(self._found(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode))

    def open(self, path: str, flags: int) -> int:
        return _done(lambda: os.open(self._found(path), flags & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)))

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return _done(lambda: os.pread(fh, size, offset))

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return _done(lambda: os.pwrite(fh, data, offset))

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        _done(lambda: os.truncate(self._found(path), length))

    def release(self, path: str, fh: int) -> None:
        os.close(fh)

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        _done(lambda: os.fsync(fh))

    def mkdir(self, path: str, mode: int) -> None:
        _done(lambda: os.mkdir(self._found(path), mode))

    def rmdir(self, path: str) -> None:
        _done(lambda: os.rmdir(self._found(path)))

    def unlink(self, path: str) -> None:
        _done(lambda: os.unlink(self._found(path)))

    def rename(self, old: str, new: str, flags: int = 0) -> None:
        source, target = self._found(old), self._found(new)
        if source == target:  # only the spelling changes
            target = os.path.join(os.path.dirname(source), unicodedata.normalize("NFD", os.path.basename(new)))
        _done(lambda: os.rename(source, target))

    def symlink(self, target: str, source: str) -> None:
        _done(lambda: os.symlink(source, self._found(target)))

    def readlink(self, path: str) -> str:
        return _done(lambda: os.readlink(self._found(path)))

    def link(self, target: str, source: str) -> None:
        def linked() -> None:
            found = self._found(target)
            if os.path.lexists(found):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.link(self._found(source), found)

        _done(linked)

    def chmod(self, path: str, mode: int) -> None:
        _done(lambda: os.chmod(self._found(path), mode))

    def chown(self, path: str, uid: int, gid: int) -> None:
        _done(lambda: os.lchown(self._found(path), uid, gid))

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> None:
        _done(lambda: os.utime(self._found(path), ns=times) if times else os.utime(self._found(path)))

    def statfs(self, path: str) -> dict[str, int]:
        room = os.statvfs(self.source)
        return {name: getattr(room, name) for name in _ROOM}


def _done(act: Callable[[], Value]) -> Value:
    try:
        return act()
    except OSError as error:
        raise mfusepy.FuseOSError(error.errno or errno.EIO) from None


if __name__ == "__main__":
    mfusepy.FUSE(Folding(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True)
