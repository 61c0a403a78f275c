"""Looking at a whole store. Nothing is changed, and whatever is damaged hides nothing else."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from shlex import quote

from attrs import evolve, field, frozen
from returns.result import Result, Success

from agent_memory.adapters.disk.paths import exists, store_io
from agent_memory.adapters.doctor.files import Found, check_files, check_state, walk
from agent_memory.adapters.doctor.repository import check_repository
from agent_memory.adapters.doctor.runs import (
    INTERVALS_BEFORE_LATE,
    check_agent,
    check_failed,
    check_hooks,
    check_last_run,
    check_pending,
    check_schedule,
    check_spend,
)
from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.adapters.inbox.inbox_reading import printable
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles, TagVocabularyFile
from agent_memory.adapters.records.health_files import stamp_of
from agent_memory.adapters.records.usage_ledger_files import UsageLedgerFiles
from agent_memory.adapters.store.entry_files import JOURNAL, read_image, understand, understand_again
from agent_memory.config import Config
from agent_memory.domain.analysis.analyze import analyze_features
from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Check, DoctorReport, Finding, in_order, trouble
from agent_memory.domain.doctor.note_checks import (
    NoteFile,
    NoteRules,
    examine_aliases,
    examine_analysis,
    examine_caps,
    examine_clashes,
    examine_copies,
    examine_name,
    examine_note,
    examine_tags,
)
from agent_memory.domain.entry import Listed, Listing, UnreadableFile, Usage, without_secret
from agent_memory.domain.health import ScopeUse
from agent_memory.domain.history import SessionMark
from agent_memory.domain.instants import DAY_MS, HOUR_MS
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.redaction import redact
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.section import Published
from agent_memory.domain.tagging import TagVocabulary
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiers import TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryUnreadable, Error, PathRefused, StoreIo
from agent_memory.formats.note import HEADLESS, written_tags
from agent_memory.ports import Clock, RunLog, SpendLedger, Store
from agent_memory.results import unwrap

_LOOKED_BACK_RUNS = 300
"""A month of runs every two hours, and then some: what came before says nothing of a schedule."""
_SENTENCE_CHARS = 600
_NOTES_A_REPORT = 500


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
        root, now_ms = str(self.root), self.clock.now_ms()
        walked = self._walked(findings)
        live = archive = Listing(())
        tiers, vocabulary = TierList(), TagVocabulary()
        with telling(findings, of.UNREADABLE_STORE):
            live = unwrap(self.store.list())
        with telling(findings, of.UNREADABLE_STORE):
            archive = unwrap(self.store.list(archived=True))
        with telling(findings, of.TIERS_DAMAGED):
            tiers = unwrap(self.store.tiers())
        with telling(findings, of.DAMAGED_STATE):
            vocabulary = unwrap(TagVocabularyFile(self.root).get())
        shown = live if self.names_secret else evolve(live, entries=without_secret(live.entries))
        self._notes(findings, shown, archive, tiers, vocabulary, now_ms)
        findings += check_tiers(tiers, live.entries)
        with telling(findings, of.UNREADABLE_STORE):
            findings += check_places(unwrap(self.scopes()))
        with telling(findings, of.UNREADABLE_STORE):
            findings += check_targets(unwrap(self.dry_publish()))
        self._inbox_and_runs(findings, walked, now_ms)
        if self.config.storage.auto_commit:
            findings += check_repository(self.root, self.environ, has_notes=bool(live.entries))
        findings += check_files(root, walked, now_ms)
        findings += check_state(root, walked)
        with telling(findings, of.UNREADABLE_STORE):
            if exists(f"{root}/{JOURNAL}"):
                words = "A change of several files was cut short, and could not be undone yet"
                findings.append(of.UNFINISHED_WRITE.found(JOURNAL, words))
        findings += [of.SETTING.found("config", warning.rstrip(".")) for warning in self.warnings]
        found = in_order([_printable(each) for each in findings])
        return DoctorReport(root, len(live.entries), len(archive.entries), found)

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

    def _inbox_and_runs(self, findings: list[Finding], walked: Sequence[Found], now_ms: int) -> None:
        root, llm = str(self.root), self.config.llm
        names: tuple[str, ...] = ()
        runs: tuple[LoggedRun, ...] = ()
        with telling(findings, of.UNREADABLE_STORE):
            findings += check_failed(root)
        with telling(findings, of.DAMAGED_STATE):
            unwrap(QueueTroubles(root).read())
        with telling(findings, of.UNREADABLE_STORE):
            names = unwrap(self.inbox.names())
            findings += check_pending(root, names, walked, now_ms)
        for mark in self.false_copies():
            words = "It says that all of the session is in another one, which is not so: nothing was learned from it"
            findings.append(of.NO_COPY.found(SessionMarksFiles.path_of(mark), words))
        with telling(findings, of.DAMAGED_STATE):
            runs = unwrap(self.runs.runs(_LOOKED_BACK_RUNS))
        findings += check_last_run(runs[0] if runs else None)
        findings += check_hooks(self.root, self.environ, (runs[0].ended_at_ms or 0) if runs else 0)
        findings += check_schedule(self.config.schedule, runs, stamp_of(names[0]) if names else None, now_ms)
        with telling(findings, of.DAMAGED_STATE):
            findings += check_spend(unwrap(self.spend.days()), llm.max_calls_per_day, now_ms)
        findings += check_agent(llm, self.environ)

    # -- notes --------------------------------------------------------------------------------------------------------

    def _notes(
        self,
        findings: list[Finding],
        live: Listing,
        archive: Listing,
        tiers: TierList,
        vocabulary: TagVocabulary,
        now_ms: int,
    ) -> None:
        """All that is wrong with notes."""
        copies = tuple(read_copies(str(self.root), live.unreadable, live.entries))
        copied = {note.path for note in copies}
        for file in live.unreadable:
            if file.path not in copied:
                check = of.HEADLESS_NOTE if HEADLESS in file.problems else of.UNREADABLE_NOTE
                findings.append(check.found(file.path, f"It is no note: {'; '.join(file.problems)}"))
        for file in archive.unreadable:
            findings.append(of.UNREADABLE_ARCHIVED.found(file.path, f"It is no note: {'; '.join(file.problems)}"))
        findings += examine_copies(copies)
        paths = {each.meta.id: each.path for each in live.entries}
        findings += examine_clashes(tuple(paths.values()))
        findings += examine_aliases(live.entries)
        features, fresh = self._each_alone(findings, live, vocabulary, now_ms)
        usage: Mapping[str, Usage] = {}
        with telling(findings, of.UNREADABLE_STORE):
            usage = unwrap(self.ledger.survey()).totals
        limits = self.config.limits
        facts = AnalysisFacts(
            now_ms=now_ms,
            taken_ids=taken_ids(live, archive),
            usage=usage,
            stale_days=limits.stale_days,
            # Neither what is hot, and so is read without a read being counted, nor what came into the store lately, from
            # however old a session.
            hot_or_new=frozenset((*tiers.hot, *fresh)),
        )
        analysis = analyze_features(features, facts)
        findings += examine_analysis(analysis, paths)
        findings += examine_tags([each.meta.tags for each in live.entries], vocabulary)
        chars = sum(each.body_chars for each in analysis.profiles.values())
        findings += examine_caps(len(live.entries), chars, max_entries=limits.max_entries, max_chars=limits.max_chars)

    def _each_alone(
        self, findings: list[Finding], live: Listing, vocabulary: TagVocabulary, now_ms: int
    ) -> tuple[list[Features], set[str]]:
        """What is wrong with each note by itself. One that is gone since the listing, is no note any more or cannot be read is
        not among the features; the ids are those of notes whose files are new, whatever they say of themselves."""
        grace_hours = INTERVALS_BEFORE_LATE * self.config.schedule.defrag_interval_hours
        rules = NoteRules(now_ms, int(grace_hours * HOUR_MS), vocabulary)
        fresh_after_ms = now_ms - self.config.limits.stale_days * DAY_MS
        features: list[Features] = []
        fresh: set[str] = set()
        for seen, listed in enumerate(live.entries, 1):
            if seen % _NOTES_A_REPORT == 0:
                self.progress(f"{seen:,} of {len(live.entries):,} notes examined")
            note = None
            with telling(findings, of.UNREADABLE_STORE):
                note = read_note(str(self.root), listed.path, listed)
            if note is None:
                findings += examine_name(listed)
                continue
            features.append(features_of(note.stored))
            if note.mtime_ms > fresh_after_ms:
                fresh.add(listed.meta.id)
            findings += examine_note(note, rules)
        return features, fresh


@contextmanager
def telling(findings: list[Finding], check: Check) -> Generator[None, None, None]:
    """An error within is a finding of this kind."""
    try:
        yield
    except Error as error:
        findings.append(trouble(error, check))


def _printable(finding: Finding) -> Finding:
    """File names and titles may hold what would not print, or would do more than print, and settings a secret."""
    sentence = one_line(redact(finding.sentence).text, _SENTENCE_CHARS)
    return evolve(finding, subject=printable(finding.subject), sentence=sentence)


# -- files of notes ---------------------------------------------------------------------------------------------------


def read_note(root: str, path: str, listed: Listed | None = None) -> NoteFile | None:
    """The file; None for one that is gone, or no note. What the bytes of a listed one say is not found out once more while they
    are the same."""
    image = read_image(root, path)
    if image is None:
        return None
    try:
        if listed is None:
            stored = understand(path, image.data, image.mtime_ns)
        else:
            stored = understand_again(listed, image.data, image.mtime_ns)
    except EntryUnreadable:
        return None
    text = image.data.decode()
    return NoteFile(path, text, stored, written_tags(text, stored.meta.tags), image.mtime_ns // 1_000_000)


def read_notes(root: str, files: Iterable[UnreadableFile | Listed]) -> Iterator[NoteFile]:
    """These files, but for those that are gone, cannot be read, or are no notes."""
    for each in files:
        try:
            note = read_note(root, each.path)
        except (PathRefused, StoreIo):
            continue
        if note is not None:
            yield note


def read_copies(root: str, unreadable: Sequence[UnreadableFile], live: Sequence[Listed]) -> Iterator[NoteFile]:
    """Files that are only unreadable because another one bears their id."""
    path_of = {each.meta.id: each.path for each in live}
    for note in read_notes(root, unreadable):
        original = path_of.get(note.stored.meta.id)
        if original is not None and original != note.path:
            yield evolve(note, copy_of=original)


# -- tiers, targets, places -------------------------------------------------------------------------------------------


def check_tiers(tiers: TierList, live: Sequence[Listed]) -> Iterator[Finding]:
    """Pins that are not hot. An empty list is one that no defrag has made yet."""
    for each in pinned_outside(tiers, live):
        yield of.PINNED_NOT_HOT.found(each.path, "It is pinned and not hot; the next defrag makes it so")


def pinned_outside(tiers: TierList, live: Sequence[Listed]) -> tuple[Listed, ...]:
    """Pinned entries that may be hot and are not, in the order of the listing; none before a defrag has made a tier list."""
    if tiers == TierList():
        return ()
    may_be_hot = (each for each in live if each.meta.pinned and each.meta.sensitivity is not Sensitivity.SECRET)
    return tuple(each for each in may_be_hot if each.meta.id not in tiers.hot)


def check_targets(published: Published) -> Iterator[Finding]:
    """What a dry run of publishing says of each target."""
    for target in published.targets:
        if target.outcome == "planned":
            words = "Its section is not what it would be now; `memory generate-agents-md` writes it"
            yield of.TARGET_OUT_OF_DATE.found(target.path, words)
        elif target.error is not None:
            yield of.TARGET_REFUSED.found(target.path, str(target.error).rstrip("."))
        rendered = target.rendered.warnings if target.rendered is not None else ()
        for warning in dict.fromkeys(chain(target.warnings, rendered)):
            yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))


def check_places(uses: Iterable[ScopeUse]) -> Iterator[Finding]:
    """Places that notes belong to and that are gone."""
    for each in uses:
        if each.is_gone:
            verb, new = ("merge", quote(each.now)) if each.now else ("rename", "NEW")
            count = f"{each.notes} note{'' if each.notes == 1 else 's'}"
            act = f"`memory scope {verb} {quote(each.scope)} {new}` gives them to where it is now"
            yield of.GONE_PLACE.found(each.scope, f"This place is gone, and no session is told its {count}; {act}")
