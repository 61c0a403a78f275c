"""A clock that stands still."""

from __future__ import annotations

from attrs import define


@define
class DictClock:
    """`Clock` that a test sets."""

    at_ms: int = 1_772_409_600_000

    def now_ms(self) -> int:
        return self.at_ms
