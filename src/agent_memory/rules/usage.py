"""Records of the usage ledger, and their totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from attrs import field, frozen

from agent_memory.note.note import Usage
from agent_memory.text.instants import DAY_MS, latest


@frozen
class Read:
    """One read of a note, by a harness or `manual`."""

    id: str
    at_ms: int
    reader: str


@frozen
class Total:
    """Many reads of a note, added up by a compaction."""

    id: str
    count: int
    last_at_ms: int | None


@frozen
class Base:
    """The reads that an imported or hand-written note brought along in its frontmatter.

    Of several the greatest counts, so that it counts once however many processes and hosts record it.
    """

    id: str
    count: int
    last_at_ms: int | None


@frozen
class DayReads:
    """How often a reader read on a UTC day, in reads that a compaction added up: a `Total` no longer tells by whom."""

    day: int
    reader: str
    count: int


LARGEST = (1 << 53) - 1
"""The largest count or instant that a person may write: every JSON reader takes it for the same number."""


def base_of(id: str, usage: Usage) -> Base:
    """Returns the base that a frontmatter brings along, whatever numbers a person wrote there."""
    last = usage.last_at_ms
    known = last if last is not None and 0 <= last <= LARGEST else None
    return Base(id, min(max(usage.count, 0), LARGEST), known)


LedgerRecord = Read | Total | Base | DayReads


@frozen
class LedgerCounts:
    """The totals of records added one at a time, in any order."""

    read: dict[str, Usage] = field(factory=dict[str, Usage])
    based: dict[str, Usage] = field(factory=dict[str, Usage])
    by_day: Counter[tuple[int, str]] = field(factory=Counter[tuple[int, str]])
    """Reads by day and reader. Reads that were compacted before this was kept are missing."""

    def add(self, record: LedgerRecord) -> None:
        match record:
            case Read(id, at_ms, reader):
                self.read[id] = _sum(self.read.get(id), Usage(1, at_ms))
                self.by_day[at_ms // DAY_MS, reader] += 1
            case Total(id, count, last_at_ms):
                self.read[id] = _sum(self.read.get(id), Usage(count, last_at_ms))
            case Base(id, count, last_at_ms):
                known = self.based.get(id, Usage(0, None))
                self.based[id] = Usage(max(known.count, count), latest(known.last_at_ms, last_at_ms))
            case DayReads(day, reader, count):  # of reads that are part of a total
                self.by_day[day, reader] += count

    @property
    def totals(self) -> dict[str, Usage]:
        """Returns the reads of each id, in the order in which they first occur."""
        return {
            id: _sum(self.read.get(id), self.based.get(id, Usage(0, None)))
            for id in dict.fromkeys((*self.read, *self.based))
        }

    @property
    def day_reads(self) -> tuple[DayReads, ...]:
        """Returns how often each reader read on each day, by day and reader."""
        return tuple(DayReads(day, reader, count) for (day, reader), count in sorted(self.by_day.items()))

    @property
    def records(self) -> tuple[Total | Base | DayReads, ...]:
        """Returns the smallest set of records with the same totals."""
        totals = (Total(id, each.count, each.last_at_ms) for id, each in self.read.items())
        bases = (Base(id, each.count, each.last_at_ms) for id, each in self.based.items())
        return (*totals, *bases, *self.day_reads)


def counted(records: Iterable[LedgerRecord]) -> LedgerCounts:
    counts = LedgerCounts()
    for record in records:
        counts.add(record)
    return counts


def _sum(one: Usage | None, other: Usage) -> Usage:
    return other if one is None else Usage(one.count + other.count, latest(one.last_at_ms, other.last_at_ms))
