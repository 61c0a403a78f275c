"""What `memory status` tells: what waits, what went wrong, what was spent."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.injecting.deliveries import Delivery
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.queue import Trouble
from agent_memory.domain.scheduling import JobHealth
from agent_memory.domain.text.plain_text import counted

_SEVERAL = 3
WEEK_MS = 7 * DAY_MS


@frozen
class HarnessDeliveries:
    """What one harness was given. `manual` is a person who called `memory inject`."""

    harness: str
    this_week: int
    """Deliveries of the last seven days."""
    tokens_this_week: int
    last_at_ms: int


def deliveries_by_harness(deliveries: Iterable[Delivery], now_ms: int) -> tuple[HarnessDeliveries, ...]:
    """Each harness that was ever given a note, as far back as the log goes, by name."""
    told = [each for each in deliveries if each.ids]
    found: list[HarnessDeliveries] = []
    for harness in sorted({each.harness for each in told}):
        own = [each for each in told if each.harness == harness]
        recent = [each.tokens for each in own if now_ms - each.at_ms < WEEK_MS]
        found.append(HarnessDeliveries(harness, len(recent), sum(recent), max(each.at_ms for each in own)))
    return tuple(found)


@frozen
class LastRun:
    """The newest run of a machine that left a report."""

    run_id: str
    ended_at_ms: int | None
    result: str
    """`completed`, `paused` or `failed`."""
    message: str
    """Why it paused or failed, in words; else empty."""
    sessions: int
    machine: str = "consolidate"
    summary: str = ""
    refused: tuple[str, ...] = ()
    """Why, of each session that it could not learn from."""


@frozen
class HookProblem:
    """A capture that did not arrive; hooks themselves stay silent."""

    at: str
    harness: str
    message: str
    act: str = ""


@frozen
class FailedEntry:
    """What is in `inbox/.failed/`."""

    name: str
    reason: str
    malformed: bool
    """It was never an entry; False for one that was given up, and can be tried again."""


@frozen
class Health:
    """The state of one store."""

    root: str
    entries: int
    archived: int
    unreadable: tuple[str, ...]
    pending: int
    oldest_pending_at_ms: int | None
    failed: tuple[FailedEntry, ...]
    troubles: tuple[tuple[str, Trouble], ...]
    """Sessions that were set back, by key."""
    last_run: LastRun | None
    hook_problems: tuple[HookProblem, ...]
    spent_today: DaySpend
    max_calls_per_day: int
    agent: str
    unrecorded: int
    warnings: tuple[str, ...] = ()
    earlier_runs: tuple[LastRun, ...] = ()
    """The newest run of each other machine: none of them makes good what another could not do."""
    last_captures: tuple[tuple[str, int], ...] = ()
    """Each harness that was ever captured, and when last, in epoch ms."""
    deliveries: tuple[HarnessDeliveries, ...] = ()
    now_ms: int = 0
    jobs: tuple[JobHealth, ...] = ()
    job_problems: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person should look at, one sentence each; empty when all is well."""
        found: list[str] = []
        if self.unreadable:
            found.append(f"{counted(len(self.unreadable), 'file')} in topics/ cannot be read: {self.unreadable[0]}")
        if given_up := sum(not each.malformed for each in self.failed):
            found.append(
                f"{counted(given_up, 'inbox entry', 'inbox entries')} given up; "
                "`memory consolidate --retry-failed` tries again"
            )
        if malformed := sum(each.malformed for each in self.failed):
            found.append(
                f"{counted(malformed, 'malformed inbox file')} in inbox/.failed/; correct or remove what is there"
            )
        if self.last_run is not None and self.last_run.result != "completed":
            found.append(f"the last run {self.last_run.result}: {self.last_run.message}")
        elif self.last_run is not None and len(self.last_run.refused) == self.last_run.sessions >= _SEVERAL:
            # It is no longer the fault of one session.
            found.append(
                f"the last run could learn from none of its {self.last_run.sessions} sessions; the last: "
                f"{self.last_run.refused[-1]}"
            )
        found += [
            f"the last {each.machine} {each.result}: {each.message}"
            for each in self.earlier_runs
            if each.result != "completed"
        ]
        for kind, injects in (("capture", False), ("injection", True)):
            missed = [each for each in self.hook_problems if (each.act == "inject") is injects]
            if missed:
                newest = missed[-1]
                found.append(
                    f"{counted(len(missed), kind)} did not arrive; the last, "
                    f"{'to' if injects else 'from'} {newest.harness or 'a hook'} at {newest.at}: {newest.message}"
                )
        if self.unrecorded:
            found.append(f"{counted(self.unrecorded, 'write')} not recorded by git yet; the next run records them")
        return (*found, *self.job_problems, *self.warnings)


@frozen
class ScopeUse:
    """A scope that notes have."""

    scope: str
    notes: int
    is_gone: bool = False
    """Nothing is where it was, or something else."""
    now: str | None = None
    """A repository of the same history that is there, where one is known."""
