"""One store with everything that acts on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import agent_sign, inside_harness
from agent_memory.adapters.disk.locks import KernelLocks
from agent_memory.adapters.disk.paths import real_root
from agent_memory.adapters.surroundings.config_files import DEFAULT, Effective, load_config
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.adapters.surroundings.system_clock import SystemClock
from agent_memory.config import Config
from agent_memory.domain.command.presets import BUILTIN
from agent_memory.domain.note_draft import Caller
from agent_memory.errors import ActRefused, Error, HomeUnknown, UsageInvalid
from agent_memory.wording import describe

if TYPE_CHECKING:
    from threading import Event

    from agent_memory.adapters.checkup.examiner import Examiner
    from agent_memory.adapters.forgetting.forgetter import Forgetter
    from agent_memory.adapters.forgetting.forgetting_look import Found
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
    from agent_memory.adapters.setup.installation import Installation
    from agent_memory.adapters.store.store_files import StoreFiles
    from agent_memory.adapters.surroundings.places_files import PlacesFiles
    from agent_memory.adapters.targets.target_files import TargetFiles
    from agent_memory.domain.backfill import Backfill
    from agent_memory.domain.checkup.examination import Examination, Treatment
    from agent_memory.domain.checkup.secret_search import SecretSearch
    from agent_memory.domain.defrag_run import DefragRun
    from agent_memory.domain.entry import Listing
    from agent_memory.domain.explaining.entry_story import EntryStory
    from agent_memory.domain.explaining.session_trace import FoundSessions
    from agent_memory.domain.footprint import Footprint
    from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
    from agent_memory.domain.forgetting.sources import SessionKey
    from agent_memory.domain.found_session import FoundSession
    from agent_memory.domain.health import Health
    from agent_memory.domain.history import History
    from agent_memory.domain.run import Run
    from agent_memory.domain.run_log import LoggedRun
    from agent_memory.domain.section import Published, RenderedSection
    from agent_memory.domain.undo_run import Undone
    from agent_memory.domain.vocabulary import Harness
    from agent_memory.domain.watching import Rest
    from agent_memory.formats.footprint_diff import DiffPart
    from agent_memory.pipelines.backfill_io import BackfillIo
    from agent_memory.pipelines.consolidate_io import ConsolidateIo
    from agent_memory.pipelines.defrag_io import DefragIo
    from agent_memory.pipelines.handing_over import HandingOverIo, Kept, Taken
    from agent_memory.pipelines.undo_io import UndoIo
    from agent_memory.pipelines.upgrading import Upgrades
    from agent_memory.pipelines.watch import Watching
    from agent_memory.ports import Agent
    from agent_memory.publishing import KeepSections, Publisher
    from agent_memory.reading import Reading
    from agent_memory.service import MemoryService

# What only some commands need is imported where it is made: `memory capture` and `memory list` run all day long.

Warn = Callable[[str], None]


def open_memory(environ: Mapping[str, str], cwd: Path | None, warn: Warn) -> Result[Memory, Error]:
    """The memory that this environment names. Nothing is created or changed until something is written."""

    def opened(effective: Effective) -> Memory:
        for warning in effective.warnings:
            warn(warning)
        return Memory(environ, None if cwd is None else str(cwd), effective, warn)

    return load_config(environ, None if cwd is None else str(cwd)).map(opened)


class Memory:
    """One store with everything that acts on it; the parts are made when they are first asked for."""

    def __init__(self, environ: Mapping[str, str], cwd: str | None, effective: Effective, warn: Warn) -> None:
        self.environ = environ
        self.cwd = cwd
        self.effective = effective
        self._warn = warn
        self.root = Path(real_root(Path(effective.config.storage.root or "")))
        self.clock = SystemClock()
        self.locks = KernelLocks(self.root, environ)

    @property
    def config(self) -> Config:
        return self.effective.config

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

        return StoreFiles(self.root, self.locks)

    @cached_property
    def spend(self) -> SpendLedgerFiles:
        from agent_memory.adapters.records.spend_ledger_files import SpendLedgerFiles

        return SpendLedgerFiles(self.root, self.locks)

    @cached_property
    def _git(self) -> GitRecorder:
        from agent_memory.adapters.git.git_recorder import GitRecorder

        return GitRecorder(self.root, self.config.storage, self.environ, self.clock)

    @cached_property
    def recorder(self) -> OwingRecorder:
        from agent_memory.adapters.git.owing_recorder import OwingRecorder

        return OwingRecorder(self._git, self.root, self.locks)

    def warnings(self) -> tuple[str, ...]:
        """What the person should know of what was done through this object, one sentence each."""
        return self._git.warnings() if "_git" in self.__dict__ else ()

    @property
    def caller(self) -> Caller:
        """Who is calling, by the variables of the environment."""
        inside = inside_harness(self.environ)
        if inside is not None:
            variable, harness = inside
            return Caller(harness, variable)
        return Caller(variable=agent_sign(self.environ))

    @cached_property
    def ledger(self) -> UsageLedgerFiles:
        from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles

        return UsageLedgerFiles(self.root)

    @cached_property
    def log(self) -> RunLogFiles:
        from agent_memory.adapters.records.run_log_files import RunLogFiles

        return RunLogFiles(self.root)

    @cached_property
    def _marks(self) -> SessionMarksFiles:
        from agent_memory.adapters.records.session_marks_files import SessionMarksFiles

        return SessionMarksFiles(self.root)

    @cached_property
    def _run_records(self) -> RunRecordsFiles:
        from agent_memory.adapters.records.run_records_files import RunRecordsFiles

        return RunRecordsFiles(self.root, self.clock)

    @cached_property
    def _defrag_records(self) -> DefragRecordsFiles:
        from agent_memory.adapters.records.defrag_records_files import DefragRecordsFiles

        return DefragRecordsFiles(self.root, self.clock)

    @cached_property
    def _git_process(self) -> GitProcess:
        from agent_memory.adapters.git.git_process import GitProcess

        return GitProcess(self.root, self.environ)

    @cached_property
    def tombstones(self) -> TombstoneFiles:
        from agent_memory.adapters.forgetting.tombstone_files import TombstoneFiles

        return TombstoneFiles(self.root)

    @property
    def reading(self) -> Reading:
        """For what only looks at entries."""
        from agent_memory.reading import Reading

        return Reading(self.store, self.ledger, self.clock, self.caller)

    @cached_property
    def service(self) -> MemoryService:
        """For what changes entries."""
        from agent_memory.service import MemoryService

        return MemoryService(
            self.store, self.ledger, self.recorder, self.clock, self.caller, self._warn, self.locks, self.publish
        )

    @cached_property
    def targets(self) -> TargetFiles:
        from agent_memory.adapters.targets.target_files import TargetFiles

        return TargetFiles(home_of(self.environ), str(self.root))

    @cached_property
    def publisher(self) -> Publisher:
        from agent_memory.adapters.targets.chosen_targets import told_path
        from agent_memory.domain.section import SectionBudget
        from agent_memory.publishing import Publisher

        agents_md = self.config.agents_md
        budget = SectionBudget(agents_md.hot_chars, agents_md.warm_lines)
        return Publisher(self.store, self.targets, told_path(str(self.root), home_of(self.environ)), budget)

    def publish(
        self, paths: Sequence[str] | None = None, *, dry_run: bool = False, keep: KeepSections | None = None
    ) -> Result[Published, Error]:
        """Bring the managed section of every configured target up to date, or of these files. `keep` is told how sections
        are about to change. A configured path is absolute or below `~`; another counts from the working directory."""
        from agent_memory.adapters.targets.chosen_targets import chosen_targets, expanded
        from agent_memory.publishing import kept_nowhere

        home = home_of(self.environ)
        named = self.config.agents_md.targets if paths is None else paths
        full = [expanded(path, home, None if paths is None else self.cwd) for path in named]
        return self.publisher.publish(chosen_targets(full, home, self.places), keep or kept_nowhere, dry_run=dry_run)

    def section_here(self) -> Result[RenderedSection, Error]:
        """The section that a file in the working directory would hold."""
        from agent_memory.adapters.surroundings.repository import work_tree_above
        from agent_memory.domain.section import Target
        from agent_memory.domain.vocabulary import GLOBAL_SCOPE

        in_repository = self.cwd is not None and work_tree_above(self.cwd) is not None
        return self.publisher.render(Target("-", frozenset({GLOBAL_SCOPE, self.scope_here()}), in_repository))

    def installation(self) -> Result[Installation, Error]:
        """For `memory setup` and `memory uninstall`."""
        from agent_memory.adapters.setup.detection import memory_program
        from agent_memory.adapters.setup.installation import Installation
        from agent_memory.adapters.setup.settings_files import SettingsFiles
        from agent_memory.adapters.setup.setup_planning import SetupPlanning
        from agent_memory.adapters.setup.setup_state import SetupState
        from agent_memory.adapters.surroundings.config_documents import parse_config
        from agent_memory.adapters.surroundings.root import config_path
        from agent_memory.adapters.targets.chosen_targets import chosen_targets
        from agent_memory.domain.installing.ground import asked_for, ground_of

        home, program = home_of(self.environ), memory_program(self.environ)
        if home is None:
            return Failure(HomeUnknown())
        if program is None:
            return Failure(
                UsageInvalid("There is no command `memory` on PATH", "Install agent-memory, then try again.")
            )
        asked = asked_for(ground_of(home, program, self.environ))
        path = config_path(home)

        def section_of(path: str, in_repository: bool) -> Result[str, Error]:
            (target,) = chosen_targets((path,), home, self.places)
            return self.publisher.render(evolve(target, in_repository=in_repository)).map(lambda section: section.text)

        planning = SetupPlanning(
            ground=ground_of(home, program, self.environ, frozenset(each for each in asked if Path(each).exists())),
            environ=self.environ,
            files=SettingsFiles(self.targets),
            state=SetupState(home),
            config=self.config,
            config_path=path,
            config_root=self._configured_root(home),
            section_of=section_of,
            check_config=lambda data: parse_config(data, path),
        )
        return Success(Installation(planning, self.environ, self.root))

    def _configured_root(self, home: str) -> str | None:
        """`storage.root` as the person's own config has it, whatever the environment says."""
        bare = {"HOME": home}
        found = load_config(bare, None).value_or(None)
        if found is None or found.source_of("storage.root") == DEFAULT:
            return None
        return found.config.storage.root

    def scope_here(self) -> str:
        """The scope key of the working directory."""
        return self.places.scope_of(self.cwd)

    def agent(self) -> Result[Agent, Error]:
        """The configured agent command, or the built-in."""
        llm = self.config.llm
        if llm.command is None and llm.preset == BUILTIN:
            from agent_memory.adapters.agent.builtin_agent import BuiltinAgent

            return Success(BuiltinAgent())
        from agent_memory.adapters.agent.agent_command import open_agent

        return open_agent(llm, self.spend, self.clock, self.environ).map(lambda agent: agent)

    def health(self) -> Result[Health, Error]:
        """For `memory status`."""
        from agent_memory.adapters.records.health_files import HealthFiles

        configured = self.agent()
        name = configured.map(lambda agent: agent.name).value_or("not usable")
        warnings = (describe(configured.failure()),) if isinstance(configured, Failure) else ()
        return HealthFiles(
            self.root,
            self.environ,
            self.inbox,
            self.store,
            self.spend,
            self.clock,
            name,
            self.config.llm.max_calls_per_day,
        ).read(warnings)

    def why_entry(self, id: str) -> Result[EntryStory, Error]:
        """For `memory why ID`: counts no read."""
        from agent_memory.adapters.explaining.entry_stories import EntryStories
        from agent_memory.adapters.git.file_history import revisions_of

        return EntryStories(
            self.store,
            self.ledger,
            self.log,
            self.clock,
            self.caller,
            lambda path, most: revisions_of(self._git_process, path, most),
        ).story(id)

    def why_session(self, session_id: str) -> Result[FoundSessions, Error]:
        """For `memory why --session`: changes nothing."""
        from agent_memory.adapters.explaining.session_traces import SessionTraces

        deferred = self._run_records.deferred
        return SessionTraces(self.root, self.store, self.log, self._marks, deferred, self.caller).find(session_id)

    def examine(self, progress: Callable[[str], None] = lambda _: None) -> Examination:
        """For `memory doctor`: looks at everything, and changes nothing."""
        return self._examiner(progress).examine()

    def repair(self, progress: Callable[[str], None] = lambda _: None) -> Result[Treatment, Error]:
        """For `memory doctor --fix`; `Busy` when a run is at work."""
        from agent_memory.adapters.checkup.repairer import Repairer

        return Repairer(
            self._examiner(progress),
            self.locks,
            self.recorder,
            publish=self.publish,
            finish_runs=self._finish_runs,
        ).repair()

    def search_secrets(self, progress: Callable[[str], None] = lambda _: None) -> SecretSearch:
        """For `memory doctor --secrets`: looks at every file and at all that git keeps, and changes nothing."""
        from agent_memory.adapters.checkup.secret_searching import search_secrets

        return search_secrets(str(self.root), self._git_process, progress)

    def _examiner(self, progress: Callable[[str], None]) -> Examiner:
        from agent_memory.adapters.checkup.examiner import Examiner

        return Examiner(
            self.root,
            self.environ,
            self.config,
            self.clock,
            self.store,
            self.inbox,
            self.ledger,
            self.spend,
            self.log,
            dry_publish=lambda: self.publish(dry_run=True),
            warnings=self.effective.warnings,
            names_secret=not self.caller.is_agent,
            progress=progress,
        )

    def consolidate(
        self,
        *,
        limit: int | None = None,
        dry_run: bool = False,
        retry_failed: bool = False,
        upgrade: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Result[Run, Error]:
        """One run under the run lock; `Busy` when another is at work. `upgrade` asks the configured command to look again
        at what the built-in consolidated; not in a dry run, since these sessions go through the inbox."""
        from agent_memory.pipelines.consolidate import consolidate

        with self.locks.run() as held:
            finished = held.bind(lambda _: self._finish_others(dry_run, self._finish_defrag))
            retried = finished.bind(lambda _: self.inbox.retry_failed() if retry_failed else Success(0))
            asked = retried.bind(lambda _: self._ask_again() if upgrade and not dry_run else Success(None))
            return (
                asked.bind(lambda _: self.agent())
                .bind(lambda agent: self._consolidate_io(agent, progress))
                .bind(lambda io: consolidate(io, self._new_run(limit, dry_run)))
            )

    def upgrades(self) -> Result[Upgrades, Error]:
        """The sessions that `consolidate(upgrade=True)` would hand to the configured command; none where that is the
        built-in itself."""
        from agent_memory.domain.vocabulary import Status
        from agent_memory.pipelines.upgrading import Upgrades, plan_upgrades

        def planned(agent: Agent) -> Result[Upgrades, Error]:
            if agent.status is not Status.CONSOLIDATED:
                return Success(Upgrades())
            return plan_upgrades(self.inbox, self._marks, self.store, self.clock)

        return self.agent().bind(planned)

    def _ask_again(self) -> Result[None, Error]:
        from agent_memory.pipelines.upgrading import ask_again

        return self.upgrades().bind(lambda upgrades: ask_again(self.inbox, upgrades))

    @cached_property
    def kept_histories(self) -> KeptHistoriesFiles:
        from agent_memory.adapters.records.kept_histories_files import KeptHistoriesFiles

        return KeptHistoriesFiles(self.root, self.config.storage.history_cap_mib << 20)

    def plan_backfill(
        self,
        harnesses: Sequence[Harness] = (),
        since_ms: int | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Result[Backfill, Error]:
        """The past sessions of these harnesses (of all, where none is named), and which say something new."""
        from agent_memory.pipelines.backfill import plan_backfill

        return self.backfill_io(progress).bind(lambda io: plan_backfill(io, harnesses, since_ms))

    def put_backfill(self, backfill: Backfill) -> Result[Backfill, Error]:
        """Put what is wanted of a plan into the inbox, oldest first."""
        from agent_memory.pipelines.backfill import put_backfill

        return self.backfill_io().bind(lambda io: put_backfill(io, backfill))

    def backfill_io(
        self, progress: Callable[[str], None] = lambda _: None, *, watching: bool = False
    ) -> Result[BackfillIo, Error]:
        """For backfill and watch; `watching` leaves out the harnesses whose sessions no file tells of."""
        from agent_memory.adapters.agent.private_directory import is_private
        from agent_memory.adapters.harness import history_sources
        from agent_memory.adapters.harness.session_finders import session_finders, watched_finders
        from agent_memory.adapters.surroundings.past_places import past_repo
        from agent_memory.adapters.surroundings.project_directories import MAX_DIRECTORIES, project_directories
        from agent_memory.pipelines.backfill_io import BackfillIo

        def known_directories() -> Iterable[Result[str, Error]]:
            # A watch looks every few seconds: it is not to read the inbox and the store each time.
            return () if watching else project_directories(self.inbox.directories(MAX_DIRECTORIES), self.store.list())

        surroundings = self._surroundings(known_directories)
        return self._calls_for().map(
            lambda calls_for: BackfillIo(
                finders=watched_finders(surroundings) if watching else session_finders(surroundings),
                histories=history_sources(surroundings),
                inbox=self.inbox,
                marks=self._marks,
                clock=self.clock,
                calls_for=calls_for,
                repo_of=lambda directory: past_repo(directory, self.environ),
                is_private=is_private,
                tombstones=self.tombstones,
                progress=progress,
            )
        )

    def watch(
        self,
        harnesses: Sequence[Harness],
        rest: Rest,
        stop: Event,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
        *,
        wait_for_transcripts: bool = False,
    ) -> Result[Watching, Error]:
        """Capture sessions as they come to rest, until `stop` is set. UsageInvalid where there are no transcripts yet and
        they are not to be waited for."""
        from agent_memory.adapters.harness.session_finders import watched_directories
        from agent_memory.adapters.harness.transcript_changes import transcript_changes
        from agent_memory.pipelines.watch import WatchIo, watch

        def watched(io: BackfillIo) -> Result[Watching, Error]:
            chosen = {
                harness: finder for harness, finder in io.finders.items() if not harnesses or harness in harnesses
            }
            directories = watched_directories(chosen)
            if chosen and not wait_for_transcripts and not any(Path(each).is_dir() for each in directories):
                problem = f"There are no transcripts yet in {', '.join(directories) or 'any known directory'}"
                return Failure(UsageInvalid(problem, "--wait-for-transcripts waits for them."))
            wait = transcript_changes(stop, directories)
            return watch(WatchIo(io, wait, stop.is_set, self._hand_over, tell, warn), harnesses, rest)

        return self.backfill_io(watching=True).bind(watched)

    def _hand_over(self, found: FoundSession) -> Result[str | None, Error]:
        """Bring the handoff note of a session up to date; None where nobody asked for anything in it."""

        def none_if_nothing(error: Error) -> Result[str | None, Error]:
            return Success(None) if isinstance(error, UsageInvalid) else Failure(error)

        taken = self.take_over(found.session_id, found.harness)
        return taken.bind(self.keep_handover).map(lambda kept: kept.id).lash(none_if_nothing)

    def _surroundings(self, project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple) -> Surroundings:
        """What histories and finders of sessions are built from."""
        import time

        from agent_memory.adapters.harness import Surroundings

        roots = self.config.capture.transcript_roots
        return Surroundings(self.environ, home_of(self.environ), self.root, time.sleep, roots, project_directories)

    def _calls_for(self) -> Result[Callable[[History], int], Error]:
        """How often the agent command is asked about a history, with the notes there are now."""
        from agent_memory.adapters.agent.prompt_templates import load_prompt_template
        from agent_memory.domain.transcripts.windows import cut_windows
        from agent_memory.formats.prompt import plan_prompt_budget

        # One that cannot be run now will be asked just as often once it can.
        most_chars = self.agent().map(lambda agent: agent.max_prompt_chars).value_or(self.config.llm.max_prompt_chars)
        if most_chars is None:
            return Success(lambda _: 0)
        return load_prompt_template("consolidate").bind(
            lambda template: self.store.list().bind(
                lambda live: plan_prompt_budget(template, most_chars, live.entries).map(
                    lambda budget: lambda history: len(cut_windows(history, budget.window_chars))
                )
            )
        )

    def _new_run(self, limit: int | None, dry_run: bool) -> Run:
        from agent_memory.domain.run import Run

        now_ms = self.clock.now_ms()
        return Run(self._new_run_id(now_ms), now_ms, limit, dry_run)

    def _new_run_id(self, now_ms: int) -> str:
        import secrets

        from agent_memory.domain.instants import iso_of

        return f"{iso_of(now_ms).replace(':', '-')}_{secrets.token_hex(3)}"

    def defrag(
        self,
        *,
        dry_run: bool = False,
        force: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Result[DefragRun, Error]:
        """One run under the run lock; `Busy` when another is at work."""
        from agent_memory.domain.defrag_run import DefragRun
        from agent_memory.pipelines.defrag import defrag

        now_ms = self.clock.now_ms()
        run = DefragRun(self._new_run_id(now_ms), now_ms, dry_run, force)
        with self.locks.run() as held:
            return (
                held.bind(lambda _: self._finish_others(dry_run, self._finish_consolidate))
                .bind(lambda _: self.agent())
                .bind(lambda agent: self._defrag_io(agent, progress))
                .bind(lambda io: defrag(io, run))
            )

    def _tidy_up(self) -> Result[None, Error]:
        """Compact what grows with every run: the usage ledger, the records of old runs, the repository."""
        from agent_memory.adapters.records.run_pruning import RunPruning

        with self.locks.write() as held:
            return (
                held.bind(lambda _: self.ledger.compact())
                .bind(lambda _: RunPruning(self.root, self.clock).prune())
                .bind(lambda _: self._pack_history())
            )

    def _pack_history(self) -> Result[None, Error]:
        from agent_memory.adapters.git.git_upkeep import pack_history

        return pack_history(self.root, self.environ) if self.config.storage.auto_commit else Success(None)

    def undo(self, name: str | None = None, *, dry_run: bool = False) -> Result[Undone, Error]:
        """Put everything back to what it was before a run. Refused where an agent is calling: it would take away what a
        person's memory holds, and could bring back what they got rid of."""
        from agent_memory.pipelines.undo import undo

        allowed = Success(None) if dry_run else self._by_a_person("undo")
        if isinstance(allowed, Failure):
            return allowed
        with self.locks.run() as held:
            ready = held if dry_run else held.bind(lambda _: self._finish_forgetting())
            return ready.bind(lambda _: self._undo_io()).bind(lambda io: undo(io, name, dry_run=dry_run))

    def look_at_forgetting(self, target: ForgetTarget) -> Result[Found, Error]:
        """All that `forget` would do: nothing is changed. Refused where an agent is calling, as forgetting itself is."""
        return self._by_a_person("forget").bind(lambda _: self._forgetter().look(target))

    def forget(self, seen: Found) -> Result[Forgetting, Error]:
        """Forget what was looked at; EntryChanged where there is more by now than what was seen. `Busy` when a run is at
        work. For a person alone."""
        allowed = self._by_a_person("forget")
        if isinstance(allowed, Failure):
            return allowed
        with self.locks.run() as held:
            return held.bind(lambda _: self._finish_all()).bind(lambda _: self._forgetter().forget_what_was_seen(seen))

    def _by_a_person(self, act: str) -> Result[None, Error]:
        """ActRefused where an agent is calling."""
        variable = self.caller.variable
        return Success(None) if variable is None else Failure(ActRefused(act, variable))

    def find_session(self, session_id: str) -> Result[tuple[SessionKey, ...], Error]:
        """The sessions with this id, or else the one whose id begins so; none where nothing is known of it."""
        from agent_memory.domain.forgetting.sources import SessionKey
        from agent_memory.domain.vocabulary import Harness

        return self.why_session(session_id).map(
            lambda found: tuple(SessionKey(each.session_id, Harness(each.harness)) for each in found.traces)
        )

    def _finish_all(self) -> Result[object, Error]:
        """Carry out the rest of whatever crashed, and record what a person changed as theirs."""
        return (
            self._finish_undo()
            .bind(lambda _: self._finish_runs())
            .bind(lambda _: self._finish_forgetting())
            .bind(lambda _: self._tolerated(self.recorder.adopt_hand_edits()))
        )

    def _finish_forgetting(self) -> Result[object, Error]:
        """Carry out the rest of a forgetting that crashed."""
        if not (self.root / "runs" / "forgetting.json").exists():
            return Success(None)
        return self._forgetter().resume()

    def _tolerated(self, done: Result[object, Error]) -> Result[None, Error]:
        """Git is history, not durability (P4)."""
        if isinstance(done, Failure):
            self._warn(describe(done.failure()))
        return Success(None)

    def _forgetter(self) -> Forgetter:
        from agent_memory.adapters.forgetting.forgetter import Forgetter
        from agent_memory.adapters.forgetting.purge_rules import purge_rules
        from agent_memory.adapters.git.history_purge import purge_history

        return Forgetter(
            root=self.root,
            store=self.store,
            histories=self.kept_histories,
            recorder=self.recorder,
            locks=self.locks,
            clock=self.clock,
            purge=lambda work: purge_history(self.root, self.environ, purge_rules(str(self.root), work)),
            publish=lambda: self._tolerated(self.publish()),
            tell=lambda error: self._warn(describe(error)),
        )

    def take_over(self, session_id: str | None = None, harness: Harness | None = None) -> Result[Taken, Error]:
        """The session with this id, else the newest of the working directory's scope, read for whoever takes it over."""
        from agent_memory.domain.inbox_entry import InboxEntry, retrieval_of
        from agent_memory.domain.vocabulary import Harness
        from agent_memory.pipelines.handing_over import take_named, take_newest

        io = self._handing_over_io()
        if session_id is None:
            return take_newest(io, self.scope_here(), harness)
        named: tuple[Harness, ...] = () if harness is None else (harness,)
        if harness is None:  # those that are asked by a command of theirs name their sessions in a way of their own
            strange = {Harness.AMP: "T-", Harness.OPENCODE: "ses"}
            named = tuple(each for each in Harness if session_id.startswith(strange.get(each, "")))
        retrievals = ((each, retrieval_of(each, session_id)) for each in named)
        guesses = [InboxEntry(self.clock.now_ms(), each, how) for each, how in retrievals if how is not None]
        return take_named(io, session_id, harness, guesses)

    def keep_handover(self, taken: Taken) -> Result[Kept, Error]:
        """The session's one handoff note, written or brought up to date."""
        from agent_memory.pipelines.handing_over import keep_handover

        return keep_handover(self._handing_over_io(), taken)

    def _handing_over_io(self) -> HandingOverIo:
        from agent_memory.adapters.harness import history_sources
        from agent_memory.adapters.inbox.recent_entries import recent_entries
        from agent_memory.pipelines.handing_over import HandingOverIo
        from agent_memory.recorded_writes import RecordedWrites

        return HandingOverIo(
            histories=history_sources(self._surroundings()),
            kept=self.kept_histories,
            tombstones=self.tombstones,
            places=self.places,
            store=self.store,
            writes=RecordedWrites(self.store, self.recorder, self.locks, self.caller, self._warn, self.publish),
            clock=self.clock,
            recent=lambda: recent_entries(str(self.root)),
            handoff_days=self.config.limits.handoff_days,
        )

    def run_diff(
        self, name: str | None = None, *, backwards: bool = False
    ) -> Result[tuple[LoggedRun, tuple[DiffPart, ...]], Error]:
        """What a run changed, or, backwards, what undoing it would change. An agent is not shown what is secret."""
        from agent_memory.domain.vocabulary import Sensitivity
        from agent_memory.formats import footprint_diff
        from agent_memory.pipelines.undo_choice import chosen, footprint_of, newest_kept

        def parts(footprint: Footprint, titles: Mapping[str, str]) -> tuple[DiffPart, ...]:
            directed = footprint_diff.backwards(footprint) if backwards else footprint
            return footprint_diff.diff_parts(directed, titles)

        def titles_of(listing: Listing) -> Mapping[str, str]:
            return {
                each.meta.id: each.meta.title
                for each in listing.entries
                if each.meta.sensitivity is not Sensitivity.SECRET
            }

        run = newest_kept(self.log) if name is None else chosen(self.log, name)
        return run.bind(
            lambda run: footprint_of(self.log, run).bind(
                lambda footprint: self.store.list().map(lambda live: (run, parts(footprint, titles_of(live))))
            )
        )

    def _undo_io(self) -> Result[UndoIo, Error]:
        from agent_memory.pipelines.undo_io import UndoIo

        return Success(
            UndoIo(
                store=self.store,
                log=self.log,
                targets=self.targets,
                recorder=self.recorder,
                records=self._defrag_records,
                clock=self.clock,
                finish_interrupted=self._finish_runs,
                new_run_id=self._new_run_id,
            )
        )

    def _finish_others(self, dry_run: bool, finish: Callable[[], Result[object, Error]]) -> Result[object, Error]:
        """Carry out the rest of an undo and of the other machine's run; a dry run leaves them to others."""
        if dry_run:
            return Success(None)
        return self._finish_undo().bind(lambda _: finish()).bind(lambda _: self._finish_forgetting())

    def _finish_undo(self) -> Result[object, Error]:
        """Carry out the rest of an undo that crashed."""
        from agent_memory.pipelines.undo import finish_undo

        def told(sentences: tuple[str, ...]) -> None:
            for sentence in sentences:
                self._warn(sentence)

        if self.log.undoing() == Success(None):
            return Success(None)
        return self._undo_io().bind(finish_undo).map(told)

    def _finish_runs(self) -> Result[object, Error]:
        """Carry out the rest of whichever machine's run crashed."""
        return self._finish_consolidate().bind(lambda _: self._finish_defrag())

    def _finish_consolidate(self) -> Result[object, Error]:
        """Carry out the rest of a consolidation that crashed: its writes are not a person's, and nobody may take them
        for that."""
        if not any(self.root.glob("runs/*/checkpoint.json")):
            return Success(None)
        from agent_memory.adapters.agent.builtin_agent import BuiltinAgent
        from agent_memory.pipelines.consolidate import finish_interrupted

        return self._consolidate_io(BuiltinAgent(), lambda _: None).bind(finish_interrupted)

    def _finish_defrag(self) -> Result[object, Error]:
        """The same of a defrag."""
        if not any(self.root.glob("runs/*/defrag.json")):
            return Success(None)
        from agent_memory.adapters.agent.builtin_agent import BuiltinAgent
        from agent_memory.pipelines.defrag import finish_interrupted

        return self._defrag_io(BuiltinAgent(), lambda _: None).bind(finish_interrupted)

    def _defrag_io(self, agent: Agent, progress: Callable[[str], None]) -> Result[DefragIo, Error]:
        import secrets

        from agent_memory.adapters.agent.prompt_templates import load_prompt_template
        from agent_memory.domain.section import SectionBudget
        from agent_memory.pipelines.defrag_io import DefragIo

        config = self.config
        return load_prompt_template("defrag").map(
            lambda template: DefragIo(
                store=self.store,
                agent=agent,
                ledger=self.ledger,
                recorder=self.recorder,
                records=self._defrag_records,
                log=self.log,
                locks=self.locks,
                clock=self.clock,
                publish=lambda keep: self.publish(keep=keep),
                prompt_template=template,
                random_word=lambda: secrets.token_hex(16),
                budget=SectionBudget(config.agents_md.hot_chars, config.agents_md.warm_lines),
                stale_days=config.limits.stale_days,
                max_entries=config.limits.max_entries,
                max_chars=config.limits.max_chars,
                tidy_up=self._tidy_up,
                progress=progress,
            )
        )

    def _consolidate_io(self, agent: Agent, progress: Callable[[str], None]) -> Result[ConsolidateIo, Error]:
        import secrets

        from agent_memory.adapters.agent.prompt_templates import load_prompt_template
        from agent_memory.adapters.harness import history_sources
        from agent_memory.pipelines.consolidate_io import ConsolidateIo

        return load_prompt_template("consolidate").map(
            lambda template: ConsolidateIo(
                inbox=self.inbox,
                histories=history_sources(self._surroundings()),
                places=self.places,
                store=self.store,
                agent=agent,
                marks=self._marks,
                recorder=self.recorder,
                runs=self._run_records,
                clock=self.clock,
                prompt_template=template,
                random_word=lambda: secrets.token_hex(16),
                handoff_days=self.config.limits.handoff_days,
                tombstones=self.tombstones,
                kept=self.kept_histories if self.config.storage.keep_histories else None,
                ledger=self.ledger,
                progress=progress,
            )
        )
