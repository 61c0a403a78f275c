"""What memory keeps on disk, in a directory that goes when the process ends."""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from attrs import field, frozen

from agent_memory.capture.inbox_files import Inbox, parse_inbox_entry, troubles_of
from agent_memory.files.locks import Locks
from agent_memory.session.queue import InboxEntry, Trouble
from agent_memory.store.store_files import Store


@cache
def _room(pid: int) -> str:
    """The directory with all of them of this process. Were each removed when it is not needed any more, that could be in
    the midst of somebody else's failing disk."""
    directory = mkdtemp(prefix="agent-memory-test-")
    atexit.register(lambda: shutil.rmtree(directory, ignore_errors=True) if os.getpid() == pid else None)
    return directory


def temporary_root() -> Path:
    """A directory that nothing else uses."""
    return Path(mkdtemp(dir=_room(os.getpid())))


def temporary_locks() -> Locks:
    """Locks that nobody else takes."""
    home = temporary_root()
    return Locks(home, {"HOME": str(home)})


class TemporaryStore(Store):
    """`Store` in a directory of its own."""

    def __init__(self) -> None:
        self.root = temporary_root()
        super().__init__(self.root, temporary_locks())


@frozen
class TemporaryInbox(Inbox):
    """`Inbox` in a directory of its own, into which a test can look."""

    root: Path = field(factory=temporary_root)
    environ: Mapping[str, str] = field(factory=dict)

    @property
    def entries(self) -> dict[str, InboxEntry]:
        """What waits, by name."""
        paths = sorted((self.root / "inbox").glob("[!.]*.json"))
        return {path.name: parse_inbox_entry(path.read_text()).unwrap() for path in paths}

    @property
    def troubles(self) -> list[Trouble]:
        return [*troubles_of(str(self.root)).values()]
