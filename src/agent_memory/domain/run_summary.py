"""What a consolidate run comes to: its counts, its sentence, its exit code."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from agent_memory.domain.run import Run, Settled
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error

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
    """What the run did."""
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
        f"{_count(summary.processed, 'session')} {'planned' if run.dry_run else 'processed'}",
        f"{_count(summary.entries_written, 'entry', 'entries')} written",
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
    error = _last_error(failed)
    return error.exit_code if error is not None and len(failed) == len(attempted) else 0


def _last_error(failed: list[Settled]) -> Error | None:
    return next((each.error for each in reversed(failed) if each.error is not None), None)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
