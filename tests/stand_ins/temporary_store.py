"""The notes in a directory that goes with the store, for tests of what stands on a store."""

from __future__ import annotations

import atexit
import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from agent_memory.store.store_files import Store
from stand_ins.dict_locks import DictLocks


@cache
def _room(pid: int) -> str:
    """The directory with the stores of this process. It goes when the process ends: were each removed when its store is not
    needed any more, that could be in the midst of somebody else's failing disk."""
    directory = mkdtemp(prefix="agent-memory-test-")
    atexit.register(lambda: shutil.rmtree(directory, ignore_errors=True) if os.getpid() == pid else None)
    return directory


def temporary_root() -> Path:
    """A directory that nothing else uses."""
    return Path(mkdtemp(dir=_room(os.getpid())))


class TemporaryStore(Store):
    """`Store` in a directory of its own."""

    def __init__(self) -> None:
        self.root = temporary_root()
        super().__init__(self.root, DictLocks())
