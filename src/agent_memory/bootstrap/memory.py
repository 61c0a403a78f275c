"""One store with everything that acts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from returns.result import Result, Success

from agent_memory.adapters.surroundings.config_files import load_config
from agent_memory.bootstrap.parts import Parts, Warn
from agent_memory.errors import Error

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from agent_memory.adapters.forgetting.forgetting_look import Found
    from agent_memory.adapters.setup.installation import Installation
    from agent_memory.adapters.surroundings.config_files import Effective
    from agent_memory.adapters.surroundings.places_files import PlacesFiles
    from agent_memory.domain.backfill import Backfill
    from agent_memory.domain.defrag_run import DefragRun
    from agent_memory.domain.doctor.catalogue import DoctorReport, Repair, SecretSearch
    from agent_memory.domain.explaining.entry_story import EntryStory
    from agent_memory.domain.explaining.session_trace import FoundSessions
    from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
    from agent_memory.domain.forgetting.sources import SessionKey
    from agent_memory.domain.health import Health
    from agent_memory.domain.injecting.passage import Injection
    from agent_memory.domain.injecting.request import InjectRequest
    from agent_memory.domain.merging.synced import Synced, SyncRequest
    from agent_memory.domain.note_draft import Caller
    from agent_memory.domain.run import Run
    from agent_memory.domain.run_log import LoggedRun
    from agent_memory.domain.searching.search_answer import SearchAnswer
    from agent_memory.domain.searching.search_request import SearchRequest
    from agent_memory.domain.section import Published, RenderedSection
    from agent_memory.domain.statistics.statistics import Statistics
    from agent_memory.domain.undo_run import Undone
    from agent_memory.domain.vocabulary import Harness
    from agent_memory.domain.watching import Rest
    from agent_memory.formats.footprint_diff import DiffPart
    from agent_memory.pipelines.handing_over import Kept, Taken
    from agent_memory.pipelines.upgrading import Upgrades
    from agent_memory.pipelines.watch import Watching
    from agent_memory.publishing import KeepSections, Publisher
    from agent_memory.scope_keeping import ScopeKeeping
    from agent_memory.service import MemoryService
    from agent_memory.state_keeping import StateKeeping
    from agent_memory.tag_keeping import TagKeeping

# Each act is wired in a room of its own, which is loaded when somebody does it.


def open_memory(environ: Mapping[str, str], cwd: Path | str | None, warn: Warn) -> Result[Memory, Error]:
    """The memory that this environment names. Nothing is created or changed until something is written."""

    def opened(effective: Effective) -> Memory:
        for warning in effective.warnings:
            warn(warning)
        return Memory(environ, None if cwd is None else str(cwd), effective, warn)

    return load_config(environ, None if cwd is None else str(cwd)).map(opened)


class Memory(Parts):
    """One store with everything that acts on it."""

    @cached_property
    def service(self) -> MemoryService:
        """For what changes entries."""
        from agent_memory.bootstrap.tagging import kept_vocabulary
        from agent_memory.service import MemoryService

        return MemoryService(
            self.store,
            self.ledger,
            self.recorder,
            self.clock,
            self.caller,
            self.warn,
            self.locks,
            self.publish,
            lambda: self.known,
            vocabulary=lambda: kept_vocabulary(self),
        )

    @property
    def state(self) -> StateKeeping:
        """For small values by key."""
        from agent_memory.bootstrap import keeping_state

        return keeping_state.state_keeping(self)

    @property
    def tags(self) -> TagKeeping:
        """For the tags of all notes together."""
        from agent_memory.bootstrap import tagging

        return tagging.tag_keeping(self)

    def scope_here(self) -> str:
        """The scope key of the working directory; notes that it had under an earlier key follow (`ScopeKeeping.arrive`)."""
        return self.arriving.scope_of(self.cwd)

    @property
    def arriving(self) -> PlacesFiles:
        """`places` for whoever comes to work there."""
        from agent_memory.bootstrap import scoping

        return scoping.arriving(self)

    @property
    def scopes(self) -> ScopeKeeping:
        """For the places that notes belong to."""
        from agent_memory.bootstrap import scoping

        return scoping.scope_keeping(self)

    def called_by(self, caller: Caller) -> Memory:
        """The same store on behalf of somebody else, for a process that serves several."""
        other = Memory(self.environ, self.cwd, self.effective, self.warn, caller)
        other.locks, other.store = self.locks, self.store
        return other

    @cached_property
    def publisher(self) -> Publisher:
        from agent_memory.bootstrap import publishing

        return publishing.publisher_of(self)

    def publish(
        self, paths: Sequence[str] | None = None, *, dry_run: bool = False, keep: KeepSections | None = None
    ) -> Result[Published, Error]:
        """Bring the managed section of every configured target up to date, or of these files. `keep` is told how sections
        are about to change. A configured path is absolute or below `~`; another counts from the working directory."""
        from agent_memory.bootstrap import publishing

        return publishing.publish(self, paths, dry_run=dry_run, keep=keep)

    def section_here(self) -> Result[RenderedSection, Error]:
        """The section that a file in the working directory would hold."""
        from agent_memory.bootstrap import publishing

        return publishing.section_here(self)

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
        from agent_memory.bootstrap import consolidating

        ended = consolidating.consolidate(
            self, limit=limit, dry_run=dry_run, retry_failed=retry_failed, upgrade=upgrade, progress=progress
        )
        if isinstance(ended, Success) and not dry_run:
            self.index_all(progress)
        return ended

    def upgrades(self) -> Result[Upgrades, Error]:
        """The sessions that `consolidate(upgrade=True)` would hand to the configured command; none where that is the
        built-in itself."""
        from agent_memory.bootstrap import consolidating

        return consolidating.upgrades(self)

    def defrag(
        self, *, dry_run: bool = False, force: bool = False, progress: Callable[[str], None] = lambda _: None
    ) -> Result[DefragRun, Error]:
        """One run under the run lock; `Busy` when another is at work."""
        from agent_memory.bootstrap import defragging

        ended = defragging.defrag(self, dry_run=dry_run, force=force, progress=progress)
        if isinstance(ended, Success) and not dry_run:
            self.index_all(progress)
        return ended

    def undo(self, name: str | None = None, *, dry_run: bool = False) -> Result[Undone, Error]:
        """Put everything back to what it was before a run. Refused where an agent is calling: it would take away what a
        person's memory holds, and could bring back what they got rid of."""
        from agent_memory.bootstrap import undoing

        return undoing.undo(self, name, dry_run=dry_run)

    def search(self, request: SearchRequest) -> Result[SearchAnswer, Error]:
        """The best entries for a query. Counts no read."""
        from agent_memory.bootstrap import searching

        return searching.search(self, request)

    def index_all(self, progress: Callable[[str], None] = lambda _: None, *, by_meaning: bool = True) -> None:
        """Bring the index of searches up to date, however long it takes: so that no search answers from half of it; where
        meanings are installed, theirs too. Best effort: an index that cannot be kept is made by the next search."""
        from agent_memory.bootstrap import searching

        searching.index_all(self, progress, by_meaning=by_meaning)

    def look_at_forgetting(self, target: ForgetTarget) -> Result[Found, Error]:
        """All that `forget` would do: nothing is changed. Refused where an agent is calling, as forgetting itself is."""
        from agent_memory.bootstrap import forgetting

        return forgetting.look_at_forgetting(self, target)

    def forget(self, seen: Found) -> Result[Forgetting, Error]:
        """Forget what was looked at; EntryChanged where there is more by now than what was seen. `Busy` when a run is at
        work. For a person alone."""
        from agent_memory.bootstrap import forgetting

        return forgetting.forget(self, seen)

    def purge_state(self, key: str) -> Result[None, Error]:
        """Delete what is kept under a key, and rewrite the git history without it. StateNotFound where neither holds anything
        of it; `Busy` when a run is at work. For a person alone."""
        from agent_memory.bootstrap import forgetting

        return forgetting.purge_state(self, key)

    def plan_backfill(
        self,
        harnesses: Sequence[Harness] = (),
        since_ms: int | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Result[Backfill, Error]:
        """The past sessions of these harnesses (of all, where none is named), and which say something new."""
        from agent_memory.bootstrap import backfilling

        return backfilling.plan_backfill(self, harnesses, since_ms, progress)

    def put_backfill(self, backfill: Backfill) -> Result[Backfill, Error]:
        """Put what is wanted of a plan into the inbox, oldest first."""
        from agent_memory.bootstrap import backfilling

        return backfilling.put_backfill(self, backfill)

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
        from agent_memory.bootstrap import watching

        return watching.watch(self, harnesses, rest, stop, tell, warn, wait_for_transcripts=wait_for_transcripts)

    def take_over(self, session_id: str | None = None, harness: Harness | None = None) -> Result[Taken, Error]:
        """The session with this id, else the newest of the working directory's scope, read for whoever takes it over."""
        from agent_memory.bootstrap import handing_over

        return handing_over.take_over(self, session_id, harness)

    def keep_handover(self, taken: Taken) -> Result[Kept, Error]:
        """The session's one handoff note, written or brought up to date."""
        from agent_memory.bootstrap import handing_over

        return handing_over.keep_handover(self, taken)

    def inject(self, request: InjectRequest) -> Result[Injection, Error]:
        """What an agent is to know, within a budget of tokens, ready to stand in front of it; empty where there is nothing.
        Recorded as a delivery; counts no read."""
        from agent_memory.bootstrap import injecting

        return injecting.inject(self, request)

    def why_entry(self, id: str) -> Result[EntryStory, Error]:
        """For `memory why ID`: counts no read."""
        from agent_memory.bootstrap import explaining

        return explaining.why_entry(self, id)

    def why_session(self, session_id: str) -> Result[FoundSessions, Error]:
        """For `memory why --session`: changes nothing."""
        from agent_memory.bootstrap import explaining

        return explaining.why_session(self, session_id)

    def find_session(self, session_id: str) -> Result[tuple[SessionKey, ...], Error]:
        """The sessions with this id, or else the one whose id begins so; none where nothing is known of it."""
        from agent_memory.bootstrap import explaining

        return explaining.find_session(self, session_id)

    def run_diff(
        self, name: str | None = None, *, backwards: bool = False
    ) -> Result[tuple[LoggedRun, tuple[DiffPart, ...]], Error]:
        """What a run changed, or, backwards, what undoing it would change. An agent is not shown what is secret."""
        from agent_memory.bootstrap import explaining

        return explaining.run_diff(self, name, backwards=backwards)

    def health(self) -> Result[Health, Error]:
        """For `memory status`."""
        from agent_memory.bootstrap import health

        return health.health(self)

    def statistics(self, days: int) -> Result[Statistics, Error]:
        """What the store and its use come to, over so many days up to now. Counts no read."""
        from agent_memory.bootstrap import statistics

        return statistics.statistics(self, days)

    def examine(self, progress: Callable[[str], None] = lambda _: None) -> DoctorReport:
        """For `memory doctor`: looks at everything, and changes nothing."""
        from agent_memory.bootstrap import examining

        return examining.examine(self, progress)

    def repair(self, progress: Callable[[str], None] = lambda _: None) -> Result[Repair, Error]:
        """For `memory doctor --fix`; `Busy` when a run is at work."""
        from agent_memory.bootstrap import examining

        return examining.repair(self, progress)

    def search_secrets(self, progress: Callable[[str], None] = lambda _: None) -> SecretSearch:
        """For `memory doctor --secrets`: looks at every file and at all that git keeps, and changes nothing."""
        from agent_memory.bootstrap import examining

        return examining.search_secrets(self, progress)

    def sync(self, request: SyncRequest, progress: Callable[[str], None] = lambda _: None) -> Result[Synced, Error]:
        """Merge with the store's git remote, both ways. `Busy` when a run is at work. To name a remote, and to confirm a
        purge, is for a person."""
        from agent_memory.bootstrap import syncing

        return syncing.sync(self, request, progress)

    def installation(self) -> Result[Installation, Error]:
        """For `memory setup` and `memory uninstall`."""
        from agent_memory.bootstrap import installing

        return installing.installation(self)
