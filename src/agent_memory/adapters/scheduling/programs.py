"""Calls of a scheduler's own program: no shell, a limit of time, nothing of its output lost in an error."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, SchedulerFailed
from agent_memory.results import sealed

_LIMIT_SECONDS = 30.0
_MAX_REASON_CHARS = 300
_NOT_HERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG))
"""What says that a directory of PATH has no such program for us, as to a shell."""
_AGAIN = "Mend that, then run the command again."


@frozen
class Programs:
    """The programs of this environment's PATH, on behalf of one scheduler."""

    scheduler: str
    environ: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether there is such a program, as far as can be seen: where it cannot, `run` says why."""
        return self._path_of(name) != Success(None)

    def run(self, argv: Sequence[str], data: bytes = b"") -> Result[bytes, Error]:
        """What it printed. SchedulerFailed when it is not there, takes too long, or says that it failed."""
        match sealed(self._path_of(argv[0])):
            case Failure(error):
                return Failure(error)
            case Success(None):
                return self._failure(f"there is no {argv[0]} on PATH", "Install it, or choose another with --system.")
            case Success(program):
                return self._ran(str(program), argv, data)

    def _path_of(self, name: str) -> Result[str | None, Error]:
        """The first on PATH; None where there is none. Where that cannot be seen it is an error, and never the next one's
        turn (P6): a table that one program gave would be written back through another."""
        for directory in self.environ.get("PATH", os.defpath).split(os.pathsep):
            path = f"{directory or os.curdir}/{name}"
            try:
                mode = os.stat(path).st_mode
            except OSError as error:
                if error.errno in _NOT_HERE:
                    continue
                return self._failure(f"{path} cannot be looked at ({error.strerror})", _AGAIN)
            if stat.S_ISREG(mode) and os.access(path, os.X_OK):
                return Success(path)
        return Success(None)

    def _ran(self, program: str, argv: Sequence[str], data: bytes) -> Result[bytes, Error]:
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
                _AGAIN,
            )
        return Success(done.stdout)

    def _failure(self, reason: str, hint: str) -> Failure[Error]:
        return Failure(SchedulerFailed(self.scheduler, reason, hint))
