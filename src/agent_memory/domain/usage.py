"""Records of the usage ledger, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from agent_memory.domain.entry import Usage
from agent_memory.domain.instants import DAY_MS


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


@frozen
class Base:
    """The reads that an imported or hand-written entry brought along in its frontmatter.

    Of several the greatest counts, so that it counts once however many processes and hosts record it.
    """

    id: str
    count: int
    last_at_ms: int | None


@frozen
class DayReads:
    """How often a reader read on a UTC day, of reads that a compaction counted together: a `Total` no longer tells by whom."""

    day: int
    """Days since 1970."""
    reader: str
    count: int


LARGEST = (1 << 53) - 1
"""Of counts and instants that a person may write: what every JSON reader takes for the same number."""


def base_of(id: str, usage: Usage) -> Base:
    """What a frontmatter brought along, whatever numbers a person wrote there."""
    last = usage.last_at_ms
    known = last if last is not None and 0 <= last <= LARGEST else None
    return Base(id, min(max(usage.count, 0), LARGEST), known)


LedgerRecord = Read | Total | Base | DayReads


def totals_of(records: Iterable[LedgerRecord]) -> dict[str, Usage]:
    """The reads of each id, in any order of the records; ids in the order in which they first occur."""
    read, based = reads_and_bases(records)
    return {id: _sum(read.get(id), based.get(id)) for id in dict.fromkeys((*read, *based))}


def reads_and_bases(records: Iterable[LedgerRecord]) -> tuple[dict[str, Usage], dict[str, Usage]]:
    """What the ledgers counted themselves, and what was brought along, by id."""
    read: dict[str, Usage] = {}
    based: dict[str, Usage] = {}
    for record in records:
        match record:
            case Read(id, at_ms, _):
                read[id] = _sum(read.get(id), Usage(1, at_ms))
            case Total(id, count, last_at_ms):
                read[id] = _sum(read.get(id), Usage(count, last_at_ms))
            case Base(id, count, last_at_ms):
                based[id] = _greatest(based.get(id), Usage(count, last_at_ms))
            case DayReads():
                continue  # of reads that a total counts already
    return read, based


def day_reads(records: Iterable[LedgerRecord]) -> tuple[DayReads, ...]:
    """How often each reader read on each day, by day and reader. Whoever compacted before this was kept is not in it."""
    counts: dict[tuple[int, str], int] = {}
    for record in records:
        count_reads(counts, record)
    return listed_reads(counts)


def count_reads(counts: dict[tuple[int, str], int], record: LedgerRecord) -> None:
    """Add what a record says of a reader's day to the counts, by day and reader."""
    match record:
        case Read(_, at_ms, reader):
            key, count = (at_ms // DAY_MS, reader), 1
        case DayReads(day, reader, count):
            key = (day, reader)
        case _:
            return
    counts[key] = counts.get(key, 0) + count


def listed_reads(counts: Mapping[tuple[int, str], int]) -> tuple[DayReads, ...]:
    """The counts as records, by day and reader."""
    return tuple(DayReads(day, reader, count) for (day, reader), count in sorted(counts.items()))


def _sum(one: Usage | None, other: Usage | None) -> Usage:
    if one is None or other is None:
        return one or other or Usage(0, None)
    return Usage(one.count + other.count, _later(one, other))


def _greatest(one: Usage | None, other: Usage) -> Usage:
    return other if one is None else Usage(max(one.count, other.count), _later(one, other))


def _later(one: Usage, other: Usage) -> int | None:
    instants = [each.last_at_ms for each in (one, other) if each.last_at_ms is not None]
    return max(instants, default=None)
