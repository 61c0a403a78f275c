"""From what is known to what it comes to. One pass over each kind of fact; nothing is kept of a fact but its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import accumulate

from attrs import frozen

from agent_memory.domain.agent_request import Spend
from agent_memory.domain.entry import Meta
from agent_memory.domain.injecting.deliveries import Delivery
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.statistics.capture import Capture
from agent_memory.domain.statistics.period import Period
from agent_memory.domain.statistics.statistics import (
    ArrivalCounts,
    Counts,
    NoteCounts,
    ReadCounts,
    RunCounts,
    SpendCounts,
    Statistics,
)
from agent_memory.domain.tiers import Tier
from agent_memory.domain.usage import DayReads
from agent_memory.domain.vocabulary import Origin, Status

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_WENT_WELL = ("completed", "unfinished")


@frozen
class CountedNote:
    """A live note, with what its own file does not tell."""

    meta: Meta
    status: Status
    """As it is shown."""
    tier: Tier


@frozen
class StoreFacts:
    """All that statistics are made from. What is outside of the period is left out here, and need not be before."""

    notes: Sequence[CountedNote]
    archived: Sequence[Meta]
    """Of notes that are not live: of others the archive keeps earlier versions."""
    unreadable: int
    reads: Iterable[DayReads]
    reads_ever: int
    spend: Spend
    captures: Iterable[Capture]
    deliveries: Iterable[Delivery]
    runs: Sequence[LoggedRun]


def statistics_of(facts: StoreFacts, period: Period) -> Statistics:
    """The statistics of a period; instants before 1970 and after today fall on none of its days."""
    deliveries = [each for each in facts.deliveries if each.ids]
    runs = [each for each in facts.runs if period.has(each.started_at_ms)]
    return Statistics(
        period=period,
        notes=_notes(facts, period),
        reads=_reads(facts, period),
        spend=_spend(facts.spend, period),
        captures=_arrivals(((each.harness, each.at_ms) for each in facts.captures), period),
        deliveries=_arrivals(((each.harness, each.at_ms) for each in deliveries), period),
        delivered_tokens=period.by_day((each.at_ms // DAY_MS, each.tokens) for each in deliveries),
        runs=_runs(runs),
        sessions=_most_first(session.verdict for run in runs for session in run.sessions),
        run_days=period.by_day((each.started_at_ms // DAY_MS, 1) for each in runs),
        failed_run_days=period.by_day(
            (each.started_at_ms // DAY_MS, 1) for each in runs if each.result not in _WENT_WELL
        ),
    )


def _notes(facts: StoreFacts, period: Period) -> NoteCounts:
    metas = [each.meta for each in facts.notes]
    born = [each.created_at_ms // DAY_MS for each in (*metas, *facts.archived)]
    created = period.by_day((day, 1) for day in born)
    before = sum(day < period.first_day for day in born)
    return NoteCounts(
        live=len(metas),
        archived=len(facts.archived),
        unreadable=facts.unreadable,
        kinds=_most_first(each.kind.value for each in metas),
        scopes=_most_first(each.scope for each in metas),
        origins=_in_order(Origin, (each.origin for each in metas)),
        statuses=_in_order(Status, (each.status for each in facts.notes)),
        tiers=_in_order(Tier, (each.tier for each in facts.notes)),
        created=created,
        known=tuple(accumulate(created, initial=before))[1:],
    )


def _reads(facts: StoreFacts, period: Period) -> ReadCounts:
    readers: Counter[str] = Counter()
    days: list[tuple[int, int]] = []
    for each in facts.reads:
        if period.first_day <= each.day <= period.last_day:
            readers[each.reader] += each.count
            days.append((each.day, each.count))
    return ReadCounts(facts.reads_ever, _sorted(readers), period.by_day(days))


def _spend(spend: Spend, period: Period) -> SpendCounts:
    days = [(_day_named(each.day), each) for each in spend]
    return SpendCounts(
        calls=period.by_day((day, each.calls) for day, each in days),
        prompt_chars=period.by_day((day, each.prompt_chars) for day, each in days),
        reply_chars=period.by_day((day, each.reply_chars) for day, each in days),
    )


def _arrivals(arrived: Iterable[tuple[str, int]], period: Period) -> ArrivalCounts:
    harnesses: Counter[str] = Counter()
    days: list[tuple[int, int]] = []
    for harness, at_ms in arrived:
        if period.has(at_ms):
            harnesses[harness] += 1
            days.append((at_ms // DAY_MS, 1))
    return ArrivalCounts(_sorted(harnesses), period.by_day(days))


def _runs(runs: Iterable[LoggedRun]) -> tuple[RunCounts, ...]:
    by_machine: dict[str, Counter[str]] = {}
    for run in runs:
        by_machine.setdefault(run.machine, Counter())[run.result] += 1
    return tuple(RunCounts(machine, _sorted(by_machine[machine])) for machine in sorted(by_machine))


def _most_first(names: Iterable[str]) -> Counts:
    return _sorted(Counter(names))


def _sorted(counts: Counter[str]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _in_order(words: type[Origin] | type[Status] | type[Tier], found: Iterable[Origin | Status | Tier]) -> Counts:
    counts = Counter(found)
    return tuple((word.value, counts[word]) for word in words)


def _day_named(name: str) -> int:
    """Days since 1970 of `2026-02-13`; what is no day falls on none of a period."""
    try:
        return date.fromisoformat(name).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return -1
