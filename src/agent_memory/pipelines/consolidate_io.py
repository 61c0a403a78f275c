"""What the steps of consolidate act on, and how the work on a session ends: settled with an outcome, set back with its
trouble, or stopping the run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from agent_memory.domain.history import History
from agent_memory.domain.inbox_entry import InlineNote
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import Outcome, Trouble, Verdict
from agent_memory.domain.queueing.fold import after_fault, after_timeout, after_unavailable, is_exhausted
from agent_memory.domain.run import Run, Work
from agent_memory.domain.tagging import TagVocabulary
from agent_memory.errors import Error
from agent_memory.known_notes import KnownNotes
from agent_memory.ports import (
    Agent,
    Clock,
    HistorySource,
    Inbox,
    KeptHistories,
    Places,
    Recorder,
    RunRecords,
    SessionMarks,
    Store,
    Tombstones,
    UsageLedger,
)
from agent_memory.wording import describe

TIMEOUTS_THAT_PAUSE = 2


@frozen
class ConsolidateIo:
    """The adapters, and the few settings that steps need."""

    inbox: Inbox
    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    places: Places
    store: Store
    agent: Agent
    marks: SessionMarks
    recorder: Recorder
    runs: RunRecords
    clock: Clock
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    handoff_days: int = 7
    tombstones: Tombstones | None = None
    """What was forgotten; None where nothing ever is."""
    kept: KeptHistories | None = None
    """None where no histories are kept."""
    ledger: UsageLedger | None = None
    """None where nobody counts what agents look at."""
    vocabulary: Callable[[], TagVocabulary] = TagVocabulary
    """The tags that a person has accepted or renamed."""
    known: KnownNotes | None = None
    """What finds notes about the same subject; without it the listing does."""
    progress: Callable[[str], object] = str


def settle(
    io: ConsolidateIo,
    run: Run,
    work: Work,
    verdict: Verdict,
    reason: str = "",
    *,
    error: Error | None = None,
    trouble: Trouble | None = None,
    entry_ids: tuple[str, ...] = (),
) -> Run:
    """The run with the outcome of the session in hand known and nothing left to write for it."""
    if error is not None:
        error.__traceback__ = error.__context__ = (
            None  # they would keep the session's history in memory until the run ends
        )
    dropped = tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in work.plan.dropped)
    outcome = Outcome(verdict, run.id, io.clock.now_ms(), entry_ids, reason, dropped)
    return evolve(run, work=evolve(work, outcome=outcome, error=error, trouble=trouble))


def set_back_by_fault(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Run:
    """One attempt more; the last one gives the session up, or stores an inline note whole."""
    trouble = after_fault(
        work.pending.trouble, fingerprint(work.history), error.code, describe(error), io.clock.now_ms()
    )
    return _set_back(io, run, work, error, trouble, "refused")


def set_back_by_absence(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Run:
    """The history is not there (yet)."""
    trouble = after_unavailable(work.pending.trouble, error.code, describe(error), io.clock.now_ms())
    return _set_back(io, run, work, error, trouble, "unavailable")


def set_back_by_timeout(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Run:
    """The agent command took too long; two in a row, and it is the command: the run pauses, and this one counts too."""
    trouble = after_timeout(
        work.pending.trouble, fingerprint(work.history), error.code, describe(error), io.clock.now_ms()
    )
    settled = _set_back(io, run, work, error, trouble, "timed-out")
    timeouts = run.timeouts_in_a_row + 1
    return evolve(settled, timeouts_in_a_row=timeouts, paused=error if timeouts >= TIMEOUTS_THAT_PAUSE else None)


def pause(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Run:
    """Stop the run: the fault is not the session's, so everything stays pending and nothing is counted."""
    return evolve(settle(io, run, work, "paused", describe(error), error=error), paused=error)


def fingerprint(history: History | None) -> str:
    """What identifies the content that was tried: another content starts the attempts afresh."""
    if history is None or not history.turns:
        return ""
    last = history.turns[-1]
    text = f"{last.number} {last.record_id} {sum(len(turn.text) for turn in history.turns)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _set_back(io: ConsolidateIo, run: Run, work: Work, error: Error, trouble: Trouble, verdict: Verdict) -> Run:
    if not is_exhausted(trouble):
        return settle(io, run, work, verdict, describe(error), error=error, trouble=trouble)
    if isinstance(work.pending.entry.retrieval, InlineNote) and work.fallback.changes:
        whole = evolve(work, plan=work.fallback, reply=None, windows=(), window_index=0)
        return evolve(run, work=whole)
    return settle(io, run, evolve(work, plan=Plan()), "gave-up", describe(error), error=error, trouble=trouble)
