"""The composition root: one store with everything that acts on it.

What not every command needs is in `late`: a hook and `memory list` run all day long, and must not load what only defrag
needs. Nothing is created on disk until something is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import Factory, define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.app import late
from agent_memory.caller import Caller, caller_of
from agent_memory.capture.places import git_says, known_places, scope_of
from agent_memory.capture.repository import Repository, is_within, may_be_in_work_tree, read_repository
from agent_memory.capture.switches import EXCLUDED, Switches
from agent_memory.config import Config
from agent_memory.errors import Error, StateInvalid, StateNotFound, SwitchedOff, SyncRefused, UsageInvalid
from agent_memory.files.locks import Locks
from agent_memory.files.paths import (
    exists,
    files_below,
    is_directory,
    memory_program,
    names_below,
    read_shipped,
    real_root,
    remove_former,
)
from agent_memory.files.root import config_path, home_of, is_marked
from agent_memory.note.file_name import id_in_name
from agent_memory.note.note import (
    GLOBAL_SCOPE,
    OF_THE_TEAM,
    TEAM_DIRECTORY,
    Harness,
    Listed,
    Meta,
    Source,
    Status,
    StoredEntry,
    UnreadableFile,
    shown_to_agents,
)
from agent_memory.recall.branches import TRUNKS, branch_mark, look_for_unmerged, unmerged_branches
from agent_memory.recall.delivery_log import Delivery, DeliveryLog
from agent_memory.recall.grounding import (
    COMMAND_SECONDS,
    Grounding,
    Named,
    grounding_mark,
    look_at,
    named_by,
    place_with,
)
from agent_memory.recall.reading import ListFilter, Reading, status_shown
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.setup.config_files import Effective, TrustFile, change_own_config, load_config
from agent_memory.store.store_files import NotesHere, Store, Team, TeamFiles, read_team
from agent_memory.store.usage_ledger import UsageLedger
from agent_memory.text.ids import content_hash
from agent_memory.text.instants import DAY_MS, iso_of
from agent_memory.text.plain_text import counted

if TYPE_CHECKING:
    from threading import Event

T = TypeVar("T")
Warn = Callable[[str], None]
Progress = Callable[[str], None]

BY_HAND = "generate-agents-md"
"""Stands for a harness in the records of files that a person named."""


def _silent(_: str) -> None:
    pass


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000


@as_result
def open_memory(environ: Mapping[str, str], cwd: Path | str | None, warn: Warn) -> Memory:
    """Returns the memory for this environment. Nothing is created or changed until something is written."""
    directory = str(cwd or "/")
    effective = unwrap(load_config(environ, directory))
    for warning in effective.warnings:
        warn(warning)
    return Memory(environ, directory, effective, warn)


def part(make: Callable[[Memory], T]) -> cached_property[T]:
    """Returns a part of the memory, which is made when it is first asked for."""
    return cached_property(make)


@define(slots=False, eq=False)
class Memory:
    """One store with everything that acts on it. Its parts are made when they are first needed."""

    environ: Mapping[str, str]
    cwd: str
    effective: Effective
    warn: Warn
    caller: Caller = field(default=Factory(lambda memory: caller_of(memory.environ), takes_self=True))
    """The caller: the one that was named, else the one that the variables of the environment tell."""
    clock: SystemClock = field(factory=SystemClock, init=False)
    progress: Progress = field(default=_silent, init=False)
    """Is told what long work is doing."""

    def called_by(self, caller: Caller) -> Memory:
        """Returns the same store on behalf of another caller, for a process that serves several."""
        other = Memory(self.environ, self.cwd, self.effective, self.warn, caller)
        other.locks, other.store = self.locks, self.store
        return other

    def look_again(self) -> None:
        """Forgets which branches were merged at an earlier request."""
        self.__dict__.pop("_unmerged", None)

    @property
    def config(self) -> Config:
        return self.effective.config

    def new_run_id(self, now_ms: int) -> str:
        """Returns an id for a run that begins now; ids sort as the runs began."""
        return f"{iso_of(now_ms).replace(':', '-')}_{os.urandom(3).hex()}"

    # -- the parts ----------------------------------------------------------------------------------------------------

    real_root = part(lambda memory: real_root(memory.config.storage.root or ""))
    root = part(lambda memory: Path(memory.real_root))
    locks = part(lambda memory: Locks(memory.real_root, memory.environ))
    store = part(lambda memory: Store(memory.real_root, memory.locks))
    index = part(lambda memory: late.note_index.NoteIndex(memory.store.files))
    inbox = part(lambda memory: late.inbox_files.Inbox(memory.root, memory.environ))
    targets = part(lambda memory: late.targets.Targets(home_of(memory.environ), memory.real_root))
    scope_of = part(lambda memory: partial(scope_of, environ=memory.environ))
    ledger = part(lambda memory: UsageLedger(memory.real_root))
    spend = part(lambda memory: late.bookkeeping.SpendLedgerFiles(memory.root, memory.locks))
    log = part(lambda memory: late.run_files.RunLog(memory.root))
    marks = part(lambda memory: late.bookkeeping.SessionMarks(memory.root))
    run_records = part(lambda memory: late.run_files.ConsolidateRecords(memory.root, memory.clock))
    defrag_records = part(lambda memory: late.run_files.DefragRecords(memory.root, memory.clock))
    kept_histories = part(
        lambda memory: late.kept_histories_files.KeptHistories(memory.root, memory.config.storage.history_cap_mib << 20)
    )
    session_index = part(
        lambda memory: late.session_index.SessionIndex(memory.store.files.database, lambda: memory.kept_histories)
    )
    tombstones = part(lambda memory: late.tombstones.Tombstones(memory.root))
    git_process = part(lambda memory: late.git_process.GitProcess(memory.root, memory.environ))
    recorder = part(
        lambda memory: late.git_history.GitRecorder(memory.root, memory.config.storage, memory.environ, memory.locks)
    )
    histories = part(lambda memory: late.harness.Histories(memory.surroundings()))

    @cached_property
    def embedder(self) -> late.ports.Embedder | str:
        """Returns the embedder; if it is not installed or damaged, a sentence that says so."""
        return late.embedding.open_static_vectors(home_of(self.environ))

    @cached_property
    def known(self) -> late.known_notes.KnownNotes:
        """Returns the search for notes about the same subject as one that is about to be written."""
        embedder = None if isinstance(self.embedder, str) else self.embedder
        return late.known_notes.KnownNotes(self.store, self.index, embedder, self.config.limits.similarity)

    def close(self) -> tuple[str, ...]:
        """Renews the index after writing, so that no hook has to; returns the warnings."""
        if "recorder" in self.__dict__:
            self.index.refresh()
        return self.warnings()

    def warnings(self) -> tuple[str, ...]:
        """Returns what the person should know about the acts of this object, one sentence each."""
        return self.recorder.warnings() if "recorder" in self.__dict__ else ()

    def agent(self) -> Result[late.ports.Agent, Error]:
        return late.agent_command.open_agent(self.config.llm, self.spend, self.clock, self.environ)

    def surroundings(
        self, project_directories: Callable[[], Iterable[Result[str, Error]]] = tuple
    ) -> late.harness.Surroundings:
        """Returns what session histories and finders are built from."""
        roots = self.config.capture.transcript_roots
        home, by_agent = home_of(self.environ), self.caller.is_agent
        return late.harness.Surroundings(self.environ, home, self.root, roots, project_directories, by_agent)

    @property
    def reading(self) -> Reading:
        return Reading(self.store, self.ledger, self.clock, self.caller)

    # -- the team's notes of a trusted checkout ------------------------------------------------------------------------

    @property
    def reading_here(self) -> Reading:
        """Reads, lists and links the notes that are told in the working directory."""
        return evolve(self.reading, store=self.notes_here)

    @property
    def notes_here(self) -> NotesHere:
        """Returns the notes that are told in the working directory: the store's, and the team's."""
        return NotesHere(self.store, self.team_at(self.cwd))

    def team_at(self, directory: str) -> Team:
        """Returns the team's notes of the checkout around a directory; none if it is not trusted."""
        there = read_repository(directory, self.environ)
        if there.common is None or not os.path.lexists(f"{there.top}/{TEAM_DIRECTORY}"):
            return Team()
        scope, path = self.scope_of(directory), f"{there.top}/{TEAM_DIRECTORY}"
        try:
            trusted = TrustFile(home_of(self.environ)).looked_at()
        except Error as error:
            self.warn(str(error))
            return Team()
        if (path, content_hash(scope.encode())) not in trusted:
            problem = "you have not trusted this checkout (`memory trust` does)"
            return Team(unreadable=(UnreadableFile(TEAM_DIRECTORY, (problem,)),))
        return read_team(TeamFiles(there.top, self.real_root), scope, trusted)

    def sharing(self) -> late.sharing.Sharing:
        """Shares notes in the checkout around the working directory, and trusts those of the team there."""
        there = read_repository(self.cwd, self.environ)
        if there.common is None:
            raise UsageInvalid("This directory is not in a checkout of a repository", "Go to one and try again.")
        program, files = memory_program(self.environ), TeamFiles(there.top, self.real_root)
        return late.sharing.Sharing(
            self.writes, self.clock, home_of(self.environ), program, there.common, files, self.scope_on_arrival()
        )

    def shared_here(self) -> Collection[str]:
        """Returns the ids of the notes that files in the checkout here share, trusted or not."""
        there = read_repository(self.cwd, self.environ)
        try:
            names = () if there.common is None else names_below(there.top, TEAM_DIRECTORY)
        except Error:
            names = ()  # a directory that leads elsewhere shares nothing
        return [id for id in map(id_in_name, names) if id]

    def mark_of(self, listed: Listed) -> str:
        """Returns what is told beside a note: that it is the team's, or `branch_mark`."""
        return OF_THE_TEAM if listed.is_team else self.branch_mark(listed.meta.sources)

    @property
    def writes(self) -> late.recorded_writes.RecordedWrites:
        publish = partial(self.publish, after_act=True)
        return late.recorded_writes.RecordedWrites(
            self.store, self.recorder, self.locks, self.caller, self.warn, publish
        )

    @property
    def runs(self) -> late.recorded_writes.ActRuns:
        return late.recorded_writes.ActRuns(
            self.writes, self.log, self.clock, self.new_run_id, lambda keep: self.publish(keep=keep)
        )

    @property
    def service(self) -> late.service.MemoryService:
        known, holds_back = lambda: self.known, self.config.review.before
        return late.service.MemoryService(self.writes, self.ledger, self.clock, known, self.kept_vocabulary, holds_back)

    @as_result
    def remember(self, draft: late.drafts.NoteDraft) -> late.service.Remembered:
        """Stores a note that is written in the working directory (`MemoryService.remember`). From an agent nothing is taken
        that the person has rejected."""
        rejected = unwrap(self.tombstones.rejected()) if self.caller.is_agent else ()
        if any(each.is_said_by(draft.title or "", draft.body) for each in rejected):
            raise UsageInvalid("Nothing was stored: the person has rejected what it says (`memory review`)")
        here, commit = self.scope_on_arrival(), self.checkout.commit
        return unwrap(self.service.remember(evolve(draft, cwd=self.cwd, here=here, commit=commit)))

    _vocabulary_file = part(lambda memory: late.bookkeeping.TagVocabularyFile(memory.root))

    def kept_vocabulary(self) -> late.tagging.TagVocabulary:
        """Returns the vocabulary for whoever writes notes; an empty one if it cannot be read, which `memory doctor`
        reports."""
        return self._vocabulary_file.get().value_or(late.tagging.TagVocabulary())

    @property
    def tags(self) -> late.keeping.TagKeeping:
        return late.keeping.TagKeeping(self.writes, self._vocabulary_file)

    @property
    def state(self) -> late.keeping.StateKeeping:
        keys = late.bookkeeping.StateKeysFiles(self.root)
        return late.keeping.StateKeeping(self.writes, keys, self.clock, self._vocabulary_file)

    @property
    def scopes(self) -> late.keeping.ScopeKeeping:
        return late.keeping.ScopeKeeping(self.runs, self.environ, known_places(self.environ, self.real_root))

    @property
    def arriving(self) -> Callable[[str | None], str]:
        """Returns the scope of the directory as `scope_of` does; notes that it had under an earlier key follow."""
        known = known_places(self.environ, self.real_root)

        def arrive(repository: Repository) -> None:
            if not known.has(repository):
                self.scopes.arrive(repository)

        return partial(scope_of, environ=self.environ, arrive=arrive)

    def scope_on_arrival(self) -> str:
        """Returns the scope key of the working directory, once the notes that it had under an earlier key have followed
        (`ScopeKeeping.arrive`)."""
        return self.arriving(self.cwd)

    # -- what waits for a person --------------------------------------------------------------------------------------

    @property
    def reviewing(self) -> late.review.Reviewing:
        """Lists what waits for a person's decision, and decides."""
        known, ground = self._examination(), self._grounding_in_trunk
        return late.review.Reviewing(self.service, self.runs, self.real_root, known, ground)

    def _grounding_in_trunk(
        self, scope: str, named: Sequence[Named], seconds: float
    ) -> tuple[tuple[Grounding, ...], ...]:
        """Returns what became of the files that notes of a place name, in its main branch."""
        until = time.monotonic() + seconds
        where = place_with(scope, self.environ, self.real_root)
        if where.common and where.commit:
            words = ("for-each-ref", "--format=%(refname) %(objectname)", *TRUNKS)
            said = git_says(where.common, *words, seconds=seconds)
            if said is None:
                return ((),) * len(named)
            commits = dict(line.split(" ") for line in said.splitlines())
            trunk = next((each for each in TRUNKS if each in commits), None)
            if trunk is not None:
                where.branch, where.commit = trunk.rpartition("/")[2], commits[trunk]
        return look_at(where, named, until - time.monotonic(), self.real_root)

    def _examination(self) -> late.doctor.Examination:
        return late.doctor.Examination(self.store.files, self.progress)

    @property
    def switching(self) -> late.switching.Switching:
        return late.switching.Switching(self.environ, self.cwd, self.real_root, self.caller, self.clock)

    def require_on(self) -> None:
        """Raises SwitchedOff where memory stays out of the working directory."""
        if (off := self.switches().off(self.cwd)) is not None:
            raise SwitchedOff(off.sentence)

    def switches(self) -> Switches:
        return Switches(self.environ)

    # -- other memories -----------------------------------------------------------------------------------------------

    def machine(self) -> late.base.Machine:
        """Returns where other memories may lie."""
        return late.base.Machine(home_of(self.environ), self.environ, self.cwd)

    @property
    def importing(self) -> late.importing.Importing:
        state = self.state
        return late.importing.Importing(self.runs, self.tombstones, state.keys, state.vocabulary, self.scope_of)

    def _checkout_at(self, directory: str) -> late.bootstrap.Checkout:
        around = late.base.repository_around(directory)
        root = os.path.realpath(directory) if around == GLOBAL_SCOPE else around
        return late.bootstrap.Checkout(root, self.scope_of(root), self.environ)

    @as_result
    def bootstrap(self, directory: str | None, *, dry_run: bool) -> late.importing.Imported:
        """Makes proposals of what the checkout around a directory says, by rules or by the configured command."""
        if directory is None or not is_directory(directory):
            raise UsageInvalid(f"There is no directory {directory or 'here'}")
        checkout = self._checkout_at(directory)
        if (off := self.switches().off(checkout.root)) is not None:
            raise SwitchedOff(off.sentence)
        if late.agent_command.uses_builtin(self.config.llm):
            found = checkout.proposals()
        else:
            agent, template = unwrap(self.agent()), read_shipped("prompts/bootstrap.md")
            known, word = unwrap(self.store.listings()), lambda: os.urandom(16).hex()
            found = late.bootstrap.ask(checkout, agent, template, *known, self.clock.now_ms(), word)
        return self.importing.take("bootstrap", tuple(found), dry_run=dry_run)

    @property
    def exporting(self) -> late.exporting.Exporting:
        return late.exporting.Exporting(self.store, self.reading, self.locks, self.real_root)

    # -- managed sections ---------------------------------------------------------------------------------------------

    @cached_property
    def publisher(self) -> late.publishing.Publisher:
        shown = self.config.agents_md
        budget = late.change.SectionBudget(shown.hot_chars, shown.warm_lines)
        return late.publishing.Publisher(
            self.store,
            self.targets,
            budget,
            team_at=self.team_at,
            branch_mark=self.branch_mark,
            ground_marks=self._ground_marks,
        )

    def publish(
        self,
        paths: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        keep: late.publishing.KeepSections | None = None,
        after_act: bool = False,
    ) -> Result[late.change.Published, Error]:
        """Updates the managed section of every configured target, or of these files. `keep` is told how sections are
        about to change. `after_act`: a file without a section is left alone while there is nothing to show, and one
        whose directory is missing is not mentioned. A configured path is absolute or below `~`; any other is relative
        to the working directory."""
        home = home_of(self.environ)
        named = self.config.agents_md.targets if paths is None else paths
        full = [late.targets.expanded(path, home, None if paths is None else self.cwd) for path in named]
        if after_act:
            full = [path for path in full if os.path.isdir(os.path.dirname(path))]
        by_hand = None if paths is None else as_result(self._keep_for_uninstall)
        switches = self.switches()
        if paths is None and switches.everywhere is not None:
            return Success(late.change.Published())
        due = [evolve(each, once_it_shows=after_act) for each in self._targets_at(full)]
        for at, each in enumerate(due):  # a project that memory stays out of is shown nothing any more
            if each.scopes != frozenset({GLOBAL_SCOPE}) and switches.off(os.path.dirname(each.path)) is not None:
                due[at] = evolve(each, scopes=frozenset(), once_it_shows=True)
        published = self.publisher.publish(due, keep or by_hand, dry_run=dry_run)
        if keep is None and isinstance(published, Success):  # a run says it in its report
            for notice in filter(None, (each.notice for each in published.unwrap().targets)):
                self.warn(notice)
        return published

    def _targets_at(self, paths: Iterable[str]) -> tuple[late.change.Target, ...]:
        is_committed = partial(late.git_history.may_be_committed, environ=self.environ)
        return late.targets.chosen_targets(paths, home_of(self.environ), self.scope_of, is_committed)

    def _keep_for_uninstall(self, sections: Sequence[late.change.SectionChange]) -> None:
        """Keeps what files that a person names were before they get their first section, as setup does."""
        if first := [each.path for each in sections if each.before is None]:
            late.installation.keep_before_section(
                late.plan.SetupState(home_of(self.environ)), self.targets, first, BY_HAND
            )

    def section_here(self, scope: str | None = None) -> Result[late.change.RenderedSection, Error]:
        """Returns the section that a file in the working directory would hold, or one of this scope."""
        in_repository = may_be_in_work_tree(self.cwd)
        scopes = frozenset({scope} if scope else {GLOBAL_SCOPE, self.scope_on_arrival()})
        return self.publisher.render(late.change.Target(f"{self.cwd}/-", scopes, in_repository))

    # -- consolidate, defrag, undo ------------------------------------------------------------------------------------

    @as_result
    def consolidate(
        self,
        *,
        limit: int | None = None,
        dry_run: bool = False,
        retry_failed: bool = False,
        upgrade: bool = False,
    ) -> late.run.Run:
        """Runs once under the run lock; `Busy` when another is at work. `upgrade` asks the configured command to
        look again at what the built-in consolidated; not in a dry run, since these sessions go through the inbox."""
        with self.locks.run():
            if not dry_run:
                self._finish_interrupted(but="consolidate")
            if retry_failed:
                unwrap(self.inbox.retry_failed())
            if upgrade and not dry_run:
                unwrap(late.backfill.ask_again(self.inbox, unwrap(self.upgrades())))
            io = self._consolidate_io(unwrap(self.agent()), dry_run=dry_run)
            now_ms = self.clock.now_ms()
            ended = unwrap(
                late.consolidate.consolidate(io, late.run.Run(self.new_run_id(now_ms), now_ms, limit, dry_run))
            )
        if not dry_run:
            self._look_for_unmerged()
            # Or the first search of sessions, and the first look at what waits, would wait for all of them.
            self.session_index.refresh(self.progress)
            self.store.list().map(lambda live: self._examination().keep(live.entries))
        return ended

    @as_result
    def upgrades(self) -> late.backfill.Upgrades:
        """Returns the sessions that `consolidate(upgrade=True)` would hand to the configured command; none if that is
        the built-in itself."""
        if unwrap(self.agent()).status is not Status.CONSOLIDATED:
            return late.backfill.Upgrades()
        return unwrap(late.backfill.plan_upgrades(self.inbox, self.marks, self.store, self.clock))

    def _consolidate_io(self, agent: late.ports.Agent, *, dry_run: bool = False) -> late.consolidate.ConsolidateIo:
        return late.consolidate.ConsolidateIo(
            inbox=self.inbox,
            histories=self.histories,
            scope_of=self.scope_of if dry_run else self.arriving,
            store=self.store,
            agent=agent,
            marks=self.marks,
            recorder=self.recorder,
            runs=self.run_records,
            clock=self.clock,
            prompt_template=read_shipped("prompts/consolidate.md"),
            random_word=lambda: os.urandom(16).hex(),
            handoff_days=self.config.limits.handoff_days,
            switches=self.switches,
            tombstones=self.tombstones,
            holds_back=self.config.review.before,
            kept=self.kept_histories if self.config.storage.keep_histories else None,
            ledger=self.ledger,
            known=self.known,
            vocabulary=self.kept_vocabulary,
            progress=self.progress,
        )

    @as_result
    def defrag(self, *, dry_run: bool = False, force: bool = False) -> late.run.DefragRun:
        """Runs once under the run lock; `Busy` when another is at work. Where no agent may be called, it does only what
        needs none."""
        now_ms = self.clock.now_ms()
        run = late.run.DefragRun(self.new_run_id(now_ms), now_ms, dry_run, force)
        configured = self.agent()
        agent = (
            late.agent_command.UnusableAgent(configured.failure())
            if isinstance(configured, Failure)
            else configured.unwrap()
        )
        with self.locks.run():
            if not dry_run:
                self._finish_interrupted(but="defrag")
                self._look_for_unmerged()
            ended = unwrap(late.defrag.defrag(self._defrag_io(agent), run))
        if ended.trouble is None:
            unwrap(configured)
        if not dry_run:
            ended = evolve(ended, warnings=(*ended.warnings, *self._propose_skills()))
        return ended

    def _propose_skills(self) -> Iterator[str]:
        """Makes proposals of the steps that agents repeat; yields a sentence about them. An agent's defrag makes none."""
        if self.caller.is_agent or not self.config.storage.keep_histories:
            return
        try:
            found = tuple(
                late.skills.proposals(self.kept_histories, self.store, self.session_scopes(), self._checkout_at)
            )
            made = self.importing.take(late.skills.SOURCE, found, dry_run=False).created if found else ()
        except Error as error:
            yield f"No skills were proposed: {error}"
            return
        if made:
            yield f"Steps that sessions repeat: {counted(len(made), 'skill')} proposed (`memory review --kind imported`)."

    def _defrag_io(self, agent: late.ports.Agent) -> late.defrag.DefragIo:
        return late.defrag.DefragIo(
            store=self.store,
            agent=agent,
            ledger=self.ledger,
            recorder=self.recorder,
            records=self.defrag_records,
            log=self.log,
            locks=self.locks,
            clock=self.clock,
            publish=lambda keep: self.publish(keep=keep),
            prompt_template=read_shipped("prompts/defrag.md"),
            random_word=lambda: os.urandom(16).hex(),
            budget=self.publisher.budget,
            limits=self.config.limits,
            tidy_up=self._tidy_up,
            progress=self.progress,
        )

    @as_result
    def _tidy_up(self) -> None:
        """Compacts what grows with every run (the usage ledger, the records of old runs, the repository) and removes
        files of earlier versions."""
        remove_former(self.root)
        with self.locks.write():
            unwrap(self.ledger.compact())
            unwrap(late.run_files.prune_run_files(self.root, self.clock))
            if self.config.storage.auto_commit:
                unwrap(late.git_process.pack_history(self.root, self.environ))

    @as_result
    def undo(self, name: str | None = None, *, dry_run: bool = False) -> late.undo.Undone:
        """Restores everything as it was before a run. Refused where an agent is calling: it would take away what a
        person's memory holds, and could bring back what they got rid of."""
        if not dry_run:
            self.caller.only_a_person("undo")
        with self.locks.run():
            if not dry_run:
                self._finish_forgetting()
            undone = unwrap(late.undo.undo(self._undo_io(), name, dry_run=dry_run))
        hidden = self.reading.hidden_ids()
        actions = late.run_log.without_words(undone.actions, hidden)
        return evolve(undone, actions=actions, undid=undone.undid.without(hidden), root=undone.root.without(hidden))

    def _undo_io(self) -> late.undo.UndoIo:
        return late.undo.UndoIo(
            store=self.store,
            log=self.log,
            targets=self.targets,
            recorder=self.recorder,
            records=self.defrag_records,
            clock=self.clock,
            finish_interrupted=as_result(self.finish_runs),
            new_run_id=self.new_run_id,
        )

    # -- what a crash left half done is carried out before anything else begins ---------------------------------------

    def finish_all(self) -> None:
        """Finishes whatever crashed, and records what a person changed as theirs."""
        self._finish_interrupted()
        self.writes.tolerate(self.recorder.adopt_hand_edits())

    def _finish_interrupted(self, *, but: str = "") -> None:
        """Finishes a sync, an undo, a run of another pipeline than `but`, which finishes its own, and a forgetting: in this
        order."""
        if exists(f"{self.root}/runs/syncing.json"):  # what a merge brought is not a hand edit
            with self.locks.write():
                late.synchroniser.Commits(self.git_process).finish(self.clock.now_ms())
        if self.log.undoing() != Success(None):
            for sentence in unwrap(late.undo.finish_undo(self._undo_io())):
                self.warn(sentence)
        self.finish_runs(but=but)
        self._finish_forgetting()

    def finish_runs(self, *, but: str = "") -> None:
        """Finishes a consolidate or defrag that crashed. Its writes are not a person's, and nobody may take them for
        that."""
        if but != "consolidate" and late.run_files.runs_with(self.real_root, late.run_files.CHECKPOINT_FILE):
            unwrap(late.consolidate.finish_interrupted(self._consolidate_io(late.agent_command.BuiltinAgent())))
        if but != "defrag" and late.run_files.runs_with(self.real_root, late.run_files.DEFRAG_CHECKPOINT):
            unwrap(late.defrag.finish_interrupted(self._defrag_io(late.agent_command.BuiltinAgent())))

    def _finish_forgetting(self) -> None:
        if exists(f"{self.root}/runs/forgetting.json"):
            self._forgetter().resume()

    # -- search and inject --------------------------------------------------------------------------------------------

    def search(self, request: late.hits.SearchRequest) -> Result[late.hits.SearchAnswer, Error]:
        """Returns the best notes for a query that are told in the working directory. Counts no read."""
        meanings = "" if request.mode is late.hits.Mode.BM25 else self.meanings
        here = self.notes_here
        return late.searching.search_here(
            late.searching.Searching(here, self.index, meanings, self.clock, self.caller), here, request
        )

    def search_sessions(self, request: late.hits.SearchRequest) -> Result[late.session_search.SaidAnswer, Error]:
        """Returns what was said in kept sessions, the best first."""
        return late.session_search.search_said(
            request, self.session_index, self.session_scopes(), self.clock.now_ms(), self.progress
        )

    def session_scopes(self) -> Callable[..., str | None]:
        """Returns a function that returns the scope of a session, given its directories, or where they are gone the scope that
        was recorded; None if memory stays out of its project, unless a person asks from there."""
        here, switches, places = self.scope_on_arrival(), self.switches(), known_places(self.environ, self.real_root)
        told_from = None if self.caller.is_agent else here
        known = {each.common.removesuffix("/.git"): each.scope for each in places.all()}

        def scope_at(place: str | None, told: str) -> str | None:
            is_there = place is not None and os.path.isdir(place)
            gone = place and not is_there and next((top for top in known if is_within(place, top)), None)
            scope = known[gone] if gone else self.scope_of(place) if is_there or not told else told
            off = switches.off(place, scope)
            return None if off is not None and off.kind == EXCLUDED and scope != told_from else scope

        @cache
        def scope_of_all(places: tuple[str, ...], told: str = "") -> str | None:
            scopes = [scope_at(each, told) for each in places or (None,)]
            return None if None in scopes else scopes[0]

        return scope_of_all

    @property
    def meanings(self) -> late.embedding.IndexedMeanings | str:
        """Returns what compares meanings, loaded only where it is needed; else a sentence that says why there is
        nothing."""
        embedder = self.embedder
        return (
            embedder if isinstance(embedder, str) else late.embedding.IndexedMeanings(self.index, self.store, embedder)
        )

    def branch_mark(self, sources: Sequence[Source]) -> str:
        """Returns `branch x, not found in main` for a note that comes from unmerged branches alone, else nothing."""
        return branch_mark(sources, self._unmerged)

    _unmerged = part(lambda memory: unmerged_branches(memory.real_root))

    @property
    def checkout(self) -> Repository:
        """Returns the repository of the working directory, as it is checked out there."""
        return read_repository(self.cwd, self.environ)

    def grounding(self, *notes: StoredEntry) -> Mapping[str, tuple[Grounding, ...]]:
        """Returns what became of the files that live notes name, by id: in the checkout around the working directory, or in that
        of their own place, if this machine has one."""
        if not notes:
            return {}
        here = self.scope_on_arrival()
        found: dict[str, tuple[Grounding, ...]] = {}
        live = [each for each in notes if not (each.listed.archived or each.meta.is_secret)]
        scope_of = {each.meta.id: here if each.meta.scope == GLOBAL_SCOPE else each.meta.scope for each in live}
        scopes = frozenset(scope_of.values())
        for scope in scopes:
            named = {
                each.meta.id: names
                for each in live
                if scope_of[each.meta.id] == scope and (names := named_by(each.meta, each.entry.whole, scope)).names
            }
            if named:
                where = self.checkout if scope == here else place_with(scope, self.environ, self.real_root)
                looked = look_at(where, tuple(named.values()), COMMAND_SECONDS / len(scopes), self.real_root)
                found |= zip(named, looked, strict=True)
        return found

    def _ground_marks(self, path: str, notes: Sequence[StoredEntry]) -> Mapping[str, str]:
        where = read_repository(os.path.dirname(path), self.environ)
        named = [named_by(each.meta, each.entry.whole, self.scope_of(where.top)) for each in notes]
        looked = look_at(where, named, COMMAND_SECONDS, self.real_root)
        return {each.meta.id: grounding_mark(found) for each, found in zip(notes, looked, strict=True)}

    def _look_for_unmerged(self) -> None:
        look_for_unmerged(self.real_root, unwrap(self.store.list()).entries, self.environ)

    # -- past sessions ------------------------------------------------------------------------------------------------

    def add_transcripts(self, path: str) -> bool:
        """Looks for sessions in one more directory. Returns whether it was none before."""
        capture = self.config.capture
        is_new = path not in capture.transcript_roots
        capture = evolve(capture, transcript_roots=(*capture.transcript_roots, path))
        self.effective = evolve(self.effective, config=evolve(self.config, capture=capture))
        return is_new

    def keep_transcripts(self, path: str) -> None:
        """Looks for sessions there from now on, or no later run would find them again. Only for a person."""

        def add(document: dict[str, Any]) -> bool:
            roots = document.setdefault("capture", {}).setdefault("transcriptRoots", [])
            roots += [] if path in roots else [path]
            return True

        home = home_of(self.environ)
        self.caller.only_a_person("backfill --transcripts-dir")
        with late.plan.SetupState(home).locked():
            change_own_config(config_path(home), add)

    def backfill_io(self, *, watching: bool = False, directory: str | None = None) -> late.backfill.BackfillIo:
        """Returns what backfill and watch act on; `watching` leaves out the harnesses whose sessions no file announces. All
        files of `directory` may be sessions."""

        def known_directories() -> Iterable[Result[str, Error]]:
            if watching:  # every few seconds, which must not read the inbox and the store each time
                return ()
            seen = self.inbox.directories(late.backfill.MAX_DIRECTORIES)
            return late.backfill.project_directories(seen, self.store.list())

        # If it cannot be run now, it will be asked just as often once it can.
        most_chars = self.agent().map(lambda agent: agent.max_prompt_chars).value_or(self.config.llm.max_prompt_chars)
        window_chars: int | None = None
        if most_chars is not None and not watching:
            template = read_shipped("prompts/consolidate.md")
            budget = unwrap(late.prompt.plan_prompt_budget(template, most_chars, unwrap(self.store.list()).entries))
            window_chars = budget.window_chars(budget.shown_chars)
        surroundings = self.surroundings(known_directories)
        return late.backfill.BackfillIo(
            finders=late.harness.watched_finders(surroundings)
            if watching
            else late.harness.session_finders(surroundings),
            histories=self.histories,
            inbox=self.inbox,
            marks=self.marks,
            clock=self.clock,
            calls_for=lambda history: (
                0 if window_chars is None else len(late.windows.cut_windows(history, window_chars))
            ),
            repo_of=lambda directory: read_repository(directory, self.environ).repo,
            is_private=is_marked,
            switches=self.switches,
            tombstones=self.tombstones,
            progress=_silent if watching else self.progress,
            loose=lambda read, unread: late.harness.loose_sessions(
                self.histories, unread | set(files_below(directory) if directory else ()) - read
            ),
        )

    @as_result
    def watch(
        self,
        harnesses: Sequence[Harness],
        rest: late.found_session.Rest,
        stop: Event,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
        *,
        wait_for_transcripts: bool = False,
    ) -> late.backfill.Watching:
        """Captures sessions as they come to rest, until `stop` is set. UsageInvalid where there are no transcripts yet
        and they are not to be waited for."""
        io = self.backfill_io(watching=True)
        chosen = {harness: finder for harness, finder in io.finders.items() if not harnesses or harness in harnesses}
        directories = late.harness.watched_directories(chosen)
        # A directory that may or may not be there is watched like the others.
        are_missing = all(as_result(is_directory)(each) == Success(False) for each in directories)
        if chosen and not wait_for_transcripts and are_missing:
            problem = f"There are no transcripts yet in {', '.join(directories) or 'any known directory'}"
            raise UsageInvalid(problem, "--wait-for-transcripts waits for them.")
        return unwrap(late.backfill.watch(late.backfill.WatchIo(io, stop, self.hand_over, tell, warn), harnesses, rest))

    @as_result
    def hand_over(self, found: late.found_session.FoundSession) -> str | None:
        """Updates the handoff note of a session; None where there is nothing to hand over."""
        try:
            taken = unwrap(self.take_over(found.session_id, found.harness))
        except UsageInvalid:
            return None
        return unwrap(late.handing_over.keep_handover(self.handing_over_io(), taken, unasked=True)).id

    def take_over(
        self, session_id: str | None = None, harness: Harness | None = None, *, recovers: bool = False
    ) -> Result[late.handing_over.Taken, Error]:
        """Returns the session with this id, else the newest of the working directory's scope, read for whoever takes it
        over. Whoever `recovers` one is given its last messages, also if no hook has told of it."""
        io = self.handing_over_io()
        if recovers:
            # A session in which something was said within a minute counts as still running.
            at_work_ms = self.clock.now_ms() - 60_000 if self.caller.is_agent else None
            io = evolve(io, recovers=True, rested_by_ms=at_work_ms)
        if session_id is None:
            return late.handing_over.take_newest(
                evolve(io, recent=self._recent_on_disk) if recovers else io, self.scope_on_arrival(), harness
            )
        now_ms = self.clock.now_ms()
        could_be = late.queue.possible_retrievals(session_id, harness)
        guesses = [late.queue.InboxEntry(now_ms, each, how) for each, how in could_be]
        return late.handing_over.take_named(io, session_id, harness, guesses)

    def _recent_on_disk(self) -> Iterator[Result[late.queue.InboxEntry, Error]]:
        """Yields the sessions of the last days whose transcripts lie here, and those that were captured, newest first."""
        from heapq import merge

        def minus_at(each: Result[late.queue.InboxEntry, Error]) -> float:
            return each.map(lambda entry: -float(entry.at_ms)).value_or(-inf)

        since_ms = self.clock.now_ms() - late.handoff.INTERRUPTED_DAYS * DAY_MS
        found: list[Result[late.queue.InboxEntry, Error]] = []
        for finder in late.harness.watched_finders(self.surroundings()).values():
            for each in finder.find(since_ms):
                for trouble in warning_of(each):
                    self.warn(trouble)
                if not isinstance(each, Failure):
                    one = each.unwrap()
                    entry = late.queue.InboxEntry(
                        one.changed_at_ms, one.harness, one.retrieval, late.queue.Context(cwd=one.cwd)
                    )
                    found.append(Success(entry))
        return merge(sorted(found, key=minus_at), self.inbox.recent(), key=minus_at)

    @as_result
    def checkpoint(
        self, session_id: str | None = None, harness: Harness | None = None
    ) -> tuple[late.handing_over.Taken, late.handing_over.Kept]:
        """Captures a session, if that is still to be done, and keeps its handoff, if there is something to hand over."""
        taken = unwrap(self.take_over(session_id, harness, recovers=True))
        if late.queue.queue_key(taken.entry, "") not in unwrap(self.inbox.known()).waiting:
            unwrap(self.inbox.put(taken.entry))
        return taken, unwrap(late.handing_over.keep_handover(self.handing_over_io(), taken, unasked=True))

    def handing_over_io(self) -> late.handing_over.HandingOverIo:
        return late.handing_over.HandingOverIo(
            histories=self.histories,
            kept=self.kept_histories,
            tombstones=self.tombstones,
            switches=self.switches,
            holds_back=self.config.review.before,
            scope_of=self.scope_of,
            writes=self.writes,
            clock=self.clock,
            recent=self.inbox.recent,
            handoff_days=self.config.limits.handoff_days,
        )

    # -- what is told of the store ------------------------------------------------------------------------------------

    @as_result
    def why_entry(
        self, id: str, reading: Reading, told_where: Callable[[Listed], tuple[str, ...]], *, with_commits: bool = True
    ) -> late.why_note.NoteHistory:
        """`memory why ID`: counts no read. `told_where` says to whom a note is told. `with_commits` takes git 1 ms for each
        commit of a store of 10,000 notes."""

        def grounding(stored: StoredEntry) -> tuple[Grounding, ...]:
            return self.grounding(stored).get(stored.meta.id, ())

        def revisions(path: str, most: int) -> Result[tuple[late.run_log.Revision, ...], Error]:
            return late.git_history.revisions_of(self.git_process, path, most) if with_commits else Success(())

        why = unwrap(late.why_note.note_history(id, reading, self.log, revisions, told_where, grounding))
        return evolve(why, unmerged=self.branch_mark(why.sources))

    def why_session(self, session_id: str) -> Result[late.why_session.FoundSessions, Error]:
        """`memory why --session`: changes nothing."""
        deferred = self.run_records.deferred
        return late.why_session.find_sessions(session_id, self.root, self.reading, self.log, self.marks, deferred)

    @as_result
    def sessions(
        self,
        is_wanted: Callable[[str, str, int], bool] = lambda scope, harness, last_at_ms: True,
        most: float = inf,
    ) -> tuple[late.session_list.SessionLine, ...]:
        """Returns the known sessions, the newest first, and what became of their notes; those of excluded projects are
        left out. The transcripts of the first `most` that still wait are looked into, for at most a second."""
        until = inf

        def first_words_of(capture: late.session_list.Captured) -> str:
            nonlocal until, most
            most -= 1
            if most < 0 or time.monotonic() >= until:
                return ""
            place, _, name = capture.path.rpartition("/")
            entry = as_result(late.inbox_files.entry_in)(self.real_root, place, name).value_or(None)
            history = None if entry is None else self.histories.fetch(entry, None).value_or(None)
            until = min(until, time.monotonic() + 1)
            return "" if history is None or history.own_call else late.kept_histories_files.first_words(history)

        self.session_index.refresh(self.progress)
        listings = unwrap(self.store.listings())
        notes = [each for listing in listings for each in listing.entries]
        return late.session_list.list_sessions(
            *late.session_list.told_by_files(self.session_index),
            self.session_index.database.read(late.session_index.indexed_parts).values(),
            self.session_scopes(),
            self.reading.seen(notes),
            DeliveryLog(self.real_root).deliveries(),
            unwrap(self.ledger.totals()),
            first_words_of,
            is_wanted,
        )

    @as_result
    def find_session(self, session_id: str) -> tuple[late.forgotten.SessionKey, ...]:
        """Returns the sessions with this id, or else the one whose id begins with it; none if nothing is known of it."""
        found = unwrap(self.why_session(session_id)).sessions
        return tuple(late.forgotten.SessionKey(each.session_id, Harness(each.harness)) for each in found)

    @as_result
    def run_diff(
        self, name: str | None = None, *, backwards: bool = False
    ) -> tuple[late.run_log.LoggedRun, tuple[late.diffs.DiffPart, ...]]:
        """Returns what a run changed, or, backwards, what undoing it would change. It shows nothing of hidden notes."""
        run = (
            late.undo.newest_run(self.log, lambda run: run.kept)
            if name is None
            else late.undo.chosen_run(self.log, name)
        )
        footprint = late.undo.footprint_of(self.log, run)
        footprint = late.diffs.backwards(footprint) if backwards else footprint
        hidden = self.reading.hidden_ids()
        return run.without(hidden), late.diffs.diff_parts(footprint, self._titles(), hidden)

    def shown_runs(self, runs: Iterable[late.run_log.LoggedRun]) -> tuple[late.run_log.LoggedRun, ...]:
        """Returns the runs without the words about notes that are hidden."""
        hidden = self.reading.hidden_ids()
        return tuple(each.without(hidden) for each in runs)

    def _titles(self) -> Mapping[str, str]:
        notes = (each.meta for each in unwrap(self.store.list()).entries)
        return {meta.id: meta.title for meta in notes if not meta.is_secret}

    @as_result
    def diff_since(self, when: int | str) -> tuple[str | None, tuple[late.diffs.DiffPart, ...]]:
        """Returns a commit, the last one by an instant (epoch ms; None if there was none yet) or the one named, and what
        changed since."""
        self.caller.only_a_person("diff --since")
        commit = late.why_note.commit_at(self.git_process, when)
        changes = late.why_note.changes_since(self.git_process, commit, self._forgotten())
        return commit, late.diffs.diff_parts(changes, self._titles(), self.reading.hidden_ids())

    @as_result
    def notes_at(self, when: int | str) -> tuple[str | None, tuple[tuple[Meta, str], ...]]:
        """Returns such a commit and the notes that were live then, each with its text; none that is secret or forgotten."""
        self.caller.only_a_person("show --at")
        commit = late.why_note.commit_at(self.git_process, when)
        return commit, tuple(
            late.why_note.notes_at(self.git_process, commit, self._forgotten(), self.reading.hidden_ids())
        )

    def _forgotten(self) -> late.why_note.Forgotten:
        there = {id for listing in unwrap(self.store.listings()) for id in listing.by_id}
        return unwrap(self.tombstones.of_entries()), there

    @as_result
    def health(self) -> late.health.Health:
        inputs, here = (self.config, self.agent(), self.reading, self.inbox, self.log, self.spend), self.notes_here
        health = late.health.read_health(*inputs, self.cwd)
        runs, switches = self.shown_runs(health.last_runs), (*health.switches, *here.team.untold)
        waiting = self.reviewing.items(compares=False).value_or(())
        to_review = sum(each.put_off_until_ms is None for each in waiting)
        return evolve(health, last_runs=runs, switches=switches, team=len(here.added), to_review=to_review)

    @as_result
    def statistics(self, days: int) -> late.statistics.Statistics:
        """Returns the size of the store and its use over so many days up to now. Counts no read."""
        live = unwrap(self.reading.list(ListFilter()))
        if live.untiered is not None:  # all other numbers are there
            self.warn(f"The tiers are not known. {live.untiered!s}")
        archive = unwrap(self.reading.list(ListFilter(), archived=True))
        return late.statistics.statistics_of(
            late.statistics.period_of(self.clock.now_ms() // DAY_MS, days),
            notes=[
                (each.listed.meta, status_shown(each.listed.meta.status, each.tier), each.tier) for each in live.entries
            ],
            archived=[each.listed.meta for each in archive.entries],
            unreadable=len(live.unreadable),
            reads=unwrap(self.ledger.day_reads()),
            reads_ever=sum(each.count for each in unwrap(self.ledger.totals()).values()),
            spend=unwrap(self.spend.days()),
            captures=unwrap(late.inbox_files.captures(self.real_root)),
            deliveries=DeliveryLog(self.real_root).deliveries(),
            runs=unwrap(self.log.runs(late.run_log.MOST_RUNS)),
        )

    @as_result
    def use(self, days: int) -> late.use.Use:
        """Returns what came of the notes that sessions on this machine were told over so many days up to now, but of none
        that no session may be told now. Counts no read."""
        io, known = self.handing_over_io(), frozenset(map(str, Harness)) - {Harness.MANUAL}

        def history_of(newest: Delivery) -> late.history.History | None:
            if newest.harness not in known:
                return None
            harness = Harness(newest.harness)
            how = late.queue.retrieval_of(harness, newest.session, newest.transcript or None)
            entry = late.queue.InboxEntry(newest.at_ms, harness, how, late.queue.Context(repo=newest.scope or None))
            return late.handing_over.history_beyond(io, entry, newest.at_ms).value_or(None)

        deliveries = tuple(DeliveryLog(self.real_root).deliveries())
        told = {id for each in deliveries for id in each.ids}
        live = unwrap(self.notes_here.list()).entries
        listed = [each for each in shown_to_agents(live) if each.meta.id in told]
        read = (self.notes_here.read_again(each).value_or(None) for each in listed)
        notes = {each.meta.id: each for each in read if each is not None}
        return late.use.use_of(
            late.statistics.period_of(self.clock.now_ms() // DAY_MS, days), deliveries, notes, history_of, self.progress
        )

    # -- care ---------------------------------------------------------------------------------------------------------

    def repair(self) -> Result[tuple[late.repairer.Repair, late.checks.DoctorReport], Error]:
        """For `memory doctor --fix`; `Busy` when a run is at work."""
        doctor = self.doctor()
        return late.repairer.Repairer(doctor, self.git_process, self.writes, self.publish, self.finish_runs).repair()

    def doctor(self) -> late.doctor.Doctor:
        return late.doctor.Doctor(
            self.root,
            self.environ,
            self.effective,
            self.reading,
            health=self.health,
            scopes=self.scopes.list,
            team=lambda: self.team_at(self.cwd),
            dry_publish=lambda: self.publish(dry_run=True),
            examination=self._examination(),
        )

    # -- forgetting and sync -------------------------------------------------------------------------------------------

    @as_result
    def look_at_forgetting(self, target: late.forgotten.ForgetTarget) -> late.forgotten.Forgetting:
        """Returns everything that `forget` would do; nothing is changed. Refused where an agent is calling, as
        forgetting itself is."""
        self.caller.only_a_person("forget")
        found = self._forgetter().look(target)
        if target.session is not None and not found.is_known and late.drafts.has_secret(target.session.session_id):
            raise UsageInvalid("Nothing comes from that session, and its id looks like a secret: no mark of it is kept")
        return found

    @as_result
    def forget(self, seen: late.forgotten.Forgetting) -> late.forgotten.Forgetting:
        """Forgets what was looked at; EntryChanged where there is more by now than what was seen. `Busy` when a run is
        at work. Only for a person."""
        self.caller.only_a_person("forget")
        with self.locks.run():
            self.finish_all()
            return self._forgetter().forget_what_was_seen(seen)

    @as_result
    def purge_state(self, key: str) -> None:
        """Deletes what is kept under a key, and rewrites the git history without it. StateNotFound where neither holds
        anything of it; `Busy` when a run is at work. Only for a person."""
        path = late.bookkeeping.path_of(key)
        self.caller.only_a_person("state delete --purge")
        if (problem := late.bookkeeping.key_problem(key)) is not None:
            raise StateInvalid((problem,))
        with self.locks.run():
            self.finish_all()
            if not (exists(f"{self.real_root}/{path}") or late.git_history.is_in_history(self.git_process, path)):
                raise StateNotFound(key)
            self._forgetter().purge_state(path)

    def _forgetter(self) -> late.forgetter.Forgetter:
        writes = self.writes
        return late.forgetter.Forgetter(
            self.git_process,
            self.store.files,
            self.session_index,
            writes,
            self.clock,
            publish=lambda: writes.tolerate(self.publish()),
            targets=self.targets,
        )

    @as_result
    def sync(self, request: late.synchroniser.SyncRequest) -> late.synchroniser.Synced:
        """Merges with the store's git remote, both ways. `Busy` when a run is at work. Only a person may name a remote
        or confirm a purge."""
        if request.after_purge or request.remote is not None:
            self.caller.only_a_person("sync --after-purge" if request.after_purge else "sync --remote")
        if not self.config.storage.auto_commit:
            because = "storage.autoCommit is off, and what is not committed cannot be synced"
            raise SyncRefused(because, "Set it to true.")
        commits, program = late.synchroniser.Commits(self.git_process), memory_program(self.environ)
        synchroniser = late.synchroniser.Synchroniser(
            commits, self.writes, self.clock, self._forgetter(), program, self.progress
        )
        with self.locks.run():
            if not request.dry_run:
                self.finish_all()
            return synchroniser.sync(evolve(request, remote=late.remote.whole_address(request.remote, self.cwd)))

    # -- setup and the schedule -----------------------------------------------------------------------------------------

    def installation(self) -> late.installation.Installation:

        def section_of(path: str, in_repository: bool) -> str:
            (target,) = self._targets_at([path])
            return unwrap(self.publisher.render(evolve(target, in_repository=in_repository))).text

        home, program = self._home_and_program()
        return late.installation.Installation(
            context=late.installation.shipped_context(home, program, self.environ),
            environ=self.environ,
            root=self.root,
            files=late.plan.SettingsFiles(self.targets),
            state=late.plan.SetupState(home),
            config=self.config,
            section_of=section_of,
        )

    def scheduling(self) -> late.scheduling.Scheduling:
        home, program = self._home_and_program()
        files = late.plan.SettingsFiles(self.targets)
        return late.scheduling.open_scheduling(home, program, self.config.schedule, files, self.real_root, self.environ)

    def _home_and_program(self) -> tuple[str, str]:
        program = memory_program(self.environ)
        if program is None:
            raise UsageInvalid("There is no command `memory` on PATH", "Install agent-memory, then try again.")
        return home_of(self.environ), program
