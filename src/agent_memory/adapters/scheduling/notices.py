"""A failed scheduled run, told once: to the next command, and to the next session. Imports nothing but `os`."""

import os

from agent_memory.adapters.disk.durable import close_quietly
from agent_memory.adapters.surroundings.root import local_state_directory

COMMAND, SESSION = "command", "session"
_MAX_CHARS = 500


class Notice:
    """One failure, as a person at a terminal is told it, and as an agent is."""

    __slots__ = ("command", "session")

    def __init__(self, command: str, session: str) -> None:
        self.command = command
        self.session = session
        """In our own words alone: it is injected unasked (P19)."""


def schedule_directory(home: str) -> str:
    """Where this machine keeps what it knows of its schedule."""
    return f"{local_state_directory(home)}/schedule"


def notice_path(home: str, kind: str) -> str:
    """The file of the notice for COMMAND or SESSION."""
    return f"{schedule_directory(home)}/notice-{kind}"


def take_notice(home: str, kind: str) -> str | None:
    """The sentence that is waiting, which is then told no more; None in most cases, at the cost of one look-up. A notice that
    cannot be taken away is not told: it would be told for ever."""
    path = notice_path(home, kind)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 4 * _MAX_CHARS).decode("utf-8", "replace")
        os.unlink(path)
    except OSError:
        return None
    finally:
        close_quietly(descriptor)
    return " ".join(text.split())[:_MAX_CHARS] or None
