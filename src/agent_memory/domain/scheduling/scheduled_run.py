"""What is known of the runs that a scheduler started."""

from __future__ import annotations

from attrs import field, frozen

from agent_memory.domain.scheduling.cadence import in_words
from agent_memory.domain.scheduling.job import Scheduler

MISSED = 3
"""After so many intervals without a run something is wrong."""
BUSY_CODE = 75


@frozen
class ScheduledRun:
    """One run. Instants are epoch ms."""

    started_at_ms: int
    ended_at_ms: int | None = None
    """None: at work, or ended by force."""
    exit_code: int | None = None
    message: str = ""
    """What it said last on stderr, where it failed."""

    @property
    def failed(self) -> bool:
        """Another run at work is no failure."""
        return self.exit_code not in (None, 0, BUSY_CODE)


@frozen
class JobRecord:
    """The runs of one job on this machine, oldest first, and how often it has failed since one went well."""

    runs: tuple[ScheduledRun, ...] = field(default=())
    failures: int = 0

    @property
    def last(self) -> ScheduledRun | None:
        return self.runs[-1] if self.runs else None


@frozen
class InstalledJob:
    """What `install-cron` has installed."""

    name: str
    interval_seconds: int


@frozen
class InstalledSchedule:
    """The receipt of `install-cron`."""

    scheduler: Scheduler
    program: str
    root: str
    environment: tuple[tuple[str, str], ...]
    installed_at_ms: int
    jobs: tuple[InstalledJob, ...]
    files: tuple[tuple[str, str], ...] = ()
    """Path and SHA-256 of each file as we wrote it."""


@frozen
class JobHealth:
    """One job, as `memory status` tells of it."""

    name: str
    scheduler: Scheduler | None
    """None: somebody else has scheduled it."""
    interval_seconds: int
    record: JobRecord
    installed_at_ms: int
    next_at_ms: int
    """About: a scheduler adds a delay of its own."""

    def problem(self, now_ms: int) -> str | None:
        """What a person should look at."""
        last = self.record.last
        if last is not None and last.failed:
            times = "" if self.record.failures < 2 else f" ({self.record.failures} times in a row)"
            return f"the scheduled {self.name} failed{times}: {last.message or f'exit code {last.exit_code}'}"
        since_ms = self.installed_at_ms if last is None else max(last.started_at_ms, self.installed_at_ms)
        if now_ms - since_ms > MISSED * self.interval_seconds * 1_000:
            return (
                f"{self.name} should run every {in_words(self.interval_seconds)}, and has not for "
                f"{in_words(_rounded((now_ms - since_ms) // 1_000))}{self._mended_by}"
            )
        return None

    @property
    def _mended_by(self) -> str:
        return "" if self.scheduler is None else "; `memory install-cron` sets the schedule up again"


def recorded(record: JobRecord, run: ScheduledRun, keep: int) -> JobRecord:
    """The record with a run that begins or, where it is the one that began last, ends; of all runs the last `keep`."""
    began = record.last is not None and record.last.started_at_ms == run.started_at_ms
    runs = (*(record.runs[:-1] if began else record.runs), run)[-keep:]
    if run.ended_at_ms is None or run.exit_code == BUSY_CODE:
        return JobRecord(runs, record.failures)
    return JobRecord(runs, record.failures + 1 if run.failed else 0)


def is_due(record: JobRecord, now_ms: int, interval_seconds: int) -> bool:
    """Whether the interval has passed since the last run began. A tick is never exact, so a minute early is due as well; a
    clock that was set back makes it due."""
    last = record.last
    if last is None or last.started_at_ms > now_ms:
        return True
    return now_ms - last.started_at_ms >= (interval_seconds - 60) * 1_000


def _rounded(seconds: int) -> int:
    unit = 86_400 if seconds >= 2 * 86_400 else 3_600 if seconds >= 2 * 3_600 else 60
    return max(unit, seconds // unit * unit)
