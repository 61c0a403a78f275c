"""Findings about entries whose time is over."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress, count, repeat
from operator import is_not, not_

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.entry_reads import last_reads
from agent_memory.domain.findings import Finding, FindingKind, OneEach
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.packed_entries import chosen, column_of, in_order

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: no calendar shows what is later."""


def over_by(entries: Sequence[Listed], now_ms: int) -> Sequence[Listed]:
    """Those of the entries whose `expiresAt` has come."""
    ends = column_of(entries, "meta.expires_at_ms")
    ending = compress(count(), map(is_not, ends, repeat(None)))  # few do
    return in_order(entries, [place for place in ending if has_passed(ends[place], now_ms)])


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


def stale(entries: Sequence[Listed], facts: AnalysisFacts) -> OneEach:
    """A finding about each that was neither read nor changed for `stale_days`; never about a pinned one."""
    now_ms, stale_days = facts.now_ms, facts.stale_days
    names = ("id", "pinned", "updated_at_ms", "created_at_ms")
    ids, pinned, updated_ms, created_ms = (column_of(entries, f"meta.{name}") for name in names)
    reads_ms = last_reads(entries, facts.usage)
    touched_ms = list(map(max, updated_ms, created_ms, [at_ms or 0 for at_ms in reads_ms]))

    def score(number: int) -> float:
        return _aged(now_ms - touched_ms[number], stale_days)

    def worst_first(numbers: Sequence[int]) -> Iterator[int]:
        # By age they are by score too, which is worked out as far as somebody looks.
        by_age = sorted(numbers, key=touched_ms.__getitem__)
        start = 0
        while start < len(by_age):
            end = bisect_right(by_age, -score(by_age[start]), start, key=lambda number: -score(number))
            yield from sorted(by_age[start:end], key=ids.__getitem__)
            start = end

    def finding(number: int) -> Finding:
        read_ms = reads_ms[number]
        read_on, changed_on = None if read_ms is None else _day(read_ms), _day(updated_ms[number])
        reason = _why_stale(read_on, changed_on, (now_ms - touched_ms[number]) // DAY_MS, stale_days)
        return Finding(FindingKind.STALE, (ids[number],), reason, score(number))

    is_old = map((now_ms - stale_days * DAY_MS).__ge__, touched_ms)
    numbers = list(compress(count(), map(bool.__and__, is_old, map(not_, pinned))))
    return OneEach(FindingKind.STALE, numbers, ids, worst_first, finding)


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
