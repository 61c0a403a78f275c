"""The log of what went wrong in hooks, which may neither print nor fail: one JSON line a problem, two files at most.

A line says when, which harness, for which root, and in our own words what; never what anybody wrote. It lies in
`~/.local/state/agent-memory/`, where it survives a root that is full or gone; where that cannot be written, in the
root's `.cache/`. Where neither can be, the problem is lost: a full disk must not hold an agent up.
Imports nothing but `time` and modules that import as little, since capture runs inside every turn of every agent.
"""

import time

from agent_memory.adapters.disk.durable import FILE_MODE, append_line, make_directories, make_room
from agent_memory.adapters.disk.json_lite import json_object
from agent_memory.adapters.disk.root import local_state_directory

FILE_NAME = "hook-log.jsonl"
PREVIOUS_NAME = "hook-log.previous.jsonl"
MAX_BYTES = 64 * 1024
"""Of each of the two files; the older one is dropped when the newer one is full."""
MAX_MESSAGE_CHARS = 500


def hook_log_directories(home: str | None, root: str | None) -> tuple[str, ...]:
    """Where the log may be, the preferred place first."""
    at_home = () if home is None else (local_state_directory(home),)
    return at_home if root is None else (*at_home, f"{root}/.cache")


def log_hook_problem(
    home: str | None, root: str | None, harness: str | None, code: str, message: str, act: str = ""
) -> None:
    """Append one line to the first log that takes it; `act` is what failed, where that is not to capture. Never raises an OSError, and never waits for a lock."""
    members = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "harness": harness,
        "act": act,
        "root": root,
        "code": code,
        "message": message[:MAX_MESSAGE_CHARS],
    }
    line = (json_object({key: value for key, value in members.items() if value}) + "\n").encode(
        "utf-8", "backslashreplace"
    )
    for directory in hook_log_directories(home, root):
        path = f"{directory}/{FILE_NAME}"
        try:
            make_directories(directory)
            make_room(path, f"{directory}/{PREVIOUS_NAME}", len(line), MAX_BYTES)
            append_line(path, line, FILE_MODE)
        except OSError:
            continue
        return
