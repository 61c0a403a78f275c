"""The clock of this machine."""

from __future__ import annotations

import time


class SystemClock:
    """`Clock` of the operating system."""

    def now_ms(self) -> int:
        """See the port."""
        return time.time_ns() // 1_000_000
