"""Shared by commands that talk with a person: which memory is meant, ages, lists that are cut, and the question before
something is changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent_memory.app import Memory, open_memory
from agent_memory.capture.hook import current_directory
from agent_memory.cli.console import Console
from agent_memory.errors import EntryUnreadable, Error, UsageInvalid
from agent_memory.note.note import UnreadableFile
from agent_memory.results import unwrap
from agent_memory.text.instants import DAY_MS, HOUR_MS


def open_here(console: Console, *, for_status: bool = False) -> Memory:
    """Returns the memory of this environment. Its warnings are printed when the console is closed. Where memory stays out
    of the working directory, an agent sees no more than the status."""
    memory = unwrap(open_memory(os.environ, current_directory(), console.warn))
    if memory.caller.is_agent and not for_status:
        memory.require_on()
    memory.progress = console.progress
    console.closing.append(memory.close)
    return memory


# -- words ------------------------------------------------------------------------------------------------------------

_MINUTE_MS = 60_000
_UNITS = ((365 * DAY_MS, "y"), (30 * DAY_MS, "mo"), (DAY_MS, "d"), (HOUR_MS, "h"), (_MINUTE_MS, "min"))


def short_age(at_ms: int, now_ms: int) -> str:
    """Returns `3 d ago`, in the largest unit that fits; `just now` within a minute, and for times in the future."""
    return f"{_short(now_ms - at_ms)} ago" if now_ms - at_ms >= _MINUTE_MS else "just now"


def time_until(at_ms: int, now_ms: int) -> str:
    """Returns `in 55 min`; `now` within a minute, and for the past."""
    return f"in {_short(at_ms - now_ms)}" if at_ms - now_ms >= _MINUTE_MS else "now"


def _short(period_ms: int) -> str:
    return next(f"{period_ms // unit_ms} {name}" for unit_ms, name in _UNITS if period_ms >= unit_ms)


def first_of(texts: Sequence[str], most: int, where: str) -> list[str]:
    """Returns the first ones, and how many more there are; `where` says where all of them are."""
    rest = len(texts) - most
    return [*texts[:most], *([f"… and {rest} more ({where})"] if rest > 0 else [])]


def warn_unreadable(console: Console, files: Iterable[UnreadableFile]) -> None:
    """Warns of notes that are missing from the answer because they cannot be read (P6)."""
    console.warn(*(str(EntryUnreadable(each.path, each.problems)) for each in files))


# -- before something is changed --------------------------------------------------------------------------------------


def is_agreed(console: Console, question: str, otherwise: str = "Nothing was changed") -> bool:
    """Returns whether the person at the terminal says yes; UsageInvalid if there is nobody to ask."""
    if console.json or sys.stdin is None or not sys.stdin.isatty() or not console.stderr.isatty():
        raise UsageInvalid(
            f"{otherwise}, because there is no terminal to ask on", "Repeat the command with --yes if that is right."
        )
    print(f"{question} [y/N] ", end="", file=console.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def edited_by_hand(console: Console, name: str, before: bytes, hint: str) -> Generator[bytes, None, None]:
    """Yields the file's bytes as the person leaves them in their editor. What they typed is never thrown away: if the
    block cannot store it, the file stays. `hint` says what to do without an editor."""
    import shlex
    import shutil
    import subprocess
    import tempfile

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageInvalid(f"The editor {command!r} is not a command: {error}", hint) from None
    if not words:
        raise UsageInvalid("There is no editor to open it in, because EDITOR is not set", hint)
    directory = Path(tempfile.mkdtemp(prefix="agent-memory-"))
    path = directory / name
    path.write_bytes(before)
    try:
        status = subprocess.run([*words, str(path)], check=False).returncode
        ended = f"The editor ended with status {status}"
        problem = ended if status else None if path.is_file() else f"The editor left no file {path}"
    except OSError as error:
        problem = f"The editor {words[0]} could not be started: {error.strerror}"
    try:
        if problem is not None:
            raise UsageInvalid(problem, "Nothing was changed.")
        yield path.read_bytes()
    except Error:
        if path.is_file() and path.read_bytes() != before:
            console.warn(f"What you wrote is kept in {path}.")
        else:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    shutil.rmtree(directory, ignore_errors=True)
