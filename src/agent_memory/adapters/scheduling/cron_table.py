"""The person's crontab, through the program `crontab` alone: only it may write there."""

from __future__ import annotations

import re

from returns.result import Failure, Result, Success

from agent_memory.adapters.scheduling.programs import Programs
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, SchedulerFailed
from agent_memory.values import frozen

NAME = "your crontab"
_NONE_YET = re.compile(r"\bno crontab for\b", re.IGNORECASE)


@frozen
class CronTable:
    """Read as a whole, replaced as a whole."""

    programs: Programs

    def read(self) -> Result[bytes, Error]:
        """Its bytes; empty where there is none yet, which the program calls a failure."""
        match sealed(self.programs.run(("crontab", "-l"))):
            case Success(data):
                return Success(data)
            case Failure(SchedulerFailed(_, reason, _)) if _NONE_YET.search(reason):
                return Success(b"")
            case Failure(error):
                return Failure(error)

    def write(self, data: bytes) -> Result[None, Error]:
        """Replace it; without anything left in it, take it away."""
        argv = ("crontab", "-") if data.strip() else ("crontab", "-r")
        return self.programs.run(argv, data if data.strip() else b"").map(lambda _: None)
