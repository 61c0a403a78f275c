"""The two locks, for one process without a disk."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from agent_memory.errors import Busy
from agent_memory.files.locks import Locks


class DictLocks(Locks):
    """The locks in memory."""

    def __init__(self, *, write_limit_seconds: float = 30.0) -> None:
        self._run = threading.Lock()
        self._turn = threading.RLock()
        self._limit_seconds = write_limit_seconds

    @contextmanager
    def run(self) -> Generator[None, None, None]:
        if not self._run.acquire(blocking=False):
            raise Busy("run")
        try:
            yield
        finally:
            self._run.release()

    @contextmanager
    def write(self) -> Generator[None, None, None]:
        if not self._turn.acquire(timeout=self._limit_seconds):
            raise Busy("write")
        try:
            yield
        finally:
            self._turn.release()
