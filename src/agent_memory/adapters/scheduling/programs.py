"""Calls of a scheduler's own program: no shell, a limit of time, nothing of its output lost in an error."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, SchedulerFailed
from agent_memory.values import frozen

_LIMIT_SECONDS = 30.0
_MAX_REASON_CHARS = 300


@frozen
class Programs:
    """The programs of this environment's PATH, on behalf of one scheduler."""

    scheduler: str
    environ: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether there is such a program."""
        return shutil.which(name, path=self.environ.get("PATH")) is not None

    def run(self, argv: Sequence[str], data: bytes = b"") -> Result[bytes, Error]:
        """What it printed. SchedulerFailed when it is not there, takes too long, or says that it failed."""
        program = shutil.which(argv[0], path=self.environ.get("PATH"))
        if program is None:
            return self._failure(f"there is no {argv[0]} on PATH", "Install it, or choose another with --system.")
        try:
            done = subprocess.run(
                [program, *argv[1:]],
                input=data,
                capture_output=True,
                timeout=_LIMIT_SECONDS,
                env=dict(self.environ),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return self._failure(f"`{' '.join(argv)}` did not end within {_LIMIT_SECONDS:.0f} s", "Try again.")
        except OSError as error:
            return self._failure(f"`{argv[0]}` cannot be run ({error.strerror})", "Check the program.")
        if done.returncode != 0:
            said = one_line((done.stderr or done.stdout).decode("utf-8", "replace").strip(), _MAX_REASON_CHARS)
            return self._failure(
                f"`{' '.join(argv)}` ended with {done.returncode}{f' ({said})' if said else ''}",
                "Mend that, then run the command again.",
            )
        return Success(done.stdout)

    def _failure(self, reason: str, hint: str) -> Failure[Error]:
        return Failure(SchedulerFailed(self.scheduler, reason, hint))
