"""How `memory status` comes to know what waits and what went wrong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result

from agent_memory.adapters.injecting.delivery_files import DeliveryLog
from agent_memory.adapters.records.health_files import HealthFiles
from agent_memory.domain.health import Health
from agent_memory.domain.injecting.delivery_report import deliveries_by_harness
from agent_memory.domain.scheduling.scheduled_run import InstalledSchedule, JobHealth
from agent_memory.errors import Error
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def health(memory: Memory) -> Result[Health, Error]:
    """As `Memory.health` has it."""
    configured = memory.agent()
    name = configured.map(lambda agent: agent.name).value_or("not usable")
    warnings = (describe(configured.failure()),) if isinstance(configured, Failure) else ()
    read = HealthFiles(
        memory.root,
        memory.environ,
        memory.inbox,
        memory.store,
        memory.spend,
        memory.clock,
        name,
        memory.config.llm.max_calls_per_day,
    ).read(warnings)
    return read.map(lambda health: _with_deliveries(memory, health)).bind(lambda health: _with_jobs(memory, health))


def _with_deliveries(memory: Memory, health: Health) -> Health:
    now_ms = memory.clock.now_ms()
    deliveries = deliveries_by_harness(DeliveryLog(memory.real_root).deliveries(), now_ms)
    return evolve(health, deliveries=deliveries, now_ms=now_ms)


def _with_jobs(memory: Memory, health: Health) -> Result[Health, Error]:
    """With what this machine runs by itself. A job that fails since an executable is gone says so nowhere else."""
    from agent_memory.bootstrap.job_healths import job_healths

    def told(found: tuple[InstalledSchedule | None, tuple[JobHealth, ...]]) -> Health:
        installed, jobs = found
        problems = [job.problem(memory.clock.now_ms()) for job in jobs]
        if installed is not None and not os.access(installed.program, os.X_OK):
            problems.insert(
                0, f"{installed.program}, which the schedule calls, is gone: `memory install-cron` mends it"
            )
        return evolve(health, jobs=jobs, job_problems=tuple(each for each in problems if each is not None))

    return job_healths(memory).map(told)
