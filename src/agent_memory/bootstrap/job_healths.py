"""How the jobs of this machine do. Apart from what installs them, which takes longer to load than `memory status` has."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.scheduling.cadence import Cadence, cadence_of, next_due_ms
from agent_memory.domain.scheduling.job import Scheduler
from agent_memory.domain.scheduling.scheduled_run import InstalledSchedule, JobHealth, JobRecord
from agent_memory.errors import Error
from agent_memory.results import sealed

if TYPE_CHECKING:
    from agent_memory.app import Memory


def job_healths(memory: Memory) -> Result[tuple[InstalledSchedule | None, tuple[JobHealth, ...]], Error]:
    """The schedule of this machine, where it is one for this root, and how its jobs do. Jobs that another program has
    scheduled (a Nix module, a crontab of one's own) are known from their runs, and run as often as the config says."""
    home = home_of(memory.environ)
    if home is None:
        return Success((None, ()))
    state = ScheduleState(home)

    def healths(
        installed: InstalledSchedule | None,
    ) -> Result[tuple[InstalledSchedule | None, tuple[JobHealth, ...]], Error]:
        if installed is None:
            return _unreceipted(memory, state).map(lambda found: (None, found))
        if installed.root != memory.real_root:
            return Success((None, ()))
        found = [
            state.record(job.name).map(partial(_job_health, memory, job.name, job.interval_seconds, installed))
            for job in installed.jobs
        ]
        return _all(found).map(lambda jobs: (installed, jobs))

    return state.installed().bind(healths)


def _unreceipted(memory: Memory, state: ScheduleState) -> Result[tuple[JobHealth, ...], Error]:
    hours = {
        "consolidate": memory.config.schedule.consolidate_interval_hours,
        "defrag": memory.config.schedule.defrag_interval_hours,
    }
    found = [
        state.record(name).map(partial(_job_health, memory, name, round(each * 3600), None))
        for name, each in hours.items()
    ]
    return _all(found).map(lambda jobs: tuple(job for job in jobs if job.record.runs))


def _all(results: Iterable[Result[JobHealth, Error]]) -> Result[tuple[JobHealth, ...], Error]:
    healths: list[JobHealth] = []
    for result in results:
        match sealed(result):
            case Failure(error):
                return Failure(error)
            case Success(health):
                healths.append(health)
    return Success(tuple(healths))


def _job_health(
    memory: Memory, name: str, interval_seconds: int, installed: InstalledSchedule | None, record: JobRecord
) -> JobHealth:
    now_ms = memory.clock.now_ms()
    cadence = cadence_of(interval_seconds / 3600, name).value_or(Cadence(interval_seconds, 60))
    installed_at_ms = 0 if installed is None else installed.installed_at_ms
    last_ms = installed_at_ms if record.last is None else record.last.started_at_ms
    scheduler = None if installed is None else installed.scheduler
    tick = cadence.tick_seconds if scheduler in (Scheduler.SYSTEMD, Scheduler.CRON) else None
    next_ms = next_due_ms(cadence, last_ms, now_ms, tick, time.localtime(now_ms / 1000).tm_gmtoff)
    return JobHealth(name, scheduler, interval_seconds, record, installed_at_ms, next_ms)
