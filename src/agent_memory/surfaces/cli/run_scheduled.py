"""`memory run-scheduled`: what a scheduler calls."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO

from returns.result import Failure, Success

from agent_memory.adapters.scheduling.notices import Notice
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.scheduling.job import Scheduler
from agent_memory.domain.scheduling.scheduled_run import BUSY_CODE, InstalledSchedule, JobRecord, ScheduledRun, is_due
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import HomeUnknown
from agent_memory.results import sealed
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe

JOBS = ("consolidate", "defrag")
_MAX_MESSAGE_CHARS = 300
_NICENESS = 10
"""As the other schedulers are told in plists/jobs.json."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", choices=JOBS, metavar="JOB", help="consolidate or defrag")
    parser.add_argument(
        "--every", type=int, metavar="SECONDS", help="do nothing unless so long has passed since the last run began"
    )
    parser.epilog = (
        "What `memory install-cron` lets a scheduler call: runs the command, writes down how it ended for `memory status`, "
        "and lets the next command and the next session know of a failure. Exit code: that of the command, but 0 where "
        "another run was at work. Example: memory run-scheduled consolidate"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    home = home_of(os.environ)
    if home is None:
        return console.fail(HomeUnknown())
    state = ScheduleState(home)
    match sealed(state.installed()):
        case Success(installed):
            _take_environment(installed)
        case Failure(unread):
            return console.fail(unread)  # what it says of the root is not known, and it is not to be another one (P6)
    record = state.record(arguments.job).value_or(JobRecord())
    started_ms = time.time_ns() // 1_000_000
    if arguments.every is not None and not is_due(record, started_ms, arguments.every):
        console.document({"job": arguments.job, "ran": False, "exitCode": 0})
        return 0
    state.turn_log(f"{state.directory}/{arguments.job}.log")
    _note(console, state, arguments.job, ScheduledRun(started_ms))
    console.err(f"== {iso_of(started_ms)} {arguments.job}")
    code, said = _called(arguments.job, console)
    ended = ScheduledRun(started_ms, time.time_ns() // 1_000_000, code, said if code else "")
    _note(console, state, arguments.job, ended)
    _tell_later(console, state, arguments.job, ended)
    console.document({"job": arguments.job, "ran": True, "exitCode": code})
    return 0 if code == BUSY_CODE else code


def _take_environment(installed: InstalledSchedule | None) -> None:
    """A crontab's line is short: what the shell knew is in the receipt, and the low priority is taken here."""
    if installed is not None and installed.scheduler is Scheduler.CRON:
        os.environ.update(installed.environment)
        os.nice(_NICENESS)


def _called(job: str, console: Console) -> tuple[int, str]:
    """The exit code of the command, and the last line that it wrote to stderr."""
    from agent_memory.surfaces.cli.main import main

    heard = _Heard(console.stderr)
    with redirect_stderr(heard), redirect_stdout(console.stderr if console.json else console.stdout):
        code = main([job])
    return code, one_line(redact(heard.last_line.removeprefix("memory: ")).text, _MAX_MESSAGE_CHARS)


def _note(console: Console, state: ScheduleState, job: str, run: ScheduledRun) -> None:
    """Write it down; a disk that is full keeps no job from running."""
    noted = state.put_run(job, run)
    if isinstance(noted, Failure):
        console.err(f"memory: {describe(noted.failure())}")


def _tell_later(console: Console, state: ScheduleState, job: str, run: ScheduledRun) -> None:
    """A failure is told to the next command and the next session; a success takes back what they were not told yet."""
    if run.exit_code == BUSY_CODE:
        return
    told = None
    if run.failed:
        failed = f"The scheduled {job} of {iso_of(run.started_at_ms)[:16].replace('T', ' ')} (UTC) failed"
        # Why may be in somebody else's words, of an agent command for one: no session is told those unasked (P19).
        told = Notice(f"{failed}: {run.message or f'exit code {run.exit_code}'}", f"{failed}.")
    match sealed(state.put_notice(told)):
        case Failure(error):
            console.err(f"memory: {describe(error)}")
        case Success(_):
            return


class _Heard(io.TextIOBase):
    """A stream that passes everything on, and remembers the last line with something in it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._line = ""
        self.last_line = ""

    @property
    def encoding(self) -> str:  # type: ignore[override] # the stub has an attribute
        return self._stream.encoding or sys.getdefaultencoding()

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self.last_line = line.strip() or self.last_line
        self._line = self._line[-10 * _MAX_MESSAGE_CHARS :]
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True
