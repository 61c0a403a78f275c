"""The parts of one store that every act shares, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from returns.result import Result, Success

from agent_memory.adapters.disk.paths import real_root
from agent_memory.adapters.surroundings.config_files import Effective
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.adapters.surroundings.system_clock import SystemClock
from agent_memory.config import Config
from agent_memory.domain.command.presets import BUILTIN
from agent_memory.domain.note_draft import Caller
from agent_memory.errors import Error

if TYPE_CHECKING:
    from pathlib import Path

    from agent_memory.adapters.database.note_index import NoteIndex
    from agent_memory.adapters.disk.locks import KernelLocks
    from agent_memory.adapters.forgetting.tombstone_files import TombstoneFiles
    from agent_memory.adapters.git.git_process import GitProcess
    from agent_memory.adapters.git.git_recorder import GitRecorder
    from agent_memory.adapters.git.owing_recorder import OwingRecorder
    from agent_memory.adapters.harness import Surroundings
    from agent_memory.adapters.inbox.inbox_files import InboxFiles
    from agent_memory.adapters.records.defrag_records_files import DefragRecordsFiles
    from agent_memory.adapters.records.kept_histories_files import KeptHistoriesFiles
    from agent_memory.adapters.records.run_log_files import RunLogFiles
    from agent_memory.adapters.records.run_records_files import RunRecordsFiles
    from agent_memory.adapters.records.session_marks_files import SessionMarksFiles
    from agent_memory.adapters.records.spend_ledger_files import SpendLedgerFiles
    from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
    from agent_memory.adapters.store.store_files import StoreFiles
    from agent_memory.adapters.surroundings.places_files import PlacesFiles
    from agent_memory.adapters.targets.target_files import TargetFiles
    from agent_memory.known_notes import KnownNotes
    from agent_memory.ports import Agent, Embedder
    from agent_memory.reading import Reading

# What only some commands need is imported where it is made: `memory capture` and `memory list` run all day long.

Warn = Callable[[str], None]


class Parts:
    """What one environment and one config make of the adapters. Nothing is created on disk until something is written."""

    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: str | None,
        effective: Effective,
        warn: Warn,
        caller: Caller | None = None,
    ) -> None:
        self.environ = environ
        self.cwd = cwd
        self.effective = effective
        self.warn = warn
        self._caller = caller
        self.real_root = real_root(effective.config.storage.root or "")
        self.clock = SystemClock()

    @cached_property
    def root(self) -> Path:
        """`real_root` for whoever builds paths on it: to load `pathlib` is a twentieth of a search."""
        from pathlib import Path

        return Path(self.real_root)

    @property
    def config(self) -> Config:
        return self.effective.config

    @cached_property
    def locks(self) -> KernelLocks:
        from agent_memory.adapters.disk.locks import KernelLocks

        return KernelLocks(self.real_root, self.environ)

    @property
    def caller(self) -> Caller:
        """Who is calling: whoever was named, else by the variables of the environment."""
        if self._caller is not None:
            return self._caller
        from agent_memory.adapters.agent.agent_environment import agent_sign, inside_harness

        inside = inside_harness(self.environ)
        if inside is not None:
            variable, harness = inside
            return Caller(harness, variable)
        return Caller(variable=agent_sign(self.environ))

    @cached_property
    def places(self) -> PlacesFiles:
        from agent_memory.adapters.surroundings.places_files import PlacesFiles

        return PlacesFiles(self.environ)

    @cached_property
    def inbox(self) -> InboxFiles:
        from agent_memory.adapters.inbox.inbox_files import InboxFiles

        return InboxFiles(self.root, self.environ)

    @cached_property
    def store(self) -> StoreFiles:
        from agent_memory.adapters.store.store_files import StoreFiles

        return StoreFiles(self.real_root, self.locks)

    @cached_property
    def index(self) -> NoteIndex:
        from agent_memory.adapters.database.note_index import NoteIndex

        return NoteIndex(self.store.database, self.store.files)

    @cached_property
    def targets(self) -> TargetFiles:
        from agent_memory.adapters.targets.target_files import TargetFiles

        return TargetFiles(home_of(self.environ), self.real_root)

    @property
    def reading(self) -> Reading:
        """For what only looks at entries."""
        from agent_memory.reading import Reading

        return Reading(self.store, self.ledger, self.clock, self.caller)

    @cached_property
    def embedder(self) -> Result[Embedder, str]:
        """What gives texts their vectors of meaning; where it is not installed or damaged, a sentence that says so."""
        from agent_memory.adapters.embedding.static_vectors import open_static_vectors

        return open_static_vectors(home_of(self.environ)).map(lambda embedder: embedder)

    @cached_property
    def known(self) -> KnownNotes:
        """What finds notes about the same subject before another is written."""
        from agent_memory.known_notes import KnownNotes

        return KnownNotes(self.store, self.index, self.embedder.value_or(None))

    @cached_property
    def ledger(self) -> UsageLedgerFiles:
        from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles

        return UsageLedgerFiles(self.real_root)

    @cached_property
    def spend(self) -> SpendLedgerFiles:
        from agent_memory.adapters.records.spend_ledger_files import SpendLedgerFiles

        return SpendLedgerFiles(self.root, self.locks)

    @cached_property
    def log(self) -> RunLogFiles:
        from agent_memory.adapters.records.run_log_files import RunLogFiles

        return RunLogFiles(self.root)

    @cached_property
    def marks(self) -> SessionMarksFiles:
        from agent_memory.adapters.records.session_marks_files import SessionMarksFiles

        return SessionMarksFiles(self.root)

    @cached_property
    def run_records(self) -> RunRecordsFiles:
        from agent_memory.adapters.records.run_records_files import RunRecordsFiles

        return RunRecordsFiles(self.root, self.clock)

    @cached_property
    def defrag_records(self) -> DefragRecordsFiles:
        from agent_memory.adapters.records.defrag_records_files import DefragRecordsFiles

        return DefragRecordsFiles(self.root, self.clock)

    @cached_property
    def kept_histories(self) -> KeptHistoriesFiles:
        from agent_memory.adapters.records.kept_histories_files import KeptHistoriesFiles

        return KeptHistoriesFiles(self.root, self.config.storage.history_cap_mib << 20)

    @cached_property
    def tombstones(self) -> TombstoneFiles:
        from agent_memory.adapters.forgetting.tombstone_files import TombstoneFiles

        return TombstoneFiles(self.root)

    @cached_property
    def git_recorder(self) -> GitRecorder:
        from agent_memory.adapters.git.git_recorder import GitRecorder

        return GitRecorder(self.root, self.config.storage, self.environ, self.clock)

    @cached_property
    def recorder(self) -> OwingRecorder:
        from agent_memory.adapters.git.owing_recorder import OwingRecorder

        return OwingRecorder(self.git_recorder, self.root, self.locks)

    def warnings(self) -> tuple[str, ...]:
        """What the person should know of what was done through this object, one sentence each."""
        return self.git_recorder.warnings() if "git_recorder" in self.__dict__ else ()

    @cached_property
    def git_process(self) -> GitProcess:
        from agent_memory.adapters.git.git_process import GitProcess

        return GitProcess(self.root, self.environ)

    def agent(self) -> Result[Agent, Error]:
        """The configured agent command, or the built-in."""
        llm = self.config.llm
        if llm.command is None and llm.preset == BUILTIN:
            from agent_memory.adapters.agent.builtin_agent import BuiltinAgent

            return Success(BuiltinAgent())
        from agent_memory.adapters.agent.agent_command import open_agent

        return open_agent(llm, self.spend, self.clock, self.environ).map(lambda agent: agent)

    def surroundings(self, project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple) -> Surroundings:
        """What histories and finders of sessions are built from."""
        import time

        from agent_memory.adapters.harness import Surroundings

        roots = self.config.capture.transcript_roots
        return Surroundings(self.environ, home_of(self.environ), self.root, time.sleep, roots, project_directories)

    def new_run_id(self, now_ms: int) -> str:
        """An id for a run that begins now; ids sort as the runs began."""
        import secrets

        from agent_memory.domain.instants import iso_of

        return f"{iso_of(now_ms).replace(':', '-')}_{secrets.token_hex(3)}"
