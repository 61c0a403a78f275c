"""A store in a home of a test, with a doctor and a repairer over it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from attrs import define, evolve, field, frozen
from returns.result import Result, Success

from agent_memory.app import Memory, SystemClock
from agent_memory.caller import Caller
from agent_memory.care.checks import DoctorReport
from agent_memory.care.repairer import Repair
from agent_memory.config import Config
from agent_memory.errors import Error
from agent_memory.files.durable import make_directories
from agent_memory.files.locks import Locks
from agent_memory.git.git_history import GitRecorder
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.change import Change, Published
from agent_memory.setup.config_files import Effective
from agent_memory.store.store_files import Store
from agent_memory.text.ids import mint_id

_LOCK = "import os, sys; os.lockf(os.open(sys.argv[1], os.O_WRONLY), os.F_LOCK, 0); print(flush=True); sys.stdin.read()"


@contextmanager
def locked_by_another_process(path: Path) -> Iterator[None]:
    """While another process holds a file as it does one that it writes."""
    words = [sys.executable, "-c", _LOCK, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield
        process.communicate()


@frozen
class Repaired:
    did: tuple[str, ...]
    failed: tuple[str, ...]
    after: DoctorReport


@define(slots=False)
class Patient:
    """The store, and what may be done to it."""

    root: Path
    config: Config = field(factory=Config)
    planned: Result[Published, Error] = Success(Published())
    """What a dry run of publishing says."""

    @cached_property
    def locks(self) -> Locks:
        return Locks(self.root, os.environ)

    @cached_property
    def store(self) -> Store:
        return Store(self.root, self.locks)

    @property
    def memory(self) -> Memory:
        config = evolve(self.config, storage=evolve(self.config.storage, root=str(self.root)))
        memory = Memory(os.environ, "/", Effective(config, {}), print, Caller())
        acts = {"publish": lambda **_: self.planned, "finish_runs": lambda: None}
        vars(memory).update(locks=self.locks, store=self.store, **acts)
        return memory

    @property
    def recorder(self) -> GitRecorder:
        return self.memory.recorder

    def examine(self) -> DoctorReport:
        return self.memory.doctor().examine()

    def codes(self) -> list[str]:
        return [each.code for each in self.examine().findings]

    def repair(self) -> Repaired:
        repair, after = self.repairer().unwrap()
        return Repaired(tuple(repair.did), tuple(repair.failed), after)

    def repairer(self) -> Result[tuple[Repair, DoctorReport], Error]:
        return self.memory.repair()

    # -- what is in it ------------------------------------------------------------------------------------------------

    def note(self, title: str, body: str = "", **meta: object) -> str:
        """The id of a new note, recorded in git."""
        now = SystemClock().now_ms()
        whole = Meta(mint_id(title, now, ()), title, now, now, **meta)  # type: ignore[arg-type]
        receipt = self.store.apply([Change.of(MemoryEntry(whole, body or f"About {title}."))]).unwrap()
        self.recorder.record([receipt.applied[0].path], f"remember: {title}").unwrap()
        return whole.id

    def by_hand(self, path: str, text: str) -> Path:
        """What a person or another program writes."""
        file = self.root / path
        make_directories(str(file.parent))
        file.write_bytes(text.encode())
        file.chmod(0o600)
        return file

    def path_of(self, id: str) -> Path:
        return self.root / self.store.read(id).unwrap().listed.path

    def texts(self) -> list[str]:
        """The body of every live and archived file, sorted."""
        return sorted(path.read_text() for tree in ("topics", "archive") for path in (self.root / tree).rglob("*.md"))
