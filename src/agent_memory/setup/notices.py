"""A failed scheduled run, told once: to the next command, and to the next session. Imports nothing but `os`."""

import os

from agent_memory.files.durable import read_loosely
from agent_memory.files.root import local_state_directory

COMMAND, SESSION = "command", "session"
_MAX_CHARS = 500


def schedule_directory(home: str) -> str:
    """Returns where this machine keeps what it knows of its schedule."""
    return f"{local_state_directory(home)}/schedule"


def take_notice(home: str, kind: str) -> str | None:
    """Returns the sentence that is waiting, which is then told no more; None in most cases, at the cost of one look-up. A
    notice that cannot be taken away is not told: it would be told for ever."""
    path = f"{schedule_directory(home)}/notice-{kind}"
    data = read_loosely(path, 4 * _MAX_CHARS)
    if not data:
        return None
    try:
        os.unlink(path)
    except OSError:
        return None
    return " ".join(data.decode("utf-8", "replace").split())[:_MAX_CHARS] or None
