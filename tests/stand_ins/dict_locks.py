"""The two locks, for one process without a disk."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from returns.result import Failure, Result, Success

from agent_memory.errors import Busy, Error


class DictLocks:
    """`Locks` in memory."""

    def __init__(self, *, write_limit_seconds: float = 30.0) -> None:
        self._run = threading.Lock()
        self._turn = threading.RLock()
        self._limit_seconds = write_limit_seconds

    @contextmanager
    def run(self) -> Generator[Result[None, Error], None, None]:
        if not self._run.acquire(blocking=False):
            yield Failure(Busy("run"))
            return
        try:
            yield Success(None)
        finally:
            self._run.release()

    @contextmanager
    def write(self) -> Generator[Result[None, Error], None, None]:
        if not self._turn.acquire(timeout=self._limit_seconds):
            yield Failure(Busy("write"))
            return
        try:
            yield Success(None)
        finally:
            self._turn.release()
