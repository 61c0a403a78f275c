"""Repairs of files as such: permissions, litter, what stands in the way of a cache."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

from agent_memory.adapters.checkup.walked_files import unwritten
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.domain.checkup.file_checks import Found, is_loose, is_odd_cache, is_temporary, tight_mode
from agent_memory.values import define, field
from agent_memory.wording import describe


@define
class FileRepairs:
    """What became of the files so far."""

    root: str
    did: list[str] = field(factory=list[str])
    failed: list[str] = field(factory=list[str])
    closed: int = 0
    """Files and directories that are closed to others now."""

    def carry_out(self, found: Iterable[Found], now_ms: int) -> None:
        """Everything that is safe; a file that goes away meanwhile is no failure."""
        for each in found:
            if is_temporary(each):
                with unwritten(self.root, each, now_ms) as is_free:
                    if is_free:
                        self._try(each, "remove", f"{each.path}, a temporary file, is removed")
            elif is_odd_cache(each):
                self._try(each, "remove", f"{each.path} is removed, and made anew when it is needed")
            elif is_loose(each) and each.owner == os.getuid():
                self._try(each, "close", "")
        if self.closed:
            things = "file or directory is" if self.closed == 1 else "files and directories are"
            self.did.append(f"{self.closed} {things} closed to others")

    def _try(self, each: Found, act: str, words: str) -> None:
        path = f"{self.root}/{each.path}" if each.path else self.root
        try:
            if act == "close":
                _close(path, tight_mode(each))
                self.closed += 1
                return
            _remove(path, each.mode)
        except FileNotFoundError:
            return
        except OSError as error:
            self.failed.append(describe(store_io(error, act, path)))
            return
        self.did.append(words)


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
