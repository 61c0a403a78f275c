"""How the jobs of this machine do. Apart from what installs them, which takes longer to load than `memory status` has."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.scheduling import Cadence, InstalledSchedule, JobHealth, cadence_of, next_due_ms
from agent_memory.errors import UsageInvalid
from agent_memory.results import as_result

if TYPE_CHECKING:
    from agent_memory.app import Memory


@as_result
def job_healths(memory: Memory) -> tuple[InstalledSchedule | None, tuple[JobHealth, ...]]:
    """The schedule of this machine, where it is one for this root, and how its jobs do. Jobs that another program has
    scheduled (a Nix module, a crontab of one's own) are known from their runs, and run as often as the config says."""
    home = home_of(memory.environ)
    if home is None:
        return None, ()
    state = ScheduleState(home)
    installed = state.installed()
    if installed is None:
        hours = interval_hours(memory)
        healths = [_job_health(memory, state, name, round(each * 3600), None) for name, each in hours.items()]
        return None, tuple(each for each in healths if each.record.runs)
    if installed.root != memory.real_root:
        return None, ()
    return installed, tuple(
        _job_health(memory, state, job.name, job.interval_seconds, installed) for job in installed.jobs
    )


def interval_hours(memory: Memory) -> dict[str, float]:
    """How often each job is to run, as the config says."""
    schedule = memory.config.schedule
    return {"consolidate": schedule.consolidate_interval_hours, "defrag": schedule.defrag_interval_hours}


def _job_health(
    memory: Memory, state: ScheduleState, name: str, interval_seconds: int, installed: InstalledSchedule | None
) -> JobHealth:
    record, now_ms = state.record(name), memory.clock.now_ms()
    try:
        cadence = cadence_of(interval_seconds / 3600, name)
    except UsageInvalid:
        cadence = Cadence(interval_seconds, 60)
    installed_at_ms = 0 if installed is None else installed.installed_at_ms
    last_ms = installed_at_ms if record.last is None else record.last.started_at_ms
    scheduler = None if installed is None else installed.scheduler
    tick = cadence.tick_seconds if scheduler in ("systemd", "cron") else None
    next_ms = next_due_ms(cadence, last_ms, now_ms, tick, time.localtime(now_ms / 1000).tm_gmtoff)
    return JobHealth(name, scheduler, interval_seconds, record, installed_at_ms, next_ms)
