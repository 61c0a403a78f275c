"""What of a disk would survive a power cut now: which bytes and names were changed, and not flushed since (P1, P3).

A wrapper round each function of `os` that changes the disk or flushes it. What was written is durable once its file has
been flushed, a name once the directory that it is in has been; `fsync` itself is not carried out, and takes no time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define, field

Inode = tuple[int, int]


@define
class WatchedDisk:
    """The changes since it was watched, by path."""

    unwritten: dict[Inode, str] = field(factory=dict)
    """Files whose bytes are only in memory."""
    unnamed: dict[str, str] = field(factory=dict)
    """Names that are only in memory, each with the directory that keeps it."""
    named_too_early: list[str] = field(factory=list)
    """Names that were given to files whose bytes were not durable yet: a power cut would leave them empty (xfs)."""

    written: set[str] = field(factory=set)
    """Files that were written to, by the name that they had then."""
    removed: list[tuple[str, frozenset[str]]] = field(factory=list)
    """What was unlinked, and what of the disk was only in memory then."""

    def unflushed(self, root: str | os.PathLike[str]) -> set[str]:
        """Paths relative to the root, of what is there and would not be, or not whole, after a power cut now."""
        top = os.path.realpath(root)
        there = {path for path in self.unnamed if os.path.lexists(path)}
        there |= {path for inode, path in _paths_by_inode(top).items() if inode in self.unwritten}
        return {os.path.relpath(path, top) for path in there if path.startswith(f"{top}/")}

    def flush(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        self.unwritten.pop(_inode(os.fstat(descriptor)), None)
        self.unnamed = {name: directory for name, directory in self.unnamed.items() if directory != path}

    def write(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        self.unwritten[_inode(os.fstat(descriptor))] = path
        self.written.add(path)

    def remove(self, path: str) -> None:
        self.removed.append((path, frozenset((*self.unnamed, *self.unwritten.values()))))

    def name(self, source: str | None, target: str) -> None:
        """The target is a new name, of the source's file where one is given."""
        if source is not None and _inode(os.stat(source, follow_symlinks=False)) in self.unwritten:
            self.named_too_early.append(target)
        directory = os.path.realpath(os.path.dirname(target) or ".")
        self.unnamed[f"{directory}/{os.path.basename(target)}"] = directory


@contextmanager
def watched_disk() -> Iterator[WatchedDisk]:
    """Watch what this process does."""
    disk = WatchedDisk()
    real: dict[str, Callable[..., Any]] = {
        name: getattr(os, name) for name in ("open", "write", "fsync", "replace", "rename", "link", "mkdir", "unlink")
    }

    def opened(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        is_new = bool(flags & os.O_CREAT) and more.get("dir_fd") is None and not os.path.lexists(path)
        descriptor: int = real["open"](path, flags, *rest, **more)
        if is_new:
            disk.name(None, os.fspath(path))
        return descriptor

    def written(descriptor: int, data: Any) -> int:
        if _path_of(descriptor).startswith("/"):
            disk.write(descriptor)
        count: int = real["write"](descriptor, data)
        return count

    def made(path: Any, *rest: Any, **more: Any) -> None:
        real["mkdir"](path, *rest, **more)
        disk.name(None, os.fspath(path))

    def unlinked(path: Any, **more: Any) -> None:
        disk.remove(os.fspath(path))
        real["unlink"](path, **more)

    def renamed(name: str) -> Callable[..., None]:
        def call(source: Any, target: Any, **more: Any) -> None:
            disk.name(os.fspath(source), os.fspath(target))
            real[name](source, target, **more)

        return call

    watched = {"open": opened, "write": written, "fsync": disk.flush, "mkdir": made, "unlink": unlinked}
    watched |= {name: renamed(name) for name in ("replace", "rename", "link")}
    try:
        for name, function in watched.items():
            setattr(os, name, function)
        yield disk
    finally:
        for name, function in real.items():
            setattr(os, name, function)


def _inode(status: os.stat_result) -> Inode:
    return status.st_dev, status.st_ino


def _path_of(descriptor: int) -> str:
    return os.path.realpath(f"/proc/self/fd/{descriptor}")


def _paths_by_inode(top: str) -> dict[Inode, str]:
    paths = [f"{parent}/{name}" for parent, _, names in os.walk(top) for name in names]
    return {_inode(os.lstat(path)): path for path in paths}
