"""What `memory stats` tells."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.statistics.period import Period

Counts = tuple[tuple[str, int], ...]
"""How often each of some names occurs."""

Days = tuple[int, ...]
"""An amount for each day of the period, oldest first."""


@frozen
class NoteCounts:
    """The notes there are now; how many there were earlier is told by when they were made."""

    live: int
    archived: int
    unreadable: int
    kinds: Counts
    """Of live notes, like all that follow; the most frequent first."""
    scopes: Counts
    origins: Counts
    """In the order of trust."""
    statuses: Counts
    """As far as they have come, in that order; what is hot counts as promoted."""
    tiers: Counts
    """Hot, warm, cold."""
    created: Days
    """Of live and archived notes."""
    known: Days
    """Notes that were made until the end of each day, and are live or archived today."""


@frozen
class ReadCounts:
    """Reads of notes, by whatever counts them: `list`, `search` and injection do not."""

    ever: int
    """Before the period too, and by whomever."""
    readers: Counts
    """In the period, by harness, the most frequent first."""
    days: Days


@frozen
class SpendCounts:
    """What went to the agent command and came back. No more is known than of the last ninety days."""

    calls: Days
    prompt_chars: Days
    reply_chars: Days


@frozen
class ArrivalCounts:
    """What came or went by harness: captures, or deliveries."""

    harnesses: Counts
    """In the period, the most frequent first."""
    days: Days


@frozen
class RunCounts:
    """The runs of one machine in the period."""

    machine: str
    results: Counts
    """`completed`, `paused`, `failed`, …; the most frequent first."""


@frozen
class Statistics:
    """All of it, over one period."""

    period: Period
    notes: NoteCounts
    reads: ReadCounts
    spend: SpendCounts
    captures: ArrivalCounts
    deliveries: ArrivalCounts
    delivered_tokens: Days
    runs: tuple[RunCounts, ...]
    sessions: Counts
    """What consolidation made of sessions in the period, by verdict, the most frequent first."""
    run_days: Days
    """Runs of any machine."""
    failed_run_days: Days
    """Those that failed or paused."""
