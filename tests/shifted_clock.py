"""Processes of `memory` whose wall clock says what a test wants, in a time zone of its choice: see `shifted_clock.c`.

The clock runs on from the instant that was given. Times of files, and those of commits, are the machine's own.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from forked_program import ForkingServer
from memory_process import LIMIT_SECONDS, NOTHING, Done, Memory
from preloaded import compiled

SOURCE = Path(__file__).with_name("shifted_clock.c")


@frozen
class ClockedMemory(Memory):
    """`memory` in one home, by another clock."""

    def __call__(
        self, *words: str | bytes, data: bytes = b"", cwd: Path | None = None, environ: Mapping[str, str] = NOTHING
    ) -> Done:
        """One call to its end."""
        if not _servers:
            _servers.append(ForkingServer({"LD_PRELOAD": str(compiled(SOURCE))}))
            atexit.register(_servers[0].stop)
        decoded = [word.decode() if isinstance(word, bytes) else word for word in words]
        done = _servers[0].run(decoded, data, cwd or self.home, self.environment(environ), LIMIT_SECONDS)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def at(memory: Memory, instant_seconds: float, zone: str = "UTC") -> ClockedMemory:
    """The same home, where it is this instant now (seconds since 1970 in UTC), in this time zone."""
    offset_ns = round(instant_seconds * 1_000_000_000) - time.time_ns()
    return ClockedMemory(memory.home, {**memory.environ, "CLOCK_OFFSET_NS": str(offset_ns), "TZ": zone})


_servers: list[ForkingServer] = []
