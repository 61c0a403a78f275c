"""What this machine remembers of its schedule, in `~/.local/state/agent-memory/schedule/`: 0700, files 0600.

installed.json        the receipt of `schedule on`
<job>.json            its last runs
<job>.log             all that they printed
notice-command, notice-session   a failure that the next command, and the next session, is to be told of
"""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, suppress

from agent_memory.config import ScheduleConfig
from agent_memory.errors import StateCorrupt
from agent_memory.files.durable import make_room
from agent_memory.files.locks import file_lock
from agent_memory.files.paths import JsonFile, write_text
from agent_memory.setup.notices import COMMAND, SESSION, schedule_directory
from agent_memory.setup.schedule import (
    NO_RUNS,
    InstalledSchedule,
    JobHealth,
    JobRecord,
    ScheduledRun,
    next_due_ms,
    recorded,
    tick_of,
)
from agent_memory.text.json_codec import Format

INSTALLED, RECORD = Format(InstalledSchedule), Format(JobRecord)

RUNS_KEPT = 50
MAX_LOG_BYTES = 1 << 20
_LOCK_SECONDS = 5.0


class ScheduleState:
    """The schedule of the person with this home."""

    def __init__(self, home: str) -> None:
        self.directory = schedule_directory(home)
        self.receipt = JsonFile(self.directory, "installed.json", INSTALLED)
        """What is installed. A damaged one is an error, never nothing (P6)."""

    def locked(self) -> AbstractContextManager[None]:
        """One at a time changes what is here; Busy where another does for seconds. The lock dies with its holder."""
        return file_lock(f"{self.directory}.lock", _LOCK_SECONDS)

    def record(self, job: str) -> JobRecord:
        """The runs of a job."""
        return self._record(job).read() or NO_RUNS

    def put_run(self, job: str, run: ScheduledRun) -> None:
        """Write down that a run began or ended. What was recorded before is left out where it cannot be understood: it is
        for information, and must not keep a job from running. What cannot be read just now is not written over (P6)."""
        with self.locked():
            try:
                before = self.record(job)
            except StateCorrupt:
                before = NO_RUNS
            self._record(job).write(recorded(before, run, RUNS_KEPT))

    def put_notice(self, notice: tuple[str, str] | None) -> None:
        """What the next command and the next session are to be told (the second in our own words alone: it is injected unasked,
        P19), or nothing any more."""
        for kind, sentence in zip((COMMAND, SESSION), notice or (None, None), strict=True):
            if sentence is not None:
                write_text(self.directory, f"notice-{kind}", sentence)
            else:
                with suppress(OSError):
                    os.unlink(f"{self.directory}/notice-{kind}")

    def turn_log(self, job: str) -> None:
        """Begin a new log where this one has grown too large; the one before it stays."""
        path = f"{self.directory}/{job}.log"
        with suppress(OSError):  # a log that cannot be turned grows on
            make_room(path, f"{path}.1", 0, MAX_LOG_BYTES)

    def _record(self, job: str) -> JsonFile[JobRecord]:
        return JsonFile(self.directory, f"{job}.json", RECORD)


def interval_hours(schedule: ScheduleConfig) -> dict[str, float]:
    """How often each job is to run, as the config says."""
    return {"consolidate": schedule.consolidate_interval_hours, "defrag": schedule.defrag_interval_hours}


def job_healths(
    home: str | None, schedule: ScheduleConfig, real_root: str, now_ms: int
) -> tuple[InstalledSchedule | None, tuple[JobHealth, ...]]:
    """The schedule of this machine, where it is one for this root, and how its jobs do. Jobs that another program has
    scheduled (a Nix module, a crontab of one's own) are known from their runs, and run as often as the config says."""
    if home is None:
        return None, ()
    state = ScheduleState(home)
    installed = state.receipt.read()
    if installed is not None and installed.root != real_root:
        return None, ()
    if installed is None:
        jobs = {name: round(hours * 3600) for name, hours in interval_hours(schedule).items()}
    else:
        jobs = {job.name: job.interval_seconds for job in installed.jobs}
    scheduler, installed_at_ms = (None, 0) if installed is None else (installed.scheduler, installed.installed_at_ms)
    healths: list[JobHealth] = []
    for name, seconds in jobs.items():
        record = state.record(name)
        if installed is None and not record.runs:
            continue
        last_ms = installed_at_ms if record.last is None else record.last.started_at_ms
        tick = tick_of(seconds) if scheduler in ("systemd", "cron") else None
        next_ms = next_due_ms(seconds, last_ms, now_ms, tick, time.localtime(now_ms / 1000).tm_gmtoff)
        healths.append(JobHealth(name, scheduler, seconds, record, installed_at_ms, next_ms))
    return installed, tuple(healths)
