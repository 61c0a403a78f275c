"""Everything below the root as `lstat` sees it, and repairs of files as such."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import TEMPORARY_PREFIX, claim_abandoned, close_quietly
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.domain.doctor.store_checks import Found, is_loose, is_odd_cache, is_temporary, tight_mode
from agent_memory.domain.instants import HOUR_MS
from agent_memory.errors import ERRORS, Error
from agent_memory.wording import describe

_NOT_ENTERED = ".git"
"""Beginning of the names of directories that are git's business: the repository, and those that were moved aside."""


def walk(root: str) -> Iterator[Found | OSError]:
    """The root and all below it, directories before what is in them; an error where a directory cannot be looked at."""
    try:
        yield _found("", os.lstat(root))
    except FileNotFoundError:
        return
    except OSError as error:
        yield error
        return
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        for each in _in_directory(root, directory):
            yield each
            if isinstance(each, Found) and stat.S_ISDIR(each.mode) and not _is_gits(each.path):
                waiting.append(each.path)


@contextmanager
def unwritten(root: str, found: Found, now_ms: int) -> Generator[bool, None, None]:
    """Whether no living process writes this temporary file, and none will go on with it: a writer holds it locked. Where that
    cannot be told (a file system without locks, what a transaction stages) it is so after an hour."""
    descriptor, is_free = None, found.mtime_ms <= now_ms - HOUR_MS
    if found.path.rpartition("/")[2].startswith(TEMPORARY_PREFIX):
        with suppress(OSError):
            descriptor = claim_abandoned(f"{root}/{found.path}")
            is_free = descriptor is not None
    try:
        yield is_free
    finally:
        if descriptor is not None:
            close_quietly(descriptor)


def is_written(root: str, found: Found, now_ms: int) -> bool:
    """Whether a living process may be writing this temporary file."""
    with unwritten(root, found, now_ms) as is_free:
        return not is_free


def _is_gits(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_NOT_ENTERED)


def _in_directory(root: str, directory: str) -> list[Found | OSError]:
    """By name. Through the directory's descriptor each `lstat` looks up one name, and not the whole path again."""
    found: list[Found | OSError] = []
    prefix = f"{directory}/" if directory else ""
    try:
        descriptor = os.open(f"{root}/{directory}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            with os.scandir(descriptor) as entries:
                for entry in sorted(entries, key=attrgetter("name")):
                    path = prefix + entry.name
                    try:
                        found.append(_found(path, entry.stat(follow_symlinks=False)))
                    except FileNotFoundError:
                        continue
                    except OSError as error:
                        error.filename = f"{root}/{path}"
                        found.append(error)
        finally:
            os.close(descriptor)
    except OSError as error:
        error.filename = f"{root}/{directory}"
        found.append(error)
    return found


def _found(path: str, status: os.stat_result) -> Found:
    return Found(path, status.st_mode, status.st_uid, status.st_mtime_ns // 1_000_000)


# -- repairs ----------------------------------------------------------------------------------------------------------


@define
class RepairLog:
    """What became of the repairs so far."""

    did: list[str] = field(factory=list[str])
    failed: list[str] = field(factory=list[str])
    touched: list[str] = field(factory=list[str])
    """Paths that were written or removed and that git is to be told of, relative to the root."""

    def tolerate(self, result: Result[object, Error]) -> bool:
        """Whether it went well; what did not is told, and stops nothing else."""
        if isinstance(result, Failure):
            self.failed.append(describe(result.failure()))
        return isinstance(result, Success)

    @contextmanager
    def tolerating(self) -> Generator[None, None, None]:
        """What goes wrong within is told, and stops nothing else."""
        try:
            yield
        except ERRORS as error:
            self.failed.append(describe(error))


def repair_files(root: str, found: Iterable[Found], now_ms: int, log: RepairLog) -> None:
    """Everything that is safe; a file that goes away meanwhile is no failure."""
    closed = 0
    for each in found:
        path = f"{root}/{each.path}" if each.path else root
        act = "remove" if is_temporary(each) or is_odd_cache(each) else "close"
        try:
            if is_temporary(each):
                with unwritten(root, each, now_ms) as is_free:
                    if is_free:
                        os.unlink(path)
                        log.did.append(f"{each.path}, a temporary file, is removed")
            elif is_odd_cache(each):
                _remove(path, each.mode)
                log.did.append(f"{each.path} is removed, and made anew when it is needed")
            elif is_loose(each) and each.owner == os.getuid():
                _close(path, tight_mode(each))
                closed += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            log.failed.append(describe(store_io(error, act, path)))
    if closed:
        things = "file or directory is" if closed == 1 else "files and directories are"
        log.did.append(f"{closed} {things} closed to others")


def _close(path: str, mode: int) -> None:
    """Set the mode of the file itself, whatever a link of that name would lead to by now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:  # it is closed to its owner too, and `is_loose` has seen that it is no link
        os.chmod(path, mode)
        return
    try:
        os.fchmod(descriptor, mode)
    finally:
        with suppress(OSError):
            os.close(descriptor)


def _remove(path: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        os.rmdir(path)
    else:
        os.unlink(path)
