"""The schedule: how often each job runs, what a scheduler needs to know of it, and what this machine remembers of its
runs, in `~/.local/state/agent-memory/schedule/` (0700, files 0600): `installed.json`, the receipt of `schedule on`;
`<job>.json`, its last runs; `<job>.log`, everything they printed; `notice-command` and `notice-session`, a failure of
which the next command, and the next session, is to be told."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from typing import Literal

from attrs import field, frozen

from agent_memory.capture.hook_files import COMMAND, SESSION, schedule_directory
from agent_memory.config import ScheduleConfig
from agent_memory.errors import StateCorrupt, UsageInvalid
from agent_memory.files.durable import make_room
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile, write_text
from agent_memory.text.json_codec import Format

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def interval_of(hours: float, key: str) -> int:
    """Returns the seconds of `hours`, the value of the config key `key`; UsageInvalid below a minute, the shortest
    period of a calendar."""
    interval = round(hours * HOUR)
    if interval < MINUTE:
        raise UsageInvalid(f"schedule.{key} is under a minute", "Schedulers count in minutes: set 0.02 or more.")
    return interval


def tick_of(interval_seconds: int) -> int:
    """Returns how often a calendar should tick for a job with this interval, in seconds: the longest period within the
    interval that a calendar can express (one that divides an hour or a day, or a day), if possible one that divides the
    interval evenly. If it is shorter than the interval, a tick at which the job is not due does nothing."""
    periods = [
        *(minutes * MINUTE for minutes in range(1, 60) if 60 % minutes == 0),
        *(hours * HOUR for hours in range(1, 24) if 24 % hours == 0),
        DAY,
    ]
    fitting = [period for period in periods if period <= interval_seconds]
    even = [period for period in fitting if interval_seconds % period == 0]
    return max(even, default=max(fitting, default=MINUTE))


def calendars(tick_seconds: int) -> tuple[str, str]:
    """Returns the tick for systemd's `OnCalendar`, and as the five fields of a crontab."""
    if tick_seconds == DAY:
        return "*-*-* 03:00:00", "0 3 * * *"
    hours, minutes = tick_seconds // HOUR, tick_seconds // MINUTE
    if hours:
        return ("*-*-* *:00:00", "0 * * * *") if hours == 1 else (f"*-*-* 00/{hours}:00:00", f"0 */{hours} * * *")
    return ("*-*-* *:*:00", "* * * * *") if minutes == 1 else (f"*-*-* *:00/{minutes}:00", f"*/{minutes} * * * *")


def next_due_ms(
    interval_seconds: int, last_ms: int, now_ms: int, tick_seconds: int | None, utc_offset_seconds: int
) -> int:
    """Estimates when the job runs next, in epoch ms, if it began last (or was installed) at `last_ms`: with a calendar,
    the next tick by the wall clock at which it is due; without ticks, an interval later, or now."""
    if tick_seconds is None:
        return max(now_ms, last_ms + interval_seconds * 1_000)
    is_exact = tick_seconds == interval_seconds
    from_ms = now_ms if is_exact else max(now_ms, last_ms + (interval_seconds - MINUTE) * 1_000)
    shift = utc_offset_seconds - (3 * HOUR if tick_seconds == DAY else 0)
    local = from_ms // 1_000 + shift
    return ((local // tick_seconds + 1) * tick_seconds - shift) * 1_000


def in_words(seconds: int) -> str:
    """Returns an interval in words: `2 h`, `1 day`, `90 min`."""
    for unit, one, many in ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min")):
        if seconds % unit == 0 and seconds >= unit:
            number = seconds // unit
            return f"{number} {one if number == 1 else many}"
    return f"{seconds} s"


# -- jobs --------------------------------------------------------------------------------------------------------------

Scheduler = Literal["launchd", "systemd", "cron"]
"""The program that starts the jobs."""


@frozen
class Job:
    """A command that runs by schedule."""

    name: str
    """The name of the command: `consolidate`."""
    interval_seconds: int

    @property
    def tick_seconds(self) -> int:
        return tick_of(self.interval_seconds)

    @property
    def is_exact(self) -> bool:
        """Returns whether a calendar can express its interval."""
        return self.tick_seconds == self.interval_seconds

    @property
    def label(self) -> str:
        """Returns its name among all jobs of a machine, for launchd."""
        return f"com.agent-memory.{self.name}"

    @property
    def unit(self) -> str:
        """Returns its name among the units of systemd, without an ending."""
        return f"agent-memory-{self.name}"


@frozen
class Place:
    """What a scheduled run needs from the shell that installed it. Paths are absolute."""

    home: str
    program: str
    environment: dict[str, str]
    """PATH, and AGENT_MEMORY_ROOT where the shell had set it."""
    log_directory: str

    def log_path(self, job: Job) -> str:
        """Returns the path of the log for everything it prints."""
        return f"{self.log_directory}/{job.name}.log"


def arguments_of(job: Job, *, ticks: bool) -> tuple[str, ...]:
    """Returns the arguments after the program's name. `ticks`: the scheduler has a calendar, and may call before the
    job is due."""
    every = ("--every", str(job.interval_seconds)) if ticks and not job.is_exact else ()
    return ("schedule", "run", job.name, *every)


# -- runs --------------------------------------------------------------------------------------------------------------

BUSY_CODE = 75


@frozen
class ScheduledRun:
    """One run. Instants are epoch ms."""

    started_at_ms: int
    ended_at_ms: int | None = None
    """None: at work, or killed."""
    exit_code: int | None = None
    message: str = ""
    """Its last line on stderr, if it failed."""

    @property
    def failed(self) -> bool:
        """Returns whether it failed; finding another run at work is not a failure."""
        return self.exit_code not in (None, 0, BUSY_CODE)


@frozen
class JobRecord:
    """The runs of one job on this machine, oldest first, and how often it has failed since the last success."""

    runs: tuple[ScheduledRun, ...]
    failures: int

    @property
    def last(self) -> ScheduledRun | None:
        return self.runs[-1] if self.runs else None


NO_RUNS = JobRecord((), 0)


@frozen
class InstalledSchedule:
    """The receipt of `schedule on`."""

    scheduler: Scheduler
    program: str
    root: str
    environment: dict[str, str]
    installed_at_ms: int
    jobs: tuple[Job, ...]
    files: dict[str, str] = field(factory=dict[str, str])
    """Path and SHA-256 of each file as we wrote it."""


@frozen
class JobHealth:
    """One job, as `memory status` shows it."""

    name: str
    scheduler: Scheduler | None
    """None: somebody else has scheduled it."""
    interval_seconds: int
    record: JobRecord
    installed_at_ms: int
    next_at_ms: int
    """Approximately: a scheduler adds a delay of its own."""

    def problem(self, now_ms: int) -> str | None:
        """Returns what a person should look at."""
        last = self.record.last
        if last is not None and last.failed:
            times = "" if self.record.failures < 2 else f" ({self.record.failures} times in a row)"
            return f"the scheduled {self.name} failed{times}: {last.message or f'exit code {last.exit_code}'}"
        since_ms = self.installed_at_ms if last is None else max(last.started_at_ms, self.installed_at_ms)
        # After three intervals without a run something is wrong.
        if now_ms - since_ms > 3 * self.interval_seconds * 1_000:
            seconds = (now_ms - since_ms) // 1_000
            unit = DAY if seconds >= 2 * DAY else HOUR if seconds >= 2 * HOUR else MINUTE
            mended_by = "" if self.scheduler is None else "; `memory schedule on` sets the schedule up again"
            return (
                f"{self.name} should run every {in_words(self.interval_seconds)}, and has not for "
                f"{in_words(max(unit, seconds // unit * unit))}{mended_by}"
            )
        return None


def recorded(record: JobRecord, run: ScheduledRun, keep: int) -> JobRecord:
    """Returns the record with a run that begins or, if it is the one that began last, ends; at most the last `keep`
    runs."""
    began = record.last is not None and record.last.started_at_ms == run.started_at_ms
    runs = (*(record.runs[:-1] if began else record.runs), run)[-keep:]
    if run.ended_at_ms is None or run.exit_code == BUSY_CODE:
        return JobRecord(runs, record.failures)
    return JobRecord(runs, record.failures + 1 if run.failed else 0)


def is_due(record: JobRecord, now_ms: int, interval_seconds: int) -> bool:
    """Returns whether the interval has passed since the last run began. A tick is never exact, so a minute early is due
    as well; a clock that was set back makes it due."""
    last = record.last
    if last is None or last.started_at_ms > now_ms:
        return True
    return now_ms - last.started_at_ms >= (interval_seconds - 60) * 1_000


# -- what this machine remembers --------------------------------------------------------------------------------------

INSTALLED, RECORD = Format(InstalledSchedule), Format(JobRecord)
MAX_LOG_BYTES = 1 << 20


class ScheduleState:
    """The schedule of the person with this home."""

    def __init__(self, home: str) -> None:
        self.directory = schedule_directory(home)
        self.receipt = JsonFile(self.directory, "installed.json", INSTALLED)
        """What is installed. A damaged file is an error, never empty (P6)."""

    def locked(self) -> AbstractContextManager[None]:
        """Lets one process at a time change what is here; Busy if another does so for seconds. The lock dies with its
        holder."""
        return file_lock(f"{self.directory}.lock", 5.0)

    def record(self, job: str) -> JobRecord:
        return self._record(job).read() or NO_RUNS

    def put_run(self, job: str, run: ScheduledRun) -> None:
        """Records that a run began or ended. Earlier records are dropped if they cannot be parsed: they are for
        information, and must not keep a job from running. Records that cannot be read just now are not overwritten
        (P6)."""
        with self.locked():
            try:
                before = self.record(job)
            except StateCorrupt:
                before = NO_RUNS
            self._record(job).write(recorded(before, run, 50))

    def put_notice(self, notice: tuple[str, str] | None) -> None:
        """Keeps what the next command and the next session should be told (the session in our own words only: it is
        injected unasked, P19), or nothing any more."""
        for kind, sentence in zip((COMMAND, SESSION), notice or (None, None), strict=True):
            if sentence is not None:
                write_text(self.directory, f"notice-{kind}", sentence)
            else:
                with suppress(OSError):
                    os.unlink(f"{self.directory}/notice-{kind}")

    def clear(self, jobs: Iterable[str]) -> None:
        """Forgets what is installed and the runs of these jobs: they would be taken for runs that somebody else schedules,
        and be missed."""
        self.put_notice(None)
        for job in jobs:
            self._record(job).remove()
        self.receipt.remove()

    def turn_log(self, job: str) -> None:
        """Begins a new log if this one has grown too large; the previous one stays."""
        path = f"{self.directory}/{job}.log"
        with suppress(OSError):  # a log that cannot be rotated keeps growing
            make_room(path, f"{path}.1", 0, MAX_LOG_BYTES)

    def _record(self, job: str) -> JsonFile[JobRecord]:
        return JsonFile(self.directory, f"{job}.json", RECORD)


def interval_hours(schedule: ScheduleConfig) -> dict[str, float]:
    """Returns how often each job should run, by the config."""
    return {"consolidate": schedule.consolidate_interval_hours, "defrag": schedule.defrag_interval_hours}


def job_healths(
    home: str, schedule: ScheduleConfig, real_root: str, now_ms: int
) -> tuple[InstalledSchedule | None, tuple[JobHealth, ...]]:
    """Returns the schedule of this machine, if it has one for this root, and the state of its jobs. Jobs that another
    program has scheduled (a Nix module, a crontab of one's own) are known from their runs, and are assumed to run as
    often as the config says."""
    state = ScheduleState(home)
    installed = state.receipt.read()
    if installed is not None and installed.root != real_root:
        return None, ()
    hours = interval_hours(schedule)
    jobs = [Job(name, round(hours[name] * HOUR)) for name in hours] if installed is None else installed.jobs
    scheduler, since_ms = (None, 0) if installed is None else (installed.scheduler, installed.installed_at_ms)
    healths: list[JobHealth] = []
    for job in jobs:
        record, seconds = state.record(job.name), job.interval_seconds
        if installed is not None or record.runs:
            last_ms = since_ms if record.last is None else record.last.started_at_ms
            tick = tick_of(seconds) if scheduler in ("systemd", "cron") else None
            next_ms = next_due_ms(seconds, last_ms, now_ms, tick, time.localtime(now_ms / 1000).tm_gmtoff)
            healths.append(JobHealth(job.name, scheduler, seconds, record, since_ms, next_ms))
    return installed, tuple(healths)
