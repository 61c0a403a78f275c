"""A job, and the schedule that holds both."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

from agent_memory.domain.scheduling.cadence import Cadence

RUN_SCHEDULED = "run-scheduled"
"""The command that a scheduler calls."""


class Scheduler(StrEnum):
    """Who starts the jobs."""

    LAUNCHD = "launchd"
    SYSTEMD = "systemd"
    CRON = "cron"


@frozen
class Job:
    """A command that is to run by itself."""

    name: str
    """That of the command: `consolidate`."""
    description: str
    cadence: Cadence

    @property
    def label(self) -> str:
        """Its name among all jobs of a machine, as launchd has it."""
        return f"com.agent-memory.{self.name}"

    @property
    def unit(self) -> str:
        """Its name among the units of systemd, without an ending."""
        return f"agent-memory-{self.name}"


@frozen
class Place:
    """What a scheduled run needs of the shell that installed it. Paths are absolute."""

    home: str
    program: str
    """The `memory` that is called."""
    environment: tuple[tuple[str, str], ...]
    """PATH, and AGENT_MEMORY_ROOT where the shell had set it."""
    log_directory: str

    def log_path(self, job: Job) -> str:
        """Where all that it prints goes."""
        return f"{self.log_directory}/{job.name}.log"


@frozen
class ScheduleFile:
    """A file of ours in a scheduler's directory."""

    path: str
    data: bytes


@frozen
class Schedule:
    """Everything that makes the jobs run, and that takes them away again. `start` and `stop` are commands in order; a command
    of `stop` may fail, since what it stops may be gone."""

    scheduler: Scheduler
    files: tuple[ScheduleFile, ...] = ()
    cron_lines: tuple[str, ...] = ()
    stop: tuple[tuple[str, ...], ...] = field(default=())
    start: tuple[tuple[str, ...], ...] = field(default=())
    notes: tuple[str, ...] = ()
    """Whole sentences for the person."""


def arguments_of(job: Job, *, ticks: bool) -> tuple[str, ...]:
    """What stands behind the program's name. `ticks`: the scheduler has a calendar, and may call before the job is due."""
    every = ("--every", str(job.cadence.interval_seconds)) if ticks and not job.cadence.is_exact else ()
    return (RUN_SCHEDULED, job.name, *every)
