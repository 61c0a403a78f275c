"""The two kernel locks of a store: `flock`, which ends with the process that holds it (P7).

The files are `~/.local/state/agent-memory/<hash of the root's real path>.{run,write}.lock`: outside the root, which may
be on a synchronised or network disk, and the same for all processes of a person, whatever else their environment. They
are never removed: after an unlink two processes could hold "the" lock.
"""

from __future__ import annotations

import fcntl
import os
import time
from _thread import RLock  # `threading` only re-exports it, and loads slower than all else here
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from agent_memory.errors import Busy
from agent_memory.files.durable import FILE_MODE, make_directories
from agent_memory.files.paths import as_store_io, close_quietly, real_root
from agent_memory.files.root import home_of, local_state_directory

if TYPE_CHECKING:
    from pathlib import Path

WRITE_LIMIT_SECONDS = 30.0
_LONGEST_PAUSE_SECONDS = 0.02


class Locks:
    """The two locks of a store, as context managers that raise `Busy` or the disk's error; take run before write. One
    instance serves all threads of a process; all that writes to a root must share it."""

    def __init__(
        self,
        root: Path | str,
        environ: Mapping[str, str] = os.environ,
        *,
        write_limit_seconds: float = WRITE_LIMIT_SECONDS,
    ) -> None:
        self._root = real_root(root)
        self._environ = environ
        self._limit_seconds = write_limit_seconds
        self._turn = RLock()
        self._writing = False

    @contextmanager
    def run(self) -> Generator[None, None, None]:
        """Holds the lock that consolidate, defrag and undo hold throughout; `Busy` at once if taken. Not reentrant."""
        with file_lock(self._path("run"), 0):
            yield

    @contextmanager
    def write(self) -> Generator[None, None, None]:
        """Holds the lock that any writer holds for milliseconds; waits up to `write_limit_seconds`, then `Busy`. Its holder
        may take it again."""
        if not self._turn.acquire(timeout=self._limit_seconds):
            raise Busy(self._path("write"))
        try:
            if self._writing:
                yield
                return
            with file_lock(self._path("write"), self._limit_seconds):
                self._writing = True
                try:
                    yield
                finally:
                    self._writing = False
        finally:
            self._turn.release()

    def _path(self, name: str) -> str:
        from hashlib import sha256  # reading takes no lock

        key = sha256(os.fsencode(self._root)).hexdigest()[:24]
        return f"{local_state_directory(home_of(self._environ))}/{key}.{name}.lock"


def lock_within(descriptor: int, kind: int, limit_seconds: float) -> bool:
    """Returns whether it got the lock `kind` (`LOCK_EX` or `LOCK_SH`) on an open file in time; 0 seconds means at once."""
    deadline = time.monotonic() + limit_seconds
    pause = 0.001
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        else:
            return True


@contextmanager
def file_lock(path: str, limit_seconds: float) -> Generator[None, None, None]:
    """Holds an exclusive lock on a file created for it until the process ends; Busy if another holds it too long."""
    with as_store_io("open the lock", path):
        make_directories(os.path.dirname(path))
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        with as_store_io("lock", path):
            # Under a umask that denies the owner access, the next process could not open the lock.
            os.fchmod(descriptor, FILE_MODE)
            held = lock_within(descriptor, fcntl.LOCK_EX, limit_seconds)
        if not held:
            raise Busy(path)
        yield
    finally:
        release(descriptor)


def release(descriptor: int) -> None:
    """Unlocks and closes. Unlocking is explicit, since a child forked meanwhile shares the lock."""
    with suppress(OSError):  # closing unlocks as well
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    close_quietly(descriptor)
