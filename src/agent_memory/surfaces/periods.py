"""Periods and days as people write them."""

from __future__ import annotations

import re

from agent_memory.domain.instants import DAY_MS, HOUR_MS, ms_of
from agent_memory.domain.note_draft import Expiry
from agent_memory.errors import UsageInvalid

_PERIOD = re.compile(r"(\d{1,6})\s*(m|h|d|w|y)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_MINUTE_MS = 60_000
_MONTH_MS = 30 * DAY_MS
_YEAR_MS = 365 * DAY_MS
_UNITS_MS = {"m": _MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS, "y": _YEAR_MS}
_AGES = (
    (_YEAR_MS, "year"),
    (_MONTH_MS, "month"),
    (DAY_MS, "day"),
    (HOUR_MS, "hour"),
    (_MINUTE_MS, "minute"),
)
_SHORT_UNITS = tuple(zip((each for each, _ in _AGES), ("y", "mo", "d", "h", "min"), strict=True))
NEVER = "never"
_LATEST_MS = 253_402_300_799_999
"""The last instant of the year 9999, beyond which no date can be written."""


def since_ms_of(text: str, now_ms: int) -> int:
    """The instant that `30d` (also `m h w y`) or `2026-02-13` (UTC) means."""
    found = _PERIOD.fullmatch(text.strip())
    if found:
        return now_ms - _period_ms(found)
    at_ms = ms_of(f"{text.strip()}T00:00") if len(text.strip()) == 10 else ms_of(text)
    if at_ms is None:
        problem = f"--since is {text!r}, expected a period such as 30d (m h d w y) or a date such as 2026-02-13"
        raise UsageInvalid(problem)
    return at_ms


def expiry_of(text: str, now_ms: int) -> Expiry:
    """The end that `30d` from now (also `m h w y`), the end of the day `2026-12-31` (UTC), an instant, or `never` means;
    refused where that is past."""
    word = text.strip()
    if word == NEVER:
        return Expiry(None)
    period = _PERIOD.fullmatch(word)
    if period:
        at_ms: int | None = now_ms + _period_ms(period)
    elif _DATE.fullmatch(word):
        midnight = ms_of(f"{word}T00:00")
        at_ms = None if midnight is None else midnight + DAY_MS - 1
    else:
        at_ms = ms_of(word)
    if at_ms is None or at_ms > _LATEST_MS:
        problem = (
            f"--expires is {text!r}, expected a period such as 30d (m h d w y), a date such as 2026-12-31, or never"
        )
        raise UsageInvalid(problem)
    if at_ms <= now_ms:
        raise UsageInvalid(f"--expires is {text!r}, which is past", "`memory archive` puts a note away at once.")
    return Expiry(at_ms)


def age_of(at_ms: int, now_ms: int) -> str:
    """`3 days ago`, in the largest unit that fits; `just now` within a minute, and for what a fast clock wrote."""
    age_ms = now_ms - at_ms
    for unit_ms, name in _AGES:
        if age_ms >= unit_ms:
            count = age_ms // unit_ms
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "just now"


def short_age(at_ms: int, now_ms: int) -> str:
    """`3 d ago`, for a column or a line of many facts; `just now` within a minute, and for what a fast clock wrote."""
    return f"{_short(now_ms - at_ms)} ago" if now_ms - at_ms >= _MINUTE_MS else "just now"


def time_until(at_ms: int, now_ms: int) -> str:
    """`in 55 min`; `now` within a minute, and for what is past."""
    return f"in {_short(at_ms - now_ms)}" if at_ms - now_ms >= _MINUTE_MS else "now"


def _short(period_ms: int) -> str:
    """Of a minute or more, in the largest unit that fits."""
    return next(f"{period_ms // unit_ms} {name}" for unit_ms, name in _SHORT_UNITS if period_ms >= unit_ms)


def _period_ms(found: re.Match[str]) -> int:
    return int(found[1]) * _UNITS_MS[found[2]]
