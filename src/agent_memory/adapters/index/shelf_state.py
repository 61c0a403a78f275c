"""How the notes on both shelves look from outside: what tells whether an index is up to date, without opening a file."""

from __future__ import annotations

import os

from agent_memory.adapters.index.look_ahead import looked_ahead, shelf_paths, shelf_states


def shelf_state(root: str) -> bytes | None:
    """What tells one state of both shelves of a real root from another; None where something cannot be looked at."""
    try:
        return b"%d %d" % (looked_ahead(root) or shelf_states(root))
    except OSError:
        return None


def shelf_times(root: str) -> tuple[int, ...] | None:
    """When a name last came to each shelf or went from it, epoch ns, 0 for one that is not there: where it is another time
    than before, the shelves are no longer what they were. What is in files may change without. None where nobody can tell."""
    try:
        return tuple(_named_at_ns(path) for path in shelf_paths(root))
    except OSError:
        return None


def _named_at_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except FileNotFoundError:
        return 0
