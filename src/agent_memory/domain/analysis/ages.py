"""Findings about entries whose time is over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import not_

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.entry import Listed, Meta
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
    if not facts.ageless:
        return entries
    return chosen(entries, map(not_, map(facts.ageless.__contains__, column_of(entries, "meta.id"))))


def untouched_since(entries: Sequence[Listed], at_ms: int) -> Sequence[Listed]:
    """Those of the entries that were neither made nor changed after an instant, as they say."""
    touched = map(max, column_of(entries, "meta.updated_at_ms"), column_of(entries, "meta.created_at_ms"))
    return chosen(entries, map(at_ms.__ge__, touched))


def expired(entry: Meta, facts: AnalysisFacts) -> Finding | None:
    """A finding about an entry whose `expiresAt` has come."""
    at_ms = entry.expires_at_ms
    if at_ms is None or at_ms > facts.now_ms:
        return None
    return Finding(FindingKind.EXPIRED, (entry.id,), f"expired {_day(at_ms)}", _aged(facts.now_ms - at_ms, 30))


def stale(entry: Meta, facts: AnalysisFacts) -> Finding | None:
    """A finding about an entry that was neither read nor changed for `stale_days`; never about a pinned one."""
    read_ms = last_read(entry, facts)
    touched_ms = max(entry.updated_at_ms, entry.created_at_ms, read_ms or 0)
    days = (facts.now_ms - touched_ms) // DAY_MS
    if entry.pinned or days < facts.stale_days:
        return None
    how = "never read" if read_ms is None else f"last read {_day(read_ms)}"
    reason = f"{how} and not changed since {_day(entry.updated_at_ms)}: {days:,} days, stale from {facts.stale_days} on"
    return Finding(FindingKind.STALE, (entry.id,), reason, _aged(facts.now_ms - touched_ms, facts.stale_days))


def last_read(entry: Meta, facts: AnalysisFacts) -> int | None:
    """When the entry was last read, epoch ms, by the ledger, else by its frontmatter; None where nobody has read it."""
    counted = facts.usage.get(entry.id)
    if counted is not None:
        return (counted.last_at_ms or 0) if counted.count else None
    return (entry.last_used_at_ms or 0) if entry.used else None


def _day(at_ms: int) -> str:
    return _shown(min(max(at_ms, 0), _LAST_MS) // DAY_MS)


@lru_cache(maxsize=4_096)
def _shown(day: int) -> str:
    """The date of a day since 1970."""
    return iso_of(day * DAY_MS)[:10]


def _aged(age_ms: int, half_days: int) -> float:
    """From 0 towards 1 with age; a half at `half_days`."""
    return round(age_ms / (age_ms + half_days * DAY_MS), 4) if age_ms > 0 else 0.0
