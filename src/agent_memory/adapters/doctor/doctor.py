"""Looking at a whole store. Nothing is changed, and whatever is damaged hides nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TypeVar

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.doctor.files import is_written, walk
from agent_memory.adapters.doctor.notes import NoteChecks
from agent_memory.adapters.doctor.state import (
    agent_trouble,
    examine_pending,
    examine_state,
    examine_vocabulary,
    read_git,
)
from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.adapters.inbox.inbox_reading import failed_entries, printable
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles, TagVocabularyFile
from agent_memory.adapters.records.health_files import hook_log_of, stamp_of, unrecorded_writes
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.adapters.store.entry_files import JOURNAL
from agent_memory.config import Config
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Check, DoctorReport, Finding, in_order, trouble
from agent_memory.domain.doctor.store_checks import (
    Found,
    ScheduleFacts,
    examine_failed,
    examine_files,
    examine_git,
    examine_hook_problems,
    examine_last_run,
    examine_schedule,
    examine_spend,
    examine_targets,
    examine_tiers,
    examine_troubles,
)
from agent_memory.domain.entry import Listing, without_secret
from agent_memory.domain.history import SessionMark
from agent_memory.domain.instants import HOUR_MS, ms_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.scope_use import ScopeUse
from agent_memory.domain.section import Published
from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiers import TierList
from agent_memory.errors import Error
from agent_memory.ports import Clock, RunLog, SpendLedger, Store
from agent_memory.results import sealed
from agent_memory.wording import describe

T = TypeVar("T")

_LOOKED_BACK_RUNS = 300
"""A month of runs every two hours, and then some: what came before says nothing of a schedule."""
_SENTENCE_CHARS = 600
_NOTHING = Listing(())


@frozen
class Doctor:
    """`examine()` looks at everything that `memory doctor` tells of."""

    root: Path
    environ: Mapping[str, str]
    config: Config
    clock: Clock
    store: Store
    inbox: InboxFiles
    ledger: UsageLedgerFiles
    spend: SpendLedger
    runs: RunLog
    dry_publish: Callable[[], Result[Published, Error]]
    scopes: Callable[[], Result[tuple[ScopeUse, ...], Error]] = lambda: Success(())
    """The places that notes belong to."""
    false_copies: Callable[[], tuple[SessionMark, ...]] = tuple
    warnings: tuple[str, ...] = ()
    """Of the configuration."""
    names_secret: bool = True
    """Whether secret notes may be named: not to an agent."""
    progress: Callable[[str], None] = field(default=lambda _: None)

    def examine(self) -> DoctorReport:
        """All findings."""
        findings: list[Finding] = []
        walked = self._walked(findings)
        root, now_ms = str(self.root), self.clock.now_ms()
        of_files = tuple(examine_files(walked, os.getuid(), lambda found: is_written(root, found, now_ms)))
        live = self._kept(self.store.list(), findings, of.UNREADABLE_STORE, _NOTHING)
        archive = self._kept(self.store.list(archived=True), findings, of.UNREADABLE_STORE, _NOTHING)
        tiers = self._kept(self.store.tiers(), findings, of.TIERS_DAMAGED, TierList())
        shown = live if self.names_secret else evolve(live, entries=without_secret(live.entries))
        vocabulary = TagVocabularyFile(self.root).get()
        findings += examine_vocabulary(vocabulary)
        findings += self._notes(vocabulary.value_or(TagVocabulary())).findings(shown, archive, tiers)
        findings += examine_tiers(tiers, live.entries)
        findings += self._of(self.scopes(), _gone_places, of.UNREADABLE_STORE)
        findings += self._of(self.dry_publish(), examine_targets, of.UNREADABLE_STORE)
        findings += self._inbox_and_runs(walked)
        findings += self._git(live)
        findings += of_files
        findings += self._files(walked)
        found = in_order([_printable(each) for each in findings])
        return DoctorReport(str(self.root), len(live.entries), len(archive.entries), found)

    def _notes(self, vocabulary: TagVocabulary) -> NoteChecks:
        return NoteChecks(self.root, self.config, self.ledger, self.clock.now_ms(), vocabulary, self.progress)

    # -- what runs leave ----------------------------------------------------------------------------------------------

    def _inbox_and_runs(self, walked: Sequence[Found]) -> Iterator[Finding]:
        root, now_ms = str(self.root), self.clock.now_ms()
        yield from self._of(failed_entries(root), examine_failed, of.UNREADABLE_STORE)
        troubles = QueueTroubles(root).read().map(lambda found: tuple(sorted(found.items())))
        yield from self._of(troubles, examine_troubles, of.DAMAGED_STATE)
        names = self.inbox.names()
        yield from self._of(names, lambda found: examine_pending(root, found, walked, now_ms), of.UNREADABLE_STORE)
        for mark in self.false_copies():
            words = "It says that all of the session is in another one, which is not so: nothing was learned from it"
            yield of.NO_COPY.found(SessionMarksFiles.path_of(mark), words)
        findings: list[Finding] = []
        runs = self._kept(self.runs.runs(_LOOKED_BACK_RUNS), findings, of.DAMAGED_STATE, ())
        yield from findings
        yield from examine_last_run(runs[0] if runs else None)
        since = _end_of(runs)
        hooks = hook_log_of(self.root, self.environ)
        yield from (trouble(error, of.UNREADABLE_STORE) for error in hooks.unread)
        yield from examine_hook_problems([each for each in hooks.problems if (ms_of(each.at) or since) >= since])
        oldest = names.map(lambda found: stamp_of(found[0]) if found else None).value_or(None)
        schedule = self.config.schedule
        yield from examine_schedule(
            ScheduleFacts(
                now_ms,
                schedule.consolidate_interval_hours * HOUR_MS,
                schedule.defrag_interval_hours * HOUR_MS,
                oldest,
                runs,
            )
        )
        limit = self.config.llm.max_calls_per_day
        yield from self._of(self.spend.days(), lambda days: examine_spend(days, limit, now_ms), of.DAMAGED_STATE)
        if error := agent_trouble(self.config.llm, self.environ):
            yield of.AGENT_UNUSABLE.found("llm", describe(error).rstrip("."))

    # -- files --------------------------------------------------------------------------------------------------------

    def _git(self, live: Listing) -> Iterator[Finding]:
        if self.config.storage.auto_commit:
            findings: list[Finding] = []
            owed = self._kept(unrecorded_writes(self.root), findings, of.UNREADABLE_STORE, 0)
            yield from findings
            yield from examine_git(read_git(self.root, self.environ, owed), has_notes=bool(live.entries))

    def _walked(self, findings: list[Finding]) -> Sequence[Found]:
        """Everything below the root. What cannot be looked at is told, and missing nowhere unsaid (P6)."""
        found: list[Found] = []
        for each in walk(str(self.root)):
            if isinstance(each, OSError):
                error = store_io(each, "look at", str(each.filename or self.root))
                findings.append(trouble(error, of.UNREADABLE_STORE))
            else:
                found.append(each)
        return found

    def _files(self, walked: Sequence[Found]) -> Iterator[Finding]:
        now_ms = self.clock.now_ms()
        yield from examine_state(str(self.root), walked, now_ms)
        yield from self._of(is_there(str(self.root / JOURNAL)), _unfinished_write, of.UNREADABLE_STORE)
        for warning in self.warnings:
            yield of.SETTING.found("config", warning.rstrip("."))

    # -- errors -------------------------------------------------------------------------------------------------------

    def _kept(self, result: Result[T, Error], findings: list[Finding], check: Check, instead: T) -> T:
        match sealed(result):
            case Failure(error):
                findings.append(trouble(error, check))
                return instead
            case Success(value):
                return value

    def _of(
        self, result: Result[T, Error], examine: Callable[[T], Iterable[Finding]], check: Check
    ) -> Iterator[Finding]:
        match sealed(result):
            case Failure(error):
                yield trouble(error, check)
            case Success(value):
                yield from examine(value)


def _unfinished_write(has_journal: bool) -> Iterator[Finding]:
    if has_journal:
        yield of.UNFINISHED_WRITE.found(JOURNAL, "A change of several files was cut short, and could not be undone yet")


def _gone_places(uses: Iterable[ScopeUse]) -> Iterator[Finding]:
    for each in uses:
        if each.is_gone:
            verb, new = ("merge", quote(each.now)) if each.now else ("rename", "NEW")
            count = f"{each.notes} note{'' if each.notes == 1 else 's'}"
            act = f"`memory scope {verb} {quote(each.scope)} {new}` gives them to where it is now"
            yield of.GONE_PLACE.found(each.scope, f"This place is gone, and no session is told its {count}; {act}")


def _printable(finding: Finding) -> Finding:
    """File names and titles may hold what would not print, or would do more than print, and settings a secret."""
    subject, sentence = printable(finding.subject), one_line(redact(finding.sentence).text, _SENTENCE_CHARS)
    if subject == finding.subject and sentence == finding.sentence:
        return finding
    return evolve(finding, subject=subject, sentence=sentence)


def _end_of(runs: tuple[LoggedRun, ...]) -> int:
    return (runs[0].ended_at_ms or 0) if runs else 0
