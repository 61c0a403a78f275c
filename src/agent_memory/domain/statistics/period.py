"""The days that statistics are about."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.instants import DAY_MS, iso_of

LARGEST_DAYS = 3_650


@frozen
class Period:
    """Consecutive UTC days, the last of them today."""

    last_day: int
    """Days since 1970."""
    days: int

    @property
    def first_day(self) -> int:
        """Days since 1970, never before."""
        return max(self.last_day - self.days + 1, 0)

    @property
    def since_ms(self) -> int:
        """When the first day begins."""
        return self.first_day * DAY_MS

    @property
    def names(self) -> tuple[str, ...]:
        """Each day as `2026-02-13`, oldest first."""
        return tuple(name_of(day) for day in range(self.first_day, self.last_day + 1))

    def by_day(self, counts: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """What falls on each day, oldest first, of amounts with the day (since 1970) of each; other days are left out."""
        found = [0] * (self.last_day - self.first_day + 1)
        for day, count in counts:
            if self.first_day <= day <= self.last_day:
                found[day - self.first_day] += count
        return tuple(found)

    def has(self, at_ms: int) -> bool:
        """Whether an instant is in it."""
        return self.first_day <= at_ms // DAY_MS <= self.last_day


def period_to(now_ms: int, days: int) -> Period:
    """So many days up to now, today among them."""
    return Period(now_ms // DAY_MS, days)


def name_of(day: int) -> str:
    """`2026-02-13` of a day since 1970."""
    return iso_of(day * DAY_MS)[:10]
