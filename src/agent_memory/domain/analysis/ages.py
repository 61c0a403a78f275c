"""Findings about entries whose time is over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import not_

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.entry_reads import last_reads
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.packed_entries import chosen, column_of

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no calendar shows what is later."""


def over_by(entries: Sequence[Listed], now_ms: int) -> Sequence[Listed]:
    """Those of the entries whose `expiresAt` has come."""
    ends = column_of(entries, "meta.expires_at_ms")
    return chosen(entries, [has_passed(at_ms, now_ms) for at_ms in ends])


def ageing(entries: Sequence[Listed], facts: AnalysisFacts) -> Sequence[Listed]:
    """Those of the entries of which time alone may make something."""
    if not facts.hot_or_new:
        return entries
    return chosen(entries, map(not_, map(facts.hot_or_new.__contains__, column_of(entries, "meta.id"))))


def expired(entry: Meta, facts: AnalysisFacts) -> Finding | None:
    """A finding about an entry whose `expiresAt` has come."""
    at_ms = entry.expires_at_ms
    if at_ms is None or at_ms > facts.now_ms:
        return None
    return Finding(FindingKind.EXPIRED, (entry.id,), f"expired {_shown(_day(at_ms))}", _aged(facts.now_ms - at_ms, 30))


def stale(entries: Sequence[Listed], facts: AnalysisFacts) -> Iterator[Finding]:
    """A finding about each that was neither read nor changed for `stale_days`; never about a pinned one."""
    old = _untouched_since(entries, facts.now_ms - facts.stale_days * DAY_MS)
    columns = (column_of(old, f"meta.{name}") for name in ("id", "pinned", "updated_at_ms", "created_at_ms"))
    for id, is_pinned, updated_at_ms, created_at_ms, read_ms in zip(
        *columns, last_reads(old, facts.usage), strict=True
    ):
        touched_ms = max(updated_at_ms, created_at_ms, read_ms or 0)
        days = (facts.now_ms - touched_ms) // DAY_MS
        if not is_pinned and days >= facts.stale_days:
            read_on, changed_on = None if read_ms is None else _day(read_ms), _day(updated_at_ms)
            reason = _why_stale(read_on, changed_on, days, facts.stale_days)
            yield Finding(FindingKind.STALE, (id,), reason, _aged(facts.now_ms - touched_ms, facts.stale_days))


def _untouched_since(entries: Sequence[Listed], at_ms: int) -> Sequence[Listed]:
    """Those of the entries that were neither made nor changed after an instant, as they say."""
    touched = map(max, column_of(entries, "meta.updated_at_ms"), column_of(entries, "meta.created_at_ms"))
    return chosen(entries, map(at_ms.__ge__, touched))


@lru_cache(maxsize=4_096)
def _why_stale(read_on: int | None, changed_on: int, days: int, stale_days: int) -> str:
    how = "never read" if read_on is None else f"last read {_shown(read_on)}"
    return f"{how} and not changed since {_shown(changed_on)}: {days:,} days, stale from {stale_days} on"


def _day(at_ms: int) -> int:
    """The day since 1970 that a calendar shows."""
    return min(max(at_ms, 0), _LAST_MS) // DAY_MS


def _shown(day: int) -> str:
    """The date of a day since 1970."""
    return iso_of(day * DAY_MS)[:10]


def _aged(age_ms: int, half_days: int) -> float:
    """From 0 towards 1 with age; a half at `half_days`."""
    return round(age_ms / (age_ms + half_days * DAY_MS), 4) if age_ms > 0 else 0.0
