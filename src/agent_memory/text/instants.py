"""Instants: integers of milliseconds since 1970 UTC inside, ISO 8601 with milliseconds and `Z` outside."""

from __future__ import annotations

import re
import time
from datetime import date, datetime
from typing import Annotated, TypeAlias, TypeGuard

_ISO = r"(?a)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s*(Z|[+-]\d\d:?\d\d)?"

Instant: TypeAlias = Annotated[int, "ISO 8601"]
"""Of an attribute: it stands in files as ISO 8601, and not as a number."""

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999: no calendar shows what is earlier or later."""
_FIRST_DAY = 719_163
"""That of 1970-01-01, counted from the first of the year 1."""


def latest(*instants: int | None) -> int | None:
    """Returns the latest of some instants, as far as they are known; None where none is."""
    return max((each for each in instants if each is not None), default=None)


def latest_end(*ends: int | None) -> int | None:
    """Returns the latest of some ends; None, which is never, where one of them is."""
    return None if None in ends else latest(*ends)


def has_passed(at_ms: int | None, now_ms: int) -> TypeGuard[int]:
    """Returns whether an instant at which something ends is there; what has none never ends."""
    return at_ms is not None and at_ms <= now_ms


def iso_of(at_ms: int) -> str:
    """Returns an instant as `2026-02-13T14:30:05.123Z`."""
    whole, millis = divmod(at_ms, 1000)
    year, month, day, hour, minute, second, *_ = time.gmtime(whole)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def day_of(at_ms: int) -> str:
    """Returns a day as `2026-02-13`, in UTC; the nearest day that a calendar shows, since files that people wrote may hold any number."""
    return date.fromordinal(_FIRST_DAY + min(max(at_ms, FIRST_MS), LAST_MS) // DAY_MS).isoformat()


def ms_in_name(name: str) -> int | None:
    """Returns the instant that a name such as `2026-02-13T14-30-05.123Z_4dbfbe` begins with; None where it begins with
    none."""
    day, _, clock = name[:24].partition("T")
    return ms_of(f"{day}T{clock.replace('-', ':')}")


def ms_of(text: str) -> int | None:
    """Milliseconds of an ISO 8601 instant; a missing zone means UTC; None for anything else."""
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
