"""What this machine remembers of its schedule, in `~/.local/state/agent-memory/schedule/`: 0700, files 0600.

installed.json        the receipt of `install-cron`
<job>.json            its last runs
<job>.log             all that they printed
notice-command, notice-session   a failure that the next command, and the next session, is to be told of
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import make_directories, replace_file
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.locks import file_lock
from agent_memory.adapters.disk.paths import read_file
from agent_memory.adapters.scheduling.notices import COMMAND, SESSION, Notice, notice_path, schedule_directory
from agent_memory.domain.scheduling.scheduled_run import InstalledSchedule, JobRecord, ScheduledRun, recorded
from agent_memory.errors import Error, StoreIo
from agent_memory.formats.schedule_json import parse_installed, parse_record, render_installed, render_record
from agent_memory.results import sealed

RUNS_KEPT = 50
MAX_LOG_BYTES = 1 << 20
_MAX_STATE_BYTES = 1 << 20
_LOCK_SECONDS = 5.0
_T = TypeVar("_T")


class ScheduleState:
    """The schedule of the person with this home."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.directory = schedule_directory(home)
        self._receipt_path = f"{self.directory}/installed.json"

    def locked(self) -> AbstractContextManager[Result[None, Error]]:
        """One at a time changes what is here; Busy where another does for seconds. The lock dies with its holder."""
        return file_lock(f"{self.directory}.lock", _LOCK_SECONDS)

    def installed(self) -> Result[InstalledSchedule | None, Error]:
        """The receipt; None where nothing is installed. A damaged one is an error, never nothing (P6)."""
        return self._read(self._receipt_path, parse_installed, None)

    def put_installed(self, installed: InstalledSchedule | None) -> Result[None, Error]:
        """Replace the receipt, durably; None removes it."""
        if installed is not None:
            return self._write(self._receipt_path, render_installed(installed))
        try:
            with suppress(FileNotFoundError):
                os.unlink(self._receipt_path)
        except OSError as error:
            return Failure(store_io(error, "remove", self._receipt_path))
        return Success(None)

    def record(self, job: str) -> Result[JobRecord, Error]:
        """The runs of a job."""
        return self._read(self._record_path(job), parse_record, JobRecord())

    def put_run(self, job: str, run: ScheduledRun) -> Result[JobRecord, Error]:
        """Write down that a run began or ended. What was recorded before is left out where it cannot be understood: it is
        for information, and must not keep a job from running. What cannot be read just now is not written over (P6)."""
        with self.locked() as held:
            if isinstance(held, Failure):
                return held
            before = self.record(job).lash(_unless_unread)
            return before.map(lambda known: recorded(known, run, RUNS_KEPT)).bind(
                lambda record: self._write(self._record_path(job), render_record(record)).map(lambda _: record)
            )

    def put_notice(self, notice: Notice | None) -> Result[None, Error]:
        """What the next command and the next session are to be told, or nothing any more."""
        told = {COMMAND: None, SESSION: None} if notice is None else {COMMAND: notice.command, SESSION: notice.session}
        for kind, sentence in told.items():
            path = notice_path(self.home, kind)
            if sentence is not None:
                written = self._write(path, sentence.encode())
                if isinstance(written, Failure):
                    return written
            else:
                with suppress(OSError):
                    os.unlink(path)
        return Success(None)

    def turn_log(self, path: str) -> None:
        """Begin a new log where this one has grown too large; the one before it stays."""
        with suppress(OSError):  # a log that cannot be turned grows on
            if os.stat(path).st_size > MAX_LOG_BYTES:
                os.replace(path, f"{path}.1")

    def make_directory(self) -> Result[None, Error]:
        """A scheduler opens the log before we run, and makes no directory for it."""
        try:
            make_directories(self.directory)
        except OSError as error:
            return Failure(store_io(error, "make", self.directory))
        return Success(None)

    def _record_path(self, job: str) -> str:
        return f"{self.directory}/{job}.json"

    def _read(self, path: str, parse: Callable[[bytes, str], Result[_T, Error]], nothing: _T) -> Result[_T, Error]:
        match sealed(read_file(path, _MAX_STATE_BYTES)):
            case Failure(error):
                return Failure(error)
            case Success(image):
                return Success(nothing) if image is None else parse(image.data, path)

    def _write(self, path: str, data: bytes) -> Result[None, Error]:
        try:
            make_directories(self.directory)
            replace_file(path, data)
        except OSError as error:
            return Failure(store_io(error, "write", path))
        return Success(None)


def _unless_unread(error: Error) -> Result[JobRecord, Error]:
    return Failure(error) if isinstance(error, StoreIo) else Success(JobRecord())
