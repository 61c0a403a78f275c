"""What is known of one session: its captures, what runs made of them, and the notes that name it; and all of it in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.history import SessionMark
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import MAX_ATTEMPTS, InboxEntry, Outcome, Trouble, session_id_of
from agent_memory.domain.run_log import LoggedRun, LoggedSession, short_id

Place = Literal["waiting", "processed", "given-up"]
SessionState = Literal["pending", "processed", "failed", "never-captured"]


@frozen
class Capture:
    """One inbox entry that named the session."""

    entry: InboxEntry
    place: Place
    name: str
    trouble: Trouble | None = None
    """Of one that waits."""
    outcome: Outcome | None = None
    """Of one that was taken out of the inbox."""

    @property
    def key(self) -> tuple[str, str]:
        """Harness and session id."""
        return self.entry.harness.value, session_id_of(self.entry) or ""


@frozen
class SeenByRun:
    """What one run made of the session."""

    run: LoggedRun
    seen: LoggedSession


@frozen
class SessionTrace:
    """What `memory why --session` tells of one session of one harness."""

    harness: str
    session_id: str
    mark: SessionMark | None = None
    captures: tuple[Capture, ...] = ()
    """Newest first."""
    runs: tuple[SeenByRun, ...] = ()
    """Newest first."""
    entries: tuple[Listed, ...] = ()
    """Live and archived ones that name the session as a source, or that it was recorded to have made."""
    deferred: tuple[str, ...] = ()
    """Ids of entries of which a change waits for the next run, since it was over a run's limit."""

    @property
    def waiting(self) -> tuple[Capture, ...]:
        return tuple(each for each in self.captures if each.place == "waiting")

    @property
    def retired(self) -> tuple[Capture, ...]:
        """Those with an outcome, the newest outcome first."""
        done = (each for each in self.captures if each.outcome is not None)
        return tuple(sorted(done, key=lambda each: -(each.outcome.at_ms if each.outcome else 0)))

    @property
    def recorded_ids(self) -> frozenset[str]:
        """The notes that were recorded as made of it."""
        marked = () if self.mark is None else self.mark.entry_ids
        retired = (id for each in self.retired if each.outcome for id in each.outcome.entry_ids)
        return frozenset((*marked, *retired, *(id for each in self.runs for id in each.seen.entry_ids)))

    @property
    def cwd(self) -> str | None:
        """Where it took place, by its newest capture that says so, else by its entries."""
        said = (each.entry.context.cwd for each in self.captures if each.entry.context.cwd)
        noted = (
            source.cwd
            for each in self.entries
            for source in each.meta.sources
            if source.thread_id == self.session_id and source.cwd
        )
        return next(iter((*said, *noted)), None)

    @property
    def state(self) -> SessionState:
        """What became of it: what waits counts before what was done, and the newest outcome before older ones."""
        if self.waiting:
            return "pending"
        if self.retired:
            return "failed" if self.retired[0].place == "given-up" else "processed"
        return "processed" if self.mark is not None or self.runs else "never-captured"


@frozen
class FoundSessions:
    """The sessions that an id means: of several harnesses that have the same, or none."""

    traces: tuple[SessionTrace, ...]
    unopened: int = 0
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each: there may be more to tell."""


# -- in sentences -----------------------------------------------------------------------------------------------------

_MOST_OUTCOMES = 10
_VERDICTS: Mapping[str, str] = {
    "written": "notes were made of it",
    "skipped": "nothing of it was kept",
    "unchanged": "it held nothing new since the time before",
    "refused": "the agent's answer was refused",
    "unavailable": "its transcript was not there",
    "timed-out": "the agent gave no answer in time",
    "gave-up": "it was given up",
    "own-call": "it is one of memory's own calls to an agent, and nothing is learnt from those",
    "paused": "the run had to stop before it",
    "planned": "it was only looked at, in a dry run",
}


def state_in_words(trace: SessionTrace) -> str:
    """One sentence: where the session stands."""
    match trace.state:
        case "pending":
            before = " It was read before, and has grown since." if trace.mark is not None else ""
            return f"It waits in the inbox; `memory consolidate` reads it.{before}"
        case "failed":
            return "It was given up; `memory consolidate --retry-failed` tries it again."
        case "processed":
            return "It has been read."
        case "never-captured":
            return "No capture of it has arrived, though notes name it." if trace.entries else NEVER_CAPTURED


NEVER_CAPTURED = (
    "Nothing is known of it: no capture of it has arrived. `memory status` shows captures that did not arrive; "
    "`memory capture --harness NAME --session ID --transcript PATH` captures it now."
)


def facts_in_words(trace: SessionTrace) -> tuple[str, ...]:
    """What is known besides, one sentence each, in the order in which it happened."""
    facts: list[str] = []
    if captures := trace.captures:
        first, last = instant(captures[-1].entry.at_ms), instant(captures[0].entry.at_ms)
        times = f"on {last}" if len(captures) == 1 else f"{len(captures)} times, first on {first}, last on {last}"
        facts.append(f"It was captured {times}.")
    # What the inbox no longer tells, the runs do.
    outcomes = [each.outcome for each in trace.retired if each.outcome is not None]
    told = [_outcome_in_words(each.at_ms, each.verdict, each.reason, each.run_id) for each in outcomes] or [
        _outcome_in_words(each.run.started_at_ms, each.seen.verdict, each.seen.reason, each.run.run_id)
        for each in trace.runs
    ]
    facts += reversed(tuple(dict.fromkeys(told))[:_MOST_OUTCOMES])
    if (mark := trace.mark) is not None:
        when = f", of {instant(mark.last_at_ms)}" if mark.last_at_ms is not None else ""
        facts.append(f"It has been read up to turn {mark.turns_seen}{when}, by {mark.agent_name}.")
    facts += dict.fromkeys(_trouble_in_words(each.trouble) for each in trace.waiting if each.trouble is not None)
    if trace.deferred:
        named = ", ".join(trace.deferred)
        facts.append(f"What it changes of {named} waits for the next run: one run changes only so much.")
    return tuple(facts)


def _outcome_in_words(at_ms: int, verdict: str, reason: str, run_id: str) -> str:
    """`2026-02-13 14:30 UTC: nothing of it was kept: … (run 4dbfbe)`."""
    why = f": {reason.rstrip('.')}" if reason else ""
    return f"{instant(at_ms)}: {_VERDICTS.get(verdict, verdict)}{why} (run {short_id(run_id)})"


def instant(at_ms: int) -> str:
    """`2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def dropped_of(trace: SessionTrace) -> tuple[str, ...]:
    """What of the agent's answers was not applied and why, each once, newest first."""
    by_captures = (words for each in trace.retired if each.outcome for words in each.outcome.dropped)
    by_runs = (words for each in trace.runs for words in each.seen.dropped)
    return tuple(dict.fromkeys((*by_captures, *by_runs)))


def _trouble_in_words(trouble: Trouble) -> str:
    counts: list[str] = []
    if trouble.attempts:
        counts.append(f"{trouble.attempts} of {MAX_ATTEMPTS} attempts used up")
    if trouble.timeouts:
        counts.append(f"{trouble.timeouts} time-out{'' if trouble.timeouts == 1 else 's'} in a row")
    if trouble.unavailable_since_ms is not None:
        counts.append(f"its transcript was not there since {instant(trouble.unavailable_since_ms)}")
    if trouble.not_before_ms:
        counts.append(f"not tried again before {instant(trouble.not_before_ms)}")
    why = f": {trouble.message.rstrip('.')}" if trouble.message else ""
    counted = f" ({', '.join(counts)})" if counts else ""
    return f"It was set back{counted}{why}."
