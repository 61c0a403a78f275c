"""What is known of one session: its captures, what runs made of them, and the notes that name it; and all of it in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.history import SessionMark
from agent_memory.domain.instants import iso_of
from agent_memory.domain.queue import MAX_ATTEMPTS, InboxEntry, Outcome, Trouble, session_id_of
from agent_memory.domain.run_log import short_id
from agent_memory.domain.text.plain_text import counted

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

    @property
    def outcome(self) -> Outcome | None:
        return self.entry.outcome

    @property
    def key(self) -> tuple[str, str]:
        """Harness and session id."""
        return self.entry.harness.value, session_id_of(self.entry) or ""


@frozen
class SeenByRun:
    """What one run made of the session."""

    run_id: str = field(metadata={"key": "run"})
    at_ms: int
    machine: str
    verdict: str
    reason: str
    entry_ids: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


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
    def retired(self) -> tuple[tuple[Place, Outcome], ...]:
        """Where those with an outcome are, and the outcome, the newest first."""
        done: list[tuple[Place, Outcome]] = [
            (each.place, each.outcome) for each in self.captures if each.outcome is not None
        ]
        return tuple(sorted(done, key=lambda each: -each[1].at_ms))

    @property
    def outcomes(self) -> tuple[Outcome | SeenByRun, ...]:
        """What became of it, by its captures and then by the runs, the newest of each first."""
        return (*(outcome for _, outcome in self.retired), *self.runs)

    @property
    def recorded_ids(self) -> frozenset[str]:
        """The notes that were recorded as made of it."""
        marked = () if self.mark is None else self.mark.entry_ids
        return frozenset((*marked, *(id for each in self.outcomes for id in each.entry_ids)))

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
            return "failed" if self.retired[0][0] == "given-up" else "processed"
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
    told = map(_outcome_in_words, [outcome for _, outcome in trace.retired] or trace.runs)
    facts += reversed(tuple(dict.fromkeys(told))[:_MOST_OUTCOMES])
    if (mark := trace.mark) is not None:
        when = f", of {instant(mark.last_at_ms)}" if mark.last_at_ms is not None else ""
        facts.append(f"It has been read up to turn {mark.turns_seen}{when}, by {mark.agent_name}.")
    facts += dict.fromkeys(_trouble_in_words(each.trouble) for each in trace.waiting if each.trouble is not None)
    if trace.deferred:
        named = ", ".join(trace.deferred)
        facts.append(f"What it changes of {named} waits for the next run: one run changes only so much.")
    return tuple(facts)


def _outcome_in_words(outcome: Outcome | SeenByRun) -> str:
    """`2026-02-13 14:30 UTC: nothing of it was kept: … (run 4dbfbe)`."""
    why = f": {outcome.reason.rstrip('.')}" if outcome.reason else ""
    what = _VERDICTS.get(outcome.verdict, outcome.verdict)
    return f"{instant(outcome.at_ms)}: {what}{why} (run {short_id(outcome.run_id)})"


def instant(at_ms: int) -> str:
    """`2026-02-13 14:30 UTC`."""
    return f"{iso_of(at_ms)[:16].replace('T', ' ')} UTC"


def dropped_of(trace: SessionTrace) -> tuple[str, ...]:
    """What of the agent's answers was not applied and why, each once, newest first."""
    return tuple(dict.fromkeys(words for each in trace.outcomes for words in each.dropped))


def _trouble_in_words(trouble: Trouble) -> str:
    counts: list[str] = []
    if trouble.attempts:
        counts.append(f"{trouble.attempts} of {MAX_ATTEMPTS} attempts used up")
    if trouble.timeouts:
        counts.append(f"{counted(trouble.timeouts, 'time-out')} in a row")
    if trouble.unavailable_since_ms is not None:
        counts.append(f"its transcript was not there since {instant(trouble.unavailable_since_ms)}")
    if trouble.not_before_ms:
        counts.append(f"not tried again before {instant(trouble.not_before_ms)}")
    why = f": {trouble.message.rstrip('.')}" if trouble.message else ""
    known = f" ({', '.join(counts)})" if counts else ""
    return f"It was set back{known}{why}."
