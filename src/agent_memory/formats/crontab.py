"""Our lines in a person's crontab, between two marks; every other byte stays."""

from __future__ import annotations

import shlex

from returns.result import Failure, Result, Success

from agent_memory.domain.scheduling.cadence import cron_times
from agent_memory.domain.scheduling.job import Job, Place, arguments_of

START = b"# agent-memory: start (`memory uninstall-cron` takes these lines out)"
END = b"# agent-memory: end"
_START_WORDS = b"# agent-memory: start"


def cron_line(job: Job, place: Place) -> str:
    """The line of a job. A `%` would end it: cron takes the backslash before it away."""
    words = [place.program, *arguments_of(job, ticks=True)]
    command = f"{shlex.join(words)} >> {shlex.quote(place.log_path(job))} 2>&1"
    return f"{cron_times(job.cadence.tick_seconds)} {command}".replace("%", "\\%")


def with_lines(crontab: bytes, lines: tuple[str, ...]) -> Result[bytes, str]:
    """The crontab with these lines between our marks, in the place where they were before; without any, without the marks.
    A Failure says what is wrong with the marks that are there."""
    found = _marks(crontab)
    if isinstance(found, Failure):
        return found
    span = found.unwrap()
    ours = b"" if not lines else START + b"\n" + "".join(f"{line}\n" for line in lines).encode() + END + b"\n"
    if span is not None:
        return Success(crontab[: span[0]] + ours + crontab[span[1] :])
    between = b"" if crontab.endswith(b"\n") or not crontab or not ours else b"\n"
    return Success(crontab + between + ours)


def _marks(crontab: bytes) -> Result[tuple[int, int] | None, str]:
    """From the beginning of our first line to the end of our last; None where there is none."""
    starts, ends, at = list[int](), list[int](), 0
    for line in crontab.splitlines(keepends=True):
        if line.startswith(_START_WORDS):
            starts.append(at)
        elif line.strip() == END:
            ends.append(at + len(line))
        at += len(line)
    if not starts and not ends:
        return Success(None)
    if len(starts) != 1 or len(ends) != 1 or starts[0] >= ends[0]:
        return Failure(
            "the lines `# agent-memory: start` and `# agent-memory: end` do not stand once each, in this order"
        )
    return Success((starts[0], ends[0]))
