"""Whether a session was heard of again after its last prompt: told by the names of inbox entries, and by what little is in
those of later date. Imports nothing but `os` and `time`, since a hook uses it."""

import os
import time

PLACES = ("inbox", "inbox/.processed", "inbox/.failed")
_MAX_BYTES = 1 << 18


def was_captured_since(root: str, harness: str, session_id: str, at_ms: int) -> bool:
    """Whether an entry of the session was captured at that time or later, whatever became of it since. OSError for a place that
    cannot be looked into: what was captured is not known then (P6)."""
    seconds, millis = divmod(at_ms, 1000)
    stamp = f"{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime(seconds))}.{millis:03d}Z"
    return any(
        name >= stamp and f"_{harness}_" in name and _names(f"{root}/{place}/{name}", session_id)
        for place in PLACES
        for name in _listed(f"{root}/{place}")
    )


def _listed(directory: str) -> list[str]:
    try:
        return [name for name in os.listdir(directory) if name.endswith(".json")]
    except FileNotFoundError:
        return []


def _names(path: str, session_id: str) -> bool:
    try:
        with open(path, "rb") as file:
            return f'"{session_id}"'.encode() in file.read(_MAX_BYTES)
    except FileNotFoundError:  # moved on meanwhile
        return False
