"""Everything that is known of one session: its captures, what runs made of them, and the entries that name it."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.history import SessionMark
from agent_memory.domain.queue import Outcome, Trouble
from agent_memory.domain.run_log import LoggedSession, Machine
from agent_memory.domain.vocabulary import Harness

Place = Literal["waiting", "processed", "given-up"]
SessionState = Literal["pending", "processed", "failed", "never-captured"]


@frozen
class Capture:
    """One inbox entry that named the session."""

    harness: Harness
    session_id: str
    place: Place
    name: str
    at_ms: int
    cwd: str | None = None
    repo: str | None = None
    trouble: Trouble | None = None
    """Of one that waits."""
    outcome: Outcome | None = None
    """Of one that was taken out of the inbox."""


@frozen
class SeenByRun:
    """What one run made of the session."""

    run_id: str
    at_ms: int
    machine: Machine
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
    def cwd(self) -> str | None:
        """Where it took place, by its newest capture that says so, else by its entries."""
        said = (each.cwd for each in self.captures if each.cwd)
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
    """Old inbox files that were not looked into."""
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each: there may be more to tell."""
