"""Whether git tracks a file, read from the index alone: no git process runs.

Follows https://git-scm.com/docs/index-format: the names of the tracked files stand in it as they are, each ended by a NUL;
in version 4 a name may lack the beginning that it shares with the one before it.
"""

from __future__ import annotations

import os

from agent_memory.adapters.surroundings.repository import git_directory_above

_MAX_INDEX_BYTES = 1 << 28
_VERSION = slice(4, 8)
_TAIL_BYTES = 14


def is_tracked(path: str) -> bool:
    """Whether a file is in the index of the repository around it. In doubt (version 4 of the index, another file whose name
    ends in the same way, an index that cannot be read: P6) it is. False where there is no repository, or no index."""
    real = os.path.realpath(path)
    try:
        found = git_directory_above(os.path.dirname(real))
    except OSError:
        return True
    if found is None:
        return False
    top_level, git_directory = found
    name = os.fsencode(os.path.relpath(real, top_level))
    try:
        with open(f"{git_directory}/index", "rb") as file:
            index = file.read(_MAX_INDEX_BYTES)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    shared = index[_VERSION] == b"\0\0\0\4"
    return (name[-_TAIL_BYTES:] if shared else name) + b"\0" in index
