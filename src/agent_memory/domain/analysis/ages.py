"""Findings about entries whose time is over."""

from __future__ import annotations

from functools import lru_cache

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.entry import Meta
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS, iso_of

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no calendar shows what is later."""


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
