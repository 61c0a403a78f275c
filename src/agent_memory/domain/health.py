"""What `memory status` tells: what waits, what went wrong, what was spent."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.agent_request import DaySpend
from agent_memory.domain.injecting.moment import Delivery
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.queue import Trouble
from agent_memory.domain.run_log import LoggedRun
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
class HookProblem:
    """A capture or an injection that did not arrive; hooks themselves stay silent."""

    at: str
    harness: str
    act: str
    """`capture` or `inject`."""
    message: str


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
    last_runs: tuple[LoggedRun, ...]
    """The newest run of each machine, newest first: none of them makes good what another could not do."""
    hook_problems: tuple[HookProblem, ...]
    spent_today: DaySpend
    unrecorded: int
    last_captures: tuple[tuple[str, int], ...] = ()
    """Each harness that was ever captured, and when last, in epoch ms."""
    warnings: tuple[str, ...] = ()
    now_ms: int = 0
    max_calls_per_day: int = 0
    agent: str = ""
    deliveries: tuple[HarnessDeliveries, ...] = ()
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
        for last in self.last_runs:
            refused = [each.reason for each in last.sessions if each.verdict == "refused"]
            what = "last run" if last is self.last_runs[0] else f"last {last.machine}"
            if last.result != "completed":
                found.append(f"the {what} {last.result}: {last.error}")
            elif len(refused) == len(last.sessions) >= _SEVERAL:  # it is no longer the fault of one session
                found.append(
                    f"the {what} could learn from none of its {len(refused)} sessions; the last: {refused[-1]}"
                )
        for kind, injects in (("capture", False), ("injection", True)):
            if missed := [each for each in self.hook_problems if (each.act == "inject") is injects]:
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
