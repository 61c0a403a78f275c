"""Periods and days as people write them."""

from __future__ import annotations

import re

from returns.result import Failure, Result, Success

from agent_memory.domain.instants import DAY_MS, HOUR_MS, ms_of
from agent_memory.errors import UsageInvalid

_PERIOD = re.compile(r"(\d{1,6})\s*(m|h|d|w|y)", re.ASCII)
_UNITS_MS = {"m": 60_000, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS, "y": 365 * DAY_MS}


def since_ms_of(text: str, now_ms: int) -> Result[int, UsageInvalid]:
    """The instant that `30d` (also `m h w y`) or `2026-02-13` (UTC) means."""
    found = _PERIOD.fullmatch(text.strip())
    if found:
        return Success(now_ms - int(found[1]) * _UNITS_MS[found[2]])
    at_ms = ms_of(f"{text.strip()}T00:00") if len(text.strip()) == 10 else ms_of(text)
    if at_ms is None:
        problem = f"--since is {text!r}, expected a period such as 30d (m h d w y) or a date such as 2026-02-13"
        return Failure(UsageInvalid(problem))
    return Success(at_ms)
