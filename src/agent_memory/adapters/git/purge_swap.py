"""One repository takes the other's place: the only moment of a purge at which there is no `.git`.

`runs/purge/new.git` is the rewritten one, whole and verified; `runs/purge/old.git` is what was there. As long as both are
there the exchange is half done, and whoever comes next to `.git` finishes it.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent_memory.adapters.disk.durable import fsync_directory
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.surroundings.root import is_directory

PURGE = "runs/purge"
_NEW = f"{PURGE}/new.git"
_OLD = f"{PURGE}/old.git"


def new_repository(root: Path) -> Path:
    """Where the rewritten repository is made."""
    return root / _NEW


def old_repository(root: Path) -> Path:
    """Where the old one is kept until the new one is in its place."""
    return root / _OLD


def swap(root: Path) -> None:
    """Put the new repository in the place of the old one, durably. Raises OSError."""
    os.rename(root / ".git", root / _OLD)
    fsync_directory(str(root / PURGE))
    fsync_directory(str(root))
    finish_swap(root)


def finish_swap(root: Path) -> bool:
    """Whether an exchange that a crash interrupted was finished. Raises OSError."""
    if lies_there(str(root / ".git")) or not (is_directory(str(root / _OLD)) and is_directory(str(root / _NEW))):
        return False
    os.rename(root / _NEW, root / ".git")
    fsync_directory(str(root))
    fsync_directory(str(root / PURGE))
    return True
