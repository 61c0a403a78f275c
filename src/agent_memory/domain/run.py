"""The context of one consolidate run, which flows through the machine, and what the run comes to: its counts, its sentence, its exit
code."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from agent_memory.domain.agent_request import AgentReply, SessionRequest
from agent_memory.domain.change import Applied, Receipt
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import Outcome, Pending, Quarantined, Trouble
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.errors import Error


@frozen
class KeptReply:
    """A redacted reply with what is needed to use it again."""

    text: str
    nonce: str
    prompt_hash: str
    shown: dict[str, str]
    """Content hash of each entry shown in full, by id: with any of them changed, the reply is not used again."""


@frozen
class Work:
    """The session in hand. What can be had again (history, windows, request, reply) is not part of a checkpoint."""

    pending: Pending
    scope: str = "global"
    history: History | None = None
    mark: SessionMark | None = None
    windows: tuple[History, ...] = ()
    window_index: int = 0
    """Of the window that the agent sees next."""
    request: SessionRequest | None = None
    reply: AgentReply | None = None
    reply_keys: tuple[str, ...] = ()
    """Of the replies used so far, one a window."""
    plan: Plan = Plan()
    """Of all windows so far."""
    fallback: Plan = Plan()
    """Of an inline note: the note stored whole, should its attempts be used up."""
    receipt: Receipt | None = None
    outcome: Outcome | None = None
    """Set as soon as it is known what becomes of the session."""
    trouble: Trouble | None = None
    """To be remembered with the entry, which stays pending."""
    error: Error | None = None
    next_mark: SessionMark | None = None
    """How far the session will have been consolidated once this work is done."""
    remaining: bool = False
    """The session holds more turns than were fetched: it is taken up again before the next one."""
    after_record_id: str | None = None
    """The record after which the history begins; None for the beginning of the session."""
    from_kept: bool = False
    """The history is the kept one: it was redacted and kept before."""
    used: tuple[tuple[str, int | None], ...] = ()
    """Entries that the session's agent opened directly and that were not counted yet, with the time of the first."""


@frozen
class Settled:
    """One session that this run has dealt with."""

    pending: Pending
    outcome: Outcome
    plan: Plan = Plan()
    receipt: Receipt | None = None
    error: Error | None = None


@frozen
class Run:
    """One run. `queue` holds the sessions still to come, without the one in hand."""

    id: str
    started_at_ms: int
    limit: int | None = None
    dry_run: bool = False
    queue: tuple[Pending, ...] = ()
    work: Work | None = None
    settled: tuple[Settled, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    waiting: int = 0
    """Sessions not loaded: over the limit, or set back for a while."""
    waiting_reason: str = ""
    paused: Error | None = None
    """Why the run stops early; everything not settled stays pending and nothing of it is counted."""
    timeouts_in_a_row: int = 0
    live_at_start: int = 0
    changed: frozenset[str] = frozenset()
    """Ids changed or archived so far."""
    taken_up: tuple[Applied, ...] = ()
    """What was made of the changes that earlier runs had to leave."""
    resumed: bool = False
    """It goes on from a checkpoint: sessions that it had settled before are not in `settled`."""
    warnings: tuple[str, ...] = ()


_HALF_DONE_STATES = frozenset({"write_entries", "mark_processed", "commit_changes"})


def leaves_something_half_done(state: str, run: Run) -> bool:
    """Whether a crash in this state could leave a plan partly carried out. Earlier states have no effect to finish."""
    work = run.work
    return (
        not run.dry_run
        and state in _HALF_DONE_STATES
        and work is not None
        and bool(work.plan.changes or work.receipt is not None)
    )


# -- what it comes to -------------------------------------------------------------------------------------------------

DONE_VERDICTS = frozenset({"written", "skipped", "unchanged", "own-call", "planned"})
FAILED_VERDICTS = frozenset({"refused", "unavailable", "timed-out", "gave-up"})
PAUSED_EXIT_CODE = 40
_REASON_CHARS = 240


@frozen
class RunSummary:
    """The counts of a run. `waiting` are sessions that stay in the inbox, with the reason of the last one."""

    processed: int
    entries_written: int
    entries_updated: int
    entries_archived: int
    waiting: int
    gave_up: int
    reason: str


def summary_of(run: Run) -> RunSummary:
    verdicts = Counter(each.outcome.verdict for each in run.settled)
    acts = Counter(applied.act for each in run.settled if each.receipt is not None for applied in each.receipt.applied)
    held = [each for each in run.settled if each.outcome.verdict not in DONE_VERDICTS | {"gave-up"}]
    # A session that was taken up in several parts settles several times.
    processed = len({each.pending.name for each in run.settled if each.outcome.verdict in DONE_VERDICTS})
    return RunSummary(
        processed=processed,
        entries_written=acts["create"],
        entries_updated=acts["replace"],
        entries_archived=acts["retire"],
        waiting=len(held) + len(run.queue) + run.waiting,
        gave_up=verdicts["gave-up"],
        reason=held[-1].outcome.reason if held else run.waiting_reason,
    )


def sentence_of(run: Run) -> str:
    """`3 sessions processed, 7 entries written, 1 waiting (history unavailable: …)`."""
    summary = summary_of(run)
    parts = [
        f"{counted(summary.processed, 'session')} {'planned' if run.dry_run else 'processed'}",
        f"{counted(summary.entries_written, 'entry', 'entries')} written",
    ]
    if summary.entries_updated:
        parts.append(f"{summary.entries_updated} updated")
    if summary.entries_archived:
        parts.append(f"{summary.entries_archived} archived")
    if summary.waiting:
        parts.append(
            f"{summary.waiting} waiting"
            + (f" ({one_line(summary.reason, _REASON_CHARS).rstrip('.')})" if summary.reason else "")
        )
    if summary.gave_up:
        parts.append(f"{summary.gave_up} given up (see `memory status`)")
    if run.quarantined:
        parts.append(f"{len(run.quarantined)} malformed moved to inbox/.failed")
    return ", ".join(parts)


def exit_code_of(run: Run) -> int:
    """40 when the run paused; the code of the last error when every attempted session failed; else 0."""
    if run.paused is not None:
        return PAUSED_EXIT_CODE
    attempted = [each for each in run.settled if each.outcome.verdict != "paused"]
    failed = [each for each in attempted if each.outcome.verdict in FAILED_VERDICTS]
    error = next((each.error for each in reversed(failed) if each.error is not None), None)
    return error.exit_code if error is not None and len(failed) == len(attempted) else 0
