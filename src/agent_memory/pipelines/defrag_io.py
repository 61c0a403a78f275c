"""All that the steps of defrag act on."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from returns.result import Result, Success

from agent_memory.domain.section import Published, SectionBudget
from agent_memory.errors import Error
from agent_memory.ports import (
    Agent,
    Clock,
    DefragRecords,
    Locks,
    Recorder,
    RunLog,
    Store,
    UsageLedger,
)
from agent_memory.publishing import KeepSections


def _silent(_message: str) -> None:
    return


def _nothing_to_tidy_up() -> Result[None, Error]:
    return Success(None)


@frozen
class DefragIo:
    """The adapters, and the few settings that steps need."""

    store: Store
    agent: Agent
    ledger: UsageLedger
    recorder: Recorder
    records: DefragRecords
    log: RunLog
    locks: Locks
    clock: Clock
    publish: Callable[[KeepSections], Result[Published, Error]]
    """Writes the managed section of every configured target."""
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    budget: SectionBudget = SectionBudget()
    stale_days: int = 120
    max_entries: int | None = None
    """Live entries at most."""
    max_chars: int | None = None
    """Characters of the bodies of all live entries at most."""
    tidy_up: Callable[[], Result[None, Error]] = _nothing_to_tidy_up
    """Compacts what grows: the usage ledger, old runs, the history."""
    progress: Callable[[str], None] = _silent
