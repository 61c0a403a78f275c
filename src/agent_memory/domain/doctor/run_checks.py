"""The inbox, the runs, what they cost, and the repository that records them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, Severity
from agent_memory.domain.health import FailedEntry, HookProblem
from agent_memory.domain.instants import DAY_MS, HOUR_MS, iso_of
from agent_memory.domain.queue import Trouble
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.spend import Spend, day_of

INTERVALS_BEFORE_LATE = 3
"""How many intervals of its schedule a run may be late."""
_DAYS_IN_A_ROW = 2


def examine_failed(failed: Sequence[FailedEntry]) -> Iterator[Finding]:
    """What is in `inbox/.failed/`."""
    for each in failed:
        reason = f": {each.reason.rstrip('.')}" if each.reason else ""
        if each.malformed:
            yield of.MALFORMED_ENTRY.found(
                f"inbox/.failed/{each.name}", f"It is no inbox entry{reason}; correct it and move it back, or remove it"
            )
        else:
            yield of.GIVEN_UP.found(
                f"inbox/.failed/{each.name}", f"Given up{reason}; `memory consolidate --retry-failed` tries again"
            )


def examine_troubles(troubles: Sequence[tuple[str, Trouble]]) -> Iterator[Finding]:
    """Sessions that were set back and are tried again."""
    for key, trouble in troubles:
        yield of.SET_BACK.found(key, f"It was set back and is tried again: {trouble.message.rstrip('.')}")


def examine_hook_problems(problems: Sequence[HookProblem]) -> Iterator[Finding]:
    """Captures and injections that did not arrive."""
    for each in problems:
        check, what = (of.INJECTION_LOST, "An injection") if each.act == "inject" else (of.CAPTURE_LOST, "A capture")
        yield check.found(each.harness or "a hook", f"{what} at {each.at} did not arrive: {each.message.rstrip('.')}")


def examine_last_run(last: LoggedRun | None) -> Iterator[Finding]:
    """Whether the newest run came to its end."""
    if last is None:
        return
    subject = f"runs/{last.run_id}"
    if last.problems:
        yield of.DAMAGED_STATE.found(f"{subject}/report.json", f"It cannot be understood: {'; '.join(last.problems)}")
    elif last.result != "completed":
        why = (last.error or last.summary).rstrip(".")
        yield of.LAST_RUN.found(subject, f"The last run {last.result}: {why}" if why else f"The last run {last.result}")


@frozen
class ScheduleFacts:
    """What tells whether runs are made as often as they should be."""

    now_ms: int
    consolidate_interval_ms: float
    defrag_interval_ms: float
    oldest_pending_at_ms: int | None
    runs: tuple[LoggedRun, ...]
    """Newest first; at least all since the last defrag."""


def examine_schedule(facts: ScheduleFacts) -> Iterator[Finding]:
    """Work that has waited for three intervals, and no run in that time. A run that finds nothing to do leaves no trace,
    so it is the waiting that tells, not the silence."""
    waiting = facts.oldest_pending_at_ms
    last = next((_end_of(run) for run in facts.runs if run.machine == "consolidate"), None)
    if waiting is not None and _is_late(max(waiting, last or 0), facts.now_ms, facts.consolidate_interval_ms):
        yield of.NOT_CONSOLIDATED.found(
            "inbox",
            f"A capture has waited since {iso_of(waiting)}, and no run has looked {f'since {iso_of(last)}' if last else 'yet'}; "
            "is the schedule running? `memory consolidate` does it now",
        )
    yield from _examine_defrag(facts)


def _examine_defrag(facts: ScheduleFacts) -> Iterator[Finding]:
    newer: list[LoggedRun] = []
    defragged = False
    for run in facts.runs:
        if run.machine == "defrag":
            defragged = True
            break
        if run.changed_ids:
            newer.append(run)
    if newer and _is_late(_end_of(newer[-1]), facts.now_ms, facts.defrag_interval_ms):
        since = iso_of(_end_of(newer[-1]))[:10]
        before = "no defrag has run since" if defragged else "no defrag has ever run"
        yield of.NOT_DEFRAGGED.found(
            "topics",
            f"Notes have come since {since}, and {before}; is the schedule running? `memory defrag` does it now",
            Severity.PROBLEM if defragged else Severity.NOTE,
        )


def _end_of(run: LoggedRun) -> int:
    return run.ended_at_ms if run.ended_at_ms is not None else run.started_at_ms


def _is_late(since_ms: int, now_ms: int, interval_ms: float) -> bool:
    return now_ms - since_ms > INTERVALS_BEFORE_LATE * max(interval_ms, HOUR_MS / 6)


def examine_spend(spend: Spend, max_calls_per_day: int, now_ms: int) -> Iterator[Finding]:
    """Whether the day's cap was reached on several days in a row, up to today or yesterday."""
    calls = {each.day: each.calls for each in spend}
    if max_calls_per_day < 1:
        return
    start = now_ms if calls.get(day_of(now_ms), 0) >= max_calls_per_day else now_ms - DAY_MS
    days = 0
    while calls.get(day_of(start - days * DAY_MS), 0) >= max_calls_per_day:
        days += 1
    if days >= _DAYS_IN_A_ROW:
        yield of.SPEND_CAP.found(
            "llm.maxCallsPerDay",
            f"All {max_calls_per_day} calls a day were used on {days} days in a row, so sessions wait; raise it",
        )


# -- the repository ---------------------------------------------------------------------------------------------------


GIT_DIRECTORY = ".git"


@frozen
class GitFacts:
    """The repository as it lies there; where `trouble` is set, nothing else is known but locks and debts."""

    present: bool
    trouble: str = ""
    """Why git could not be asked, or what it said."""
    stale_locks: tuple[str, ...] = ()
    """Lock files that no git works behind, relative to the root."""
    branch: str | None = "main"
    """None where HEAD is on no branch."""
    unfinished: str = ""
    """The operation that somebody began and did not finish: `merge`, `rebase`, `cherry-pick`, `revert`."""
    conflicted: tuple[str, ...] = ()
    """Paths with unresolved conflicts."""
    owed: int = 0
    """Writes that were not recorded."""


def examine_git(facts: GitFacts, *, has_notes: bool) -> Iterator[Finding]:
    """What keeps the history from being written. No remote is no trouble; nor is no repository where there is nothing yet."""
    for path in facts.stale_locks:
        yield of.GIT_LOCKED.found(path, "A git that no longer runs left this lock behind")
    if facts.owed:
        count = f"{facts.owed} write{'' if facts.owed == 1 else 's'}"
        yield of.GIT_OWED.found("runs/owed.json", f"{count} not recorded by git yet; the next run records them")
    if facts.trouble:
        yield of.GIT_UNUSABLE.found(GIT_DIRECTORY, facts.trouble.rstrip("."))
    elif not facts.present:
        if has_notes:
            yield of.GIT_ABSENT.found(
                GIT_DIRECTORY, "There is no history, although storage.autoCommit is on; the next write begins one"
            )
    else:
        yield from _examine_state(facts)


def _examine_state(facts: GitFacts) -> Iterator[Finding]:
    if facts.unfinished:
        yield of.GIT_CONFLICTED.found(
            GIT_DIRECTORY, f"A {facts.unfinished} was begun and not finished; finish or abort it with git"
        )
    for path in facts.conflicted:
        yield of.GIT_CONFLICTED.found(path, "It is in conflict, and is not recorded until that is resolved with git")
    if facts.branch is None and not facts.unfinished:
        yield of.GIT_DETACHED.found(
            GIT_DIRECTORY, "HEAD is on no branch, so what is recorded may be lost; `git switch main`, or another branch"
        )
