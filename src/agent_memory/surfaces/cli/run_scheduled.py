"""`memory run-scheduled`: what a scheduler calls."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO

from returns.result import Failure

from agent_memory.adapters.scheduling.notices import Notice
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.scheduling import BUSY_CODE, NO_RUNS, InstalledSchedule, ScheduledRun, is_due
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import AgentMemoryError, HomeUnknown
from agent_memory.results import as_result
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
    job: str = arguments.job
    home = home_of(os.environ)
    if home is None:
        raise HomeUnknown()
    state = ScheduleState(home)
    _take_environment(
        state.installed()
    )  # unread, what it says of the root is not known, and it is not to be another one (P6)
    try:
        record = state.record(job)
    except AgentMemoryError:
        record = NO_RUNS
    started_ms = time.time_ns() // 1_000_000
    if arguments.every is not None and not is_due(record, started_ms, arguments.every):
        console.document({"job": job, "ran": False, "exitCode": 0})
        return 0
    state.turn_log(job)
    _try(console, lambda: state.put_run(job, ScheduledRun(started_ms)))
    console.err(f"== {iso_of(started_ms)} {job}")
    code, said = _called(job, console)
    ended = ScheduledRun(started_ms, time.time_ns() // 1_000_000, code, said if code else "")
    _try(console, lambda: state.put_run(job, ended))
    if code != BUSY_CODE:
        _try(console, lambda: state.put_notice(_notice(job, ended)))
    console.document({"job": job, "ran": True, "exitCode": code})
    return 0 if code == BUSY_CODE else code


def _take_environment(installed: InstalledSchedule | None) -> None:
    """A crontab's line is short: what the shell knew is in the receipt, and the low priority is taken here."""
    if installed is not None and installed.scheduler == "cron":
        os.environ.update(installed.environment)
        os.nice(_NICENESS)


def _called(job: str, console: Console) -> tuple[int, str]:
    """The exit code of the command, and the last line that it wrote to stderr."""
    from agent_memory.surfaces.cli.main import main

    heard = _Heard(console.stderr)
    with redirect_stderr(heard), redirect_stdout(console.stderr if console.json else console.stdout):
        code = main([job])
    return code, one_line(redact(heard.last_line.removeprefix("memory: ")).text, _MAX_MESSAGE_CHARS)


def _try(console: Console, act: Callable[[], None]) -> None:
    """Write something down; a disk that is full keeps no job from running."""
    done = as_result(act)()
    if isinstance(done, Failure):
        console.err(f"memory: {describe(done.failure())}")


def _notice(job: str, run: ScheduledRun) -> Notice | None:
    """What the next command and the next session are told of a failure; a success takes back what they were not told yet."""
    if not run.failed:
        return None
    failed = f"The scheduled {job} of {iso_of(run.started_at_ms)[:16].replace('T', ' ')} (UTC) failed"
    # Why may be in somebody else's words, of an agent command for one: no session is told those unasked (P19).
    return Notice(f"{failed}: {run.message or f'exit code {run.exit_code}'}", f"{failed}.")


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
