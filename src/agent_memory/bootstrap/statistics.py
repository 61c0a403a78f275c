"""How `memory stats` comes to know what it tells."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from returns.result import Result

from agent_memory.adapters.inbox.last_captures import all_captures
from agent_memory.adapters.injecting.delivery_files import DeliveryLog
from agent_memory.domain.entry import Meta
from agent_memory.domain.statistics.counting import CountedNote, StoreFacts, statistics_of
from agent_memory.domain.statistics.period import period_to
from agent_memory.domain.statistics.statistics import Statistics
from agent_memory.errors import Error
from agent_memory.reading import ListedEntries, ListFilter, status_shown
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory

MOST_RUNS = 5_000
"""Reports that are opened, the newest first: more than a year of one every two hours."""


def statistics(memory: Memory, days: int) -> Result[Statistics, Error]:
    """As `Memory.statistics` has it."""
    period = period_to(memory.clock.now_ms(), days)
    root = memory.real_root
    return Result.do(
        statistics_of(
            StoreFacts(
                notes=[
                    CountedNote(each.listed.meta, status_shown(each.listed.meta.status, each.tier), each.tier)
                    for each in live.entries
                ],
                archived=_only_archived(live, archive),
                unreadable=len(live.unreadable),
                reads=reads,
                reads_ever=sum(each.count for each in totals.values()),
                spend=spend,
                captures=captures,
                deliveries=DeliveryLog(root).deliveries(),
                runs=runs,
            ),
            period,
        )
        for live in memory.reading.list(ListFilter()).map(partial(_told, memory))
        for archive in memory.reading.list(ListFilter(), archived=True)
        for totals in memory.ledger.totals()
        for reads in memory.ledger.day_reads()
        for spend in memory.spend.days()
        for captures in all_captures(root)
        for runs in memory.log.runs(MOST_RUNS)
    )


def _told(memory: Memory, live: ListedEntries) -> ListedEntries:
    """Without the tier list there are all other numbers."""
    if live.untiered is not None:
        memory.warn(f"The tiers are not known. {describe(live.untiered)}")
    return live


def _only_archived(live: ListedEntries, archive: ListedEntries) -> list[Meta]:
    ids = {each.listed.meta.id for each in live.entries}
    return [each.listed.meta for each in archive.entries if each.listed.meta.id not in ids]
