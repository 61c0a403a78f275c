"""Records of the usage ledger, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.entry import Usage


@frozen
class Read:
    """One read of an entry, by a harness or `manual`."""

    id: str
    at_ms: int
    reader: str


@frozen
class Total:
    """Many reads of an entry, counted together by a compaction."""

    id: str
    count: int
    last_at_ms: int | None


LedgerRecord = Read | Total


def totals_of(records: Iterable[LedgerRecord]) -> dict[str, Usage]:
    """The reads of each id, in any order of the records; ids in the order in which they first occur."""
    counts: dict[str, int] = {}
    lasts: dict[str, int] = {}
    for record in records:
        count, last = (1, record.at_ms) if isinstance(record, Read) else (record.count, record.last_at_ms)
        counts[record.id] = counts.get(record.id, 0) + count
        if last is not None:
            lasts[record.id] = max(lasts.get(record.id, last), last)
    return {id: Usage(count, lasts.get(id)) for id, count in counts.items()}
