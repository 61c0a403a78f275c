"""Instants: inside, integers of milliseconds since 1970 UTC; outside, ISO 8601 with milliseconds and `Z`."""

from __future__ import annotations

import re
import time
from datetime import date, datetime
from typing import Annotated, TypeAlias, TypeGuard

_ISO = r"(?a)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?"

Instant: TypeAlias = Annotated[int, "ISO 8601"]
"""The type of an attribute that files hold as ISO 8601 rather than as a number."""

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The first and the last millisecond of the years 1 to 9999, the range of `datetime`."""


def latest(*instants: int | None) -> int | None:
    """Returns the latest of the known instants, or None if none is known."""
    return max((each for each in instants if each is not None), default=None)


def latest_end(*ends: int | None) -> int | None:
    """Returns the latest of some ends; None, which means never, if any of them is None."""
    return None if None in ends else latest(*ends)


def has_passed(at_ms: int | None, now_ms: int) -> TypeGuard[int]:
    """Returns whether an end has passed; None never passes."""
    return at_ms is not None and at_ms <= now_ms


def iso_of(at_ms: int) -> str:
    """Returns an instant as `2026-02-13T14:30:05.123Z`."""
    whole, millis = divmod(at_ms, 1000)
    year, month, day, hour, minute, second, *_ = time.gmtime(whole)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def instant(at_ms: int) -> str:
    """Returns `2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def day_of(at_ms: int) -> str:
    """Returns a day as `2026-02-13`, in UTC; for a number outside of the calendar the nearest day in it."""
    # 719,163 is the ordinal of 1970-01-01.
    return date.fromordinal(719_163 + min(max(at_ms, FIRST_MS), LAST_MS) // DAY_MS).isoformat()


def ms_in_name(name: str) -> int | None:
    """Returns the instant at the start of a name such as `2026-02-13T14-30-05.123Z_4dbfbe`, or None."""
    day, _, clock = name[:24].partition("T")
    return ms_of(f"{day}T{clock.replace('-', ':')}")


def ms_of(text: str) -> int | None:
    """Returns an ISO 8601 instant in milliseconds; a missing zone means UTC; None for anything else."""
    found = re.fullmatch(_ISO, text.strip())
    if not found:
        return None
    day, clock, fraction, zone = found.groups()
    clock = clock if len(clock) == 8 else f"{clock}:00"
    offset = "+00:00" if zone in (None, "Z") else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
        return int(moment.timestamp()) * 1000 + int((fraction or "0").ljust(3, "0")[:3])
    except (ValueError, OverflowError):
        return None
