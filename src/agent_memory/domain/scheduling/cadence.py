"""How often a job runs: an interval, and the clock times that a calendar can say of it."""

from __future__ import annotations

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.errors import Error, UsageInvalid

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@frozen
class Cadence:
    """A job is due every `interval_seconds`. Calendars know only periods that divide an hour, a day, or are a day: they tick
    every `tick_seconds`, and where that is shorter than the interval, a tick at which the job is not due does nothing."""

    interval_seconds: int
    tick_seconds: int

    @property
    def is_exact(self) -> bool:
        """Whether every tick is due."""
        return self.interval_seconds == self.tick_seconds


def cadence_of(hours: float, key: str) -> Result[Cadence, Error]:
    """The cadence of `hours`, the value of the config key `key`; UsageInvalid below a minute, which no calendar can say."""
    interval = round(hours * HOUR)
    if interval < MINUTE:
        return Failure(
            UsageInvalid(f"schedule.{key} is under a minute", "Schedulers count in minutes: set 0.02 or more.")
        )
    return Success(Cadence(interval, _tick(interval)))


def _tick(interval: int) -> int:
    """The longest period within the interval that a calendar can say, and that divides the interval evenly if one does."""
    periods = [
        *(minutes * MINUTE for minutes in range(1, 60) if 60 % minutes == 0),
        *(hours * HOUR for hours in range(1, 24) if 24 % hours == 0),
        DAY,
    ]
    fitting = [period for period in periods if period <= interval]
    even = [period for period in fitting if interval % period == 0]
    return max(even, default=max(fitting))


def on_calendar(tick_seconds: int) -> str:
    """The tick for systemd's `OnCalendar`."""
    if tick_seconds == DAY:
        return "*-*-* 03:00:00"
    if tick_seconds >= HOUR:
        hours = tick_seconds // HOUR
        return "*-*-* *:00:00" if hours == 1 else f"*-*-* 00/{hours}:00:00"
    minutes = tick_seconds // MINUTE
    return "*-*-* *:*:00" if minutes == 1 else f"*-*-* *:00/{minutes}:00"


def cron_times(tick_seconds: int) -> str:
    """The tick as the five fields of a crontab."""
    if tick_seconds == DAY:
        return "0 3 * * *"
    if tick_seconds >= HOUR:
        hours = tick_seconds // HOUR
        return "0 * * * *" if hours == 1 else f"0 */{hours} * * *"
    minutes = tick_seconds // MINUTE
    return "* * * * *" if minutes == 1 else f"*/{minutes} * * * *"


def next_due_ms(cadence: Cadence, last_ms: int, now_ms: int, tick_seconds: int | None, utc_offset_seconds: int) -> int:
    """About when the job runs next, in epoch ms, if it began last (or was installed) at `last_ms`: for a calendar the next
    tick, by the clock on the wall, at which it is due; without ticks an interval later, or now."""
    if tick_seconds is None:
        return max(now_ms, last_ms + cadence.interval_seconds * 1_000)
    from_ms = now_ms if cadence.is_exact else max(now_ms, last_ms + (cadence.interval_seconds - MINUTE) * 1_000)
    shift = utc_offset_seconds - (3 * HOUR if tick_seconds == DAY else 0)
    local = from_ms // 1_000 + shift
    return ((local // tick_seconds + 1) * tick_seconds - shift) * 1_000


def in_words(seconds: int) -> str:
    """An interval for people: `2 h`, `1 day`, `90 min`."""
    for unit, one, many in ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min")):
        if seconds % unit == 0 and seconds >= unit:
            number = seconds // unit
            return f"{number} {one if number == 1 else many}"
    return f"{seconds} s"
