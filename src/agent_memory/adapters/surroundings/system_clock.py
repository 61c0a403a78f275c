"""The clock of this machine, and one that stands still."""

from __future__ import annotations

import time

from agent_memory.values import define


class SystemClock:
    """`Clock` of the operating system."""

    def now_ms(self) -> int:
        """See the port."""
        return time.time_ns() // 1_000_000


@define
class DictClock:
    """`Clock` that a test sets."""

    at_ms: int = 1_772_409_600_000

    def now_ms(self) -> int:
        """See the port."""
        return self.at_ms
