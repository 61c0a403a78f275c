"""What `memory stats` tells: a store and its use in numbers, over some days. Only counts are kept, no facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from itertools import accumulate

from attrs import frozen

from agent_memory.note.note import Meta, Origin, Status, Tier
from agent_memory.recall.delivery_log import Delivery
from agent_memory.rules.plan import Spend
from agent_memory.rules.run_log import LoggedRun
from agent_memory.store.usage_ledger import DayReads
from agent_memory.text.instants import DAY_MS, day_of

LARGEST_DAYS = 3_650
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

Counts = tuple[tuple[str, int], ...]
"""How often each of some names occurs; most frequent first, unless said otherwise."""

Days = tuple[int, ...]
"""An amount for each day of the period, oldest first."""


def period_of(last_day: int, days: int) -> range:
    """The consecutive UTC days up to `last_day`. A day is a number since 1970, never negative."""
    return range(max(last_day - days + 1, 0), last_day + 1)


def by_day(period: range, amounts: Iterable[tuple[int, int]]) -> Days:
    """Returns the amount for each day of a period, given amounts with their days; other days are left out."""
    found = [0] * len(period)
    for day, amount in amounts:
        if day in period:
            found[day - period.start] += amount
    return tuple(found)


@frozen
class Statistics:
    names: tuple[str, ...]
    """Each day of the period as `2026-02-13`, oldest first."""
    live: int
    archived: int
    unreadable: int
    reads_ever: int
    """All reads that are counted (`list`, `search` and injection are not), including those before the period."""
    counts: Mapping[str, Counts]
    """Live notes by kind, scope, agent, origin, status and tier, the last three in the order of their vocabularies; reads,
    captures and deliveries in the period by harness, and sessions by the outcome of their consolidation."""
    machines: Mapping[str, Counts]
    """How the runs of each machine ended in the period: `completed`, `paused`, `failed`, …"""
    captured: Mapping[str, Days]
    """Captures of each harness on each day."""
    days: Mapping[str, Days]
    """`notes` are those made on each day, `known` those made until its end, whether live or archived today."""


def statistics_of(
    period: range,
    *,
    notes: Sequence[tuple[Meta, Status, Tier]],
    archived: Sequence[Meta],
    unreadable: int,
    reads: Iterable[DayReads],
    reads_ever: int,
    spend: Spend,
    captures: Iterable[tuple[str, int]],
    deliveries: Iterable[Delivery],
    runs: Iterable[LoggedRun],
) -> Statistics:
    """Returns the statistics of a period; anything outside its days is left out.

    `notes` are the live ones, with status and tier as they are shown (a hot note counts as promoted); `archived` are
    all others; `captures` are harness and instant of each inbox entry, whatever became of it.
    """
    metas = [meta for meta, _, _ in notes]
    born = [each.created_at_ms // DAY_MS for each in (*metas, *archived)]
    created = by_day(period, ((day, 1) for day in born))
    reads = [each for each in reads if each.day in period]
    readers = Counter[str]()
    for each in reads:
        readers[each.reader] += each.count
    spent = [(_day_named(day), each) for day, each in spend.items()]
    captures = [each for each in captures if each[1] // DAY_MS in period]
    deliveries = [each for each in deliveries if each.ids and each.at_ms // DAY_MS in period]
    runs = [each for each in runs if each.started_at_ms // DAY_MS in period]
    machines = sorted({each.machine for each in runs})
    counts = {
        "kind": _counted(each.kind.value for each in metas),
        "scope": _counted(each.scope for each in metas),
        "agent": _counted(name for each in metas for name in {source.agent for source in each.sources} if name),
        "origin": _in_order(Origin, (each.origin for each in metas)),
        "status": _in_order(Status, (status for _, status, _ in notes)),
        "tier": _in_order(Tier, (tier for _, _, tier in notes)),
        "reads": _sorted(readers),
        "captures": _counted(harness for harness, _ in captures),
        "deliveries": _counted(each.harness for each in deliveries),
        "sessions": _counted(session.verdict for run in runs for session in run.sessions),
    }
    failed = (each for each in runs if each.result not in ("completed", "unfinished"))
    days = {
        "notes": created,
        "known": tuple(accumulate(created, initial=sum(day < period.start for day in born)))[1:],
        "reads": by_day(period, ((each.day, each.count) for each in reads)),
        "captures": by_day(period, ((at_ms // DAY_MS, 1) for _, at_ms in captures)),
        "deliveries": by_day(period, ((each.at_ms // DAY_MS, 1) for each in deliveries)),
        "tokens": by_day(period, ((each.at_ms // DAY_MS, each.tokens) for each in deliveries)),
        "calls": by_day(period, ((day, each.calls) for day, each in spent)),
        "prompt characters": by_day(period, ((day, each.prompt_chars) for day, each in spent)),
        "reply characters": by_day(period, ((day, each.reply_chars) for day, each in spent)),
        "runs": by_day(period, ((each.started_at_ms // DAY_MS, 1) for each in runs)),
        "failed runs": by_day(period, ((each.started_at_ms // DAY_MS, 1) for each in failed)),
    }
    names = tuple(day_of(day * DAY_MS) for day in period)
    ended: dict[str, Counts] = {name: _counted(run.result for run in runs if run.machine == name) for name in machines}
    captured = {
        name: by_day(period, ((at_ms // DAY_MS, 1) for harness, at_ms in captures if harness == name))
        for name, _ in counts["captures"]
    }
    return Statistics(names, len(metas), len(archived), unreadable, reads_ever, counts, ended, captured, days)


def _counted(names: Iterable[str]) -> Counts:
    return _sorted(Counter(names))


def _sorted(counts: Counter[str]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _in_order(words: type[StrEnum], found: Iterable[StrEnum]) -> Counts:
    counts = Counter(found)
    return tuple((word.value, counts[word]) for word in words)


def _day_named(name: str) -> int:
    """Returns the days since 1970 of `2026-02-13`; anything else is on no day of a period."""
    try:
        return date.fromisoformat(name).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return -1
