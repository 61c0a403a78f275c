"""Looking at a whole store. Nothing is changed, and whatever is damaged hides nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TypeVar

from attrs import evolve, frozen
from returns.result import Result

from agent_memory.adapters.agent.agent_command import choose_command, shown_command, uses_builtin
from agent_memory.adapters.disk.paths import as_store_io, exists, is_directory, read_bytes, store_io
from agent_memory.adapters.disk.root import home_of
from agent_memory.adapters.doctor.files import Found, unwritten, walk
from agent_memory.adapters.explaining import hook_log_of
from agent_memory.adapters.git.git_history import pending_commits
from agent_memory.adapters.git.git_process import GitProcess, directory_of, stale_locks
from agent_memory.adapters.inbox.hook_files import INBOX
from agent_memory.adapters.inbox.inbox_files import InboxFiles, QueueTroubles, entry_in, failed_entries, printable
from agent_memory.adapters.records.bookkeeping_files import SpendLedgerFiles, TagVocabularyFile
from agent_memory.adapters.store.entry_files import JOURNAL, TOPICS, read_image, understand, understand_again
from agent_memory.adapters.surroundings.config_files import Effective
from agent_memory.config import ScheduleConfig
from agent_memory.domain import doctor as of
from agent_memory.domain.agent_request import Spend
from agent_memory.domain.analysis.analyze import analyze_features
from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of
from agent_memory.domain.doctor import (
    Check,
    DoctorReport,
    Finding,
    NoteFile,
    NoteRules,
    Severity,
    in_order,
    is_sync_conflict,
    trouble,
)
from agent_memory.domain.entry import Listed, Listing, UnreadableFile, without_secret
from agent_memory.domain.health import ScopeUse
from agent_memory.domain.instants import DAY_MS, HOUR_MS, day_of, iso_of, ms_in_name, ms_of
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.queue import SNAPSHOTS, FileSnapshot
from agent_memory.domain.redaction import redact
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.section import Published
from agent_memory.domain.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.domain.vocabulary import TIERS_FILE, TierList
from agent_memory.errors import (
    AgentMissing,
    EntryUnreadable,
    Error,
    InboxEntryInvalid,
    PathRefused,
    StateCorrupt,
    StoreIo,
)
from agent_memory.formats.bookkeeping_json import SESSION_MARK
from agent_memory.formats.note import HEADLESS
from agent_memory.ports import RunLog
from agent_memory.reading import Reading
from agent_memory.results import unwrap

T = TypeVar("T")

_LOOKED_BACK_RUNS = 300
"""A month of runs every two hours, and then some: what came before says nothing of a schedule."""
_INTERVALS_BEFORE_LATE = 3
"""How many intervals of its schedule a run may be late."""
_MESSAGE_CHARS = 600
_SAID_CHARS = 160
_NOTES_A_REPORT = 500


@frozen
class Doctor:
    """`examine()` looks at everything that `memory doctor` tells of."""

    root: Path
    environ: Mapping[str, str]
    effective: Effective
    reading: Reading
    inbox: InboxFiles
    spend: SpendLedgerFiles
    runs: RunLog
    scopes: Callable[[], Result[tuple[ScopeUse, ...], Error]]
    """The places that notes belong to."""
    dry_publish: Callable[[], Result[Published, Error]]
    progress: Callable[[str], None]

    def examine(self) -> DoctorReport:
        """All findings."""
        findings: list[Finding] = []
        root, store, now_ms = str(self.root), self.reading.store, self.reading.clock.now_ms()
        walked: list[Found] = []
        for each in walk(root):  # what cannot be looked at is told, and missing nowhere unsaid (P6)
            if isinstance(each, Found):
                walked.append(each)
            else:
                error = store_io(each, "look at", str(each.filename or self.root))
                findings.append(trouble(error, of.UNREADABLE_STORE))
        live = _known(findings, of.UNREADABLE_STORE, store.list(), Listing(()))
        archive = _known(findings, of.UNREADABLE_STORE, store.list(archived=True), Listing(()))
        tiers = _known(findings, of.TIERS_DAMAGED, store.tiers(), TierList())
        shown = evolve(live, entries=without_secret(live.entries)) if self.reading.caller.is_agent else live
        self._notes(findings, shown, archive, tiers, now_ms)
        for use in _known(findings, of.UNREADABLE_STORE, self.scopes(), ()):
            if use.is_gone:
                verb, new = ("merge", quote(use.now)) if use.now else ("rename", "NEW")
                act = f"`memory scope {verb} {quote(use.scope)} {new}` gives them to where it is now"
                words = f"This place is gone, and no session is told its {counted(use.notes, 'note')}; {act}"
                findings.append(of.GONE_PLACE.found(use.scope, words))
        findings += check_targets(_known(findings, of.UNREADABLE_STORE, self.dry_publish(), Published()))
        self._inbox_and_runs(findings, walked, now_ms)
        if self.effective.config.storage.auto_commit:
            findings += check_repository(self.root, self.environ, has_notes=bool(live.entries))
        findings += check_files(root, walked, now_ms)
        findings += check_state(root, walked)
        with _telling(findings, of.UNREADABLE_STORE):
            if exists(f"{root}/{JOURNAL}"):
                words = "A change of several files was cut short, and could not be undone yet"
                findings.append(of.UNFINISHED_WRITE.found(JOURNAL, words))
        findings += [of.SETTING.found("config", warning.rstrip(".")) for warning in self.effective.warnings]
        # File names and titles may hold what would not print, or would do more than print, and settings a secret.
        cleaned = [
            evolve(
                each,
                subject=printable(each.subject),
                message=one_line(redact(each.message).text, _MESSAGE_CHARS),
            )
            for each in findings
        ]
        return DoctorReport(root, len(live.entries), len(archive.entries), in_order(cleaned))

    def _inbox_and_runs(self, findings: list[Finding], walked: Sequence[Found], now_ms: int) -> None:
        root, llm = str(self.root), self.effective.config.llm
        with _telling(findings, of.UNREADABLE_STORE):
            for each in unwrap(failed_entries(root)):
                subject, reason = f"inbox/.failed/{each.name}", f": {each.reason.rstrip('.')}" if each.reason else ""
                if each.malformed:
                    words = f"It is no inbox entry{reason}; correct it and move it back, or remove it"
                    findings.append(of.MALFORMED_ENTRY.found(subject, words))
                else:
                    words = f"Given up{reason}; `memory consolidate --retry-failed` tries again"
                    findings.append(of.GIVEN_UP.found(subject, words))
        _known(findings, of.DAMAGED_STATE, QueueTroubles(root).read(), {})
        names = _known(findings, of.UNREADABLE_STORE, self.inbox.names(), ())
        findings += _pending(root, names, walked, now_ms)
        runs = _known(findings, of.DAMAGED_STATE, self.runs.runs(_LOOKED_BACK_RUNS), ())
        findings += check_last_run(runs[0] if runs else None)
        # Captures and injections since the last run that did not arrive.
        since_ms = (runs[0].ended_at_ms or 0) if runs else 0
        problems, unread = hook_log_of(self.root, self.environ)
        findings += (trouble(error, of.UNREADABLE_STORE) for error in unread)
        for lost in problems:
            if (ms_of(lost.at) or since_ms) >= since_ms:
                is_injection = lost.act == "inject"
                check, what = (of.INJECTION_LOST, "An injection") if is_injection else (of.CAPTURE_LOST, "A capture")
                words = f"{what} at {lost.at} did not arrive: {lost.message.rstrip('.')}"
                findings.append(check.found(lost.harness or "a hook", words))
        oldest_ms = ms_in_name(names[0]) if names else None
        findings += check_schedule(self.effective.config.schedule, runs, oldest_ms, now_ms)
        spend = _known(findings, of.DAMAGED_STATE, self.spend.days(), {})
        findings += check_spend(spend, llm.max_calls_per_day, now_ms)
        with _telling(findings, of.AGENT_UNUSABLE, "llm"):
            if not uses_builtin(llm):
                program = unwrap(choose_command(llm, home_of(self.environ))).argv[:1]
                if shutil.which(program[0], path=self.environ.get("PATH", os.defpath)) is None:
                    raise AgentMissing(shown_command(program))

    def _notes(self, findings: list[Finding], live: Listing, archive: Listing, tiers: TierList, now_ms: int) -> None:
        """All that is wrong with notes, each by itself and with one another."""
        limits = self.effective.config.limits
        vocabulary = _known(findings, of.DAMAGED_STATE, TagVocabularyFile(self.root).get(), TagVocabulary())
        copies = tuple(read_copies(str(self.root), live.unreadable, live.entries))
        copied = {note.path for note in copies}
        for listing, check in ((live, of.UNREADABLE_NOTE), (archive, of.UNREADABLE_ARCHIVED)):
            for file in listing.unreadable:
                if file.path not in copied:
                    is_headless = listing is live and HEADLESS in file.problems
                    words = f"It is no note: {'; '.join(file.problems)}"
                    findings.append((of.HEADLESS_NOTE if is_headless else check).found(file.path, words))
        findings += of.examine_copies(copies)
        paths = {each.meta.id: each.path for each in live.entries}
        findings += of.examine_clashes(tuple(paths.values()))
        findings += of.examine_aliases(live.entries)
        grace_hours = _INTERVALS_BEFORE_LATE * self.effective.config.schedule.defrag_interval_hours
        rules = NoteRules(now_ms, int(grace_hours * HOUR_MS), vocabulary)
        features: list[Features] = []
        # Ids of notes whose files are new, whatever they say of themselves.
        fresh: set[str] = set()
        for seen, listed in enumerate(live.entries, 1):
            if seen % _NOTES_A_REPORT == 0:
                self.progress(f"{seen:,} of {len(live.entries):,} notes examined")
            note = None
            with _telling(findings, of.UNREADABLE_STORE):
                note = read_note(str(self.root), listed.path, listed)
            if note is None:  # it is gone since the listing, is no note any more or cannot be read
                findings += of.examine_name(listed)
                continue
            features.append(features_of(note.stored))
            if note.mtime_ms > now_ms - limits.stale_days * DAY_MS:
                fresh.add(listed.meta.id)
            findings += of.examine_note(note, rules)
        usage = None
        with _telling(findings, of.UNREADABLE_STORE):
            usage = unwrap(self.reading.ledger.totals())
        facts = AnalysisFacts(
            now_ms=now_ms,
            taken_ids=taken_ids(live, archive),
            usage=usage or {},
            stale_days=limits.stale_days,
            # Neither what is hot, and so is read without a read being counted, nor what came into the store lately, from
            # however old a session.
            hot_or_new=frozenset((*tiers.hot, *fresh)),
        )
        analysis = analyze_features(features, facts)
        findings += of.examine_analysis(analysis, paths)
        findings += of.examine_tags([each.meta.tags for each in live.entries], vocabulary)


@contextmanager
def _telling(findings: list[Finding], check: Check, subject: str = "") -> Generator[None, None, None]:
    """An error within is a finding of this kind."""
    try:
        yield
    except Error as error:
        findings.append(trouble(error, check, subject))


def _known(findings: list[Finding], check: Check, result: Result[T, Error], otherwise: T) -> T:
    """The value; where it is an error, that is a finding of this kind."""
    try:
        return unwrap(result)
    except Error as error:
        findings.append(trouble(error, check))
        return otherwise


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
    return NoteFile(path, image.data.decode(), stored, image.mtime_ns // 1_000_000)


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


# -- files as such ----------------------------------------------------------------------------------------------------

_STATE = re.compile(r"state/(?:.*/)?[^./][^/]*\.json|runs/[^./][^/]*\.json")
_READ_ELSEWHERE = (TIERS_FILE, VOCABULARY_FILE, "runs/spend.json")
"""Files of state that other checks read, and tell of."""
_MAX_STATE_BYTES = 64 << 20


def check_files(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Owners, modes, litter, what is no file, and copies that synchronising programs made."""
    # Behind a closed root nobody gets at a file that is open: that is worth a remark.
    is_open = not walked or walked[0].is_loose
    for each in walked:
        subject = each.path or "."
        if each.owner != os.getuid():
            words = f"It belongs to the user with the id {each.owner}; `chown` gives it back"
            yield of.FOREIGN_OWNER.found(subject, words)
        elif each.is_loose:
            mode = "0700" if each.is_directory else "0600"
            words = f"Its mode is {stat.S_IMODE(each.mode):04o}, it should be {mode}"
            yield of.LOOSE_PERMISSIONS.found(subject, words, None if is_open else Severity.NOTE)
        if each.is_temporary:
            with unwritten(root, each, now_ms) as is_free:
                if is_free:
                    yield of.LITTER.found(subject, "A write that was cut short left this temporary file")
        elif each.path.startswith(f"{TOPICS}/") and each.path.count("/") == 1 and is_note_name(each.name):
            continue  # the notes tell of it
        elif not (each.is_file or each.is_directory):
            yield of.ODD_FILE.found(subject, "It is neither file nor directory, and nothing in the store follows it")
        elif is_sync_conflict(each.name):
            words = "Two machines wrote the same file at once; keep one of both, and remove this name"
            yield of.SYNC_CONFLICT_FILE.found(subject, words)


def check_state(root: str, walked: Sequence[Found]) -> Iterator[Finding]:
    """Every file of state that cannot be understood."""
    for each in walked:
        if not _STATE.fullmatch(each.path) or each.path in _READ_ELSEWHERE:
            continue
        is_mark = each.path.startswith("state/sessions/")
        try:
            data = read_bytes(root, each.path, _MAX_STATE_BYTES)
            if data is not None:
                SESSION_MARK.parse(data, each.path) if is_mark else json.loads(data)
            continue
        except PathRefused as error:
            problem = error.reason
        except StateCorrupt as error:
            problem = "; ".join(error.problems)
        except Error as error:
            problem = str(error).rstrip(".")
        except (ValueError, RecursionError):
            problem = "It is not JSON"
        words = f"{problem}; restore it from git or a backup, or move it away"
        if is_mark:
            words = f"Its session cannot go on: {problem}; move it away to consolidate that session from its beginning"
        yield of.DAMAGED_STATE.found(each.path, words)


# -- targets --------------------------------------------------------------------------------------------------


def check_targets(published: Published) -> Iterator[Finding]:
    """What a dry run of publishing says of each target."""
    for target in published.targets:
        if target.outcome == "planned":
            words = "Its section is not what it would be now; `memory generate-agents-md` writes it"
            yield of.TARGET_OUT_OF_DATE.found(target.path, words)
        elif target.error is not None:
            yield of.TARGET_REFUSED.found(target.path, str(target.error).rstrip("."))
        rendered = target.rendered.warnings if target.rendered is not None else ()
        for warning in dict.fromkeys((*target.warnings, *rendered)):
            yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))


# -- the inbox and the runs -------------------------------------------------------------------------------------------


def _pending(root: str, names: Sequence[str], walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Every pending entry that cannot be understood, and, of the files that were seen, every snapshot that has waited an
    hour for its entry. While an entry cannot be read it may name any of them (P6)."""
    named: set[str] = set()
    is_all_read = True
    for name in names:
        subject = f"{INBOX}/{name}"
        try:
            entry = entry_in(root, INBOX, name)
        except InboxEntryInvalid as error:
            words = f"It is no inbox entry: {'; '.join(error.problems)}; the next run moves it aside"
            yield of.MALFORMED_ENTRY.found(subject, words)
        except Error as error:
            is_all_read = False
            yield trouble(error, of.MALFORMED_ENTRY, subject)
        else:
            if entry is not None and isinstance(entry.retrieval, FileSnapshot):
                named.add(entry.retrieval.path)
    for each in walked if is_all_read else ():
        is_snapshot = each.path.startswith(f"{SNAPSHOTS}/") and not each.name.startswith(".")
        if is_snapshot and each.path not in named and now_ms - each.mtime_ms > HOUR_MS:
            words = "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it"
            yield of.ORPHAN_SNAPSHOT.found(each.path, words)


def check_last_run(last: LoggedRun | None) -> Iterator[Finding]:
    """Whether the newest run came to its end."""
    if last is None:
        return
    subject = f"runs/{last.run_id}"
    if last.problems:
        yield of.DAMAGED_STATE.found(f"{subject}/report.json", f"It cannot be understood: {'; '.join(last.problems)}")
    elif last.result != "completed":
        why = (last.error or last.summary).rstrip(".")
        yield of.LAST_RUN.found(subject, f"The last run {last.result}{f': {why}' if why else ''}")


def check_schedule(
    schedule: ScheduleConfig, runs: Sequence[LoggedRun], oldest_pending_at_ms: int | None, now_ms: int
) -> Iterator[Finding]:
    """Work that has waited for three intervals, and no run in that time. A run that finds nothing to do leaves no trace,
    so it is the waiting that tells, not the silence. `runs` are newest first, at least all since the last defrag."""

    def is_late(since_ms: int, interval_hours: float) -> bool:
        return now_ms - since_ms > _INTERVALS_BEFORE_LATE * max(interval_hours, 1 / 6) * HOUR_MS

    ends = [run.started_at_ms if run.ended_at_ms is None else run.ended_at_ms for run in runs]
    machines = [run.machine for run in runs]
    waiting = oldest_pending_at_ms
    last = ends[machines.index("consolidate")] if "consolidate" in machines else None
    if waiting is not None and is_late(max(waiting, last or 0), schedule.consolidate_interval_hours):
        looked = f"since {iso_of(last)}" if last else "yet"
        words = (
            f"A capture has waited since {iso_of(waiting)}, and no run has looked {looked}; is the schedule running?"
        )
        yield of.NOT_CONSOLIDATED.found("inbox", f"{words} `memory consolidate` does it now")
    defrag = machines.index("defrag") if "defrag" in machines else None
    changed = [end for run, end in zip(runs[:defrag], ends, strict=False) if run.changed_ids]
    if changed and is_late(changed[-1], schedule.defrag_interval_hours):
        before = "no defrag has ever run" if defrag is None else "no defrag has run since"
        words = f"Notes have come since {day_of(changed[-1])}, and {before}; is the schedule running?"
        severity = Severity.NOTE if defrag is None else Severity.PROBLEM
        yield of.NOT_DEFRAGGED.found("topics", f"{words} `memory defrag` does it now", severity)


def check_spend(spend: Spend, max_calls_per_day: int, now_ms: int) -> Iterator[Finding]:
    """Whether the day's cap was reached on two days in a row or more, up to today or yesterday."""
    calls = {day: each.calls for day, each in spend.items()}
    if max_calls_per_day < 1:
        return
    start = now_ms if calls.get(day_of(now_ms), 0) >= max_calls_per_day else now_ms - DAY_MS
    days = 0
    while calls.get(day_of(start - days * DAY_MS), 0) >= max_calls_per_day:
        days += 1
    if days > 1:
        words = f"All {max_calls_per_day} calls a day were used on {days} days in a row, so sessions wait; raise it"
        yield of.SPEND_CAP.found("llm.maxCallsPerDay", words)


# -- git --------------------------------------------------------------------------------------------------------------

_GIT = ".git"
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
_DETACHED = 1
"""How `git symbolic-ref --quiet` ends where HEAD is on no branch; any other status but 0 is damage."""
# Asked of a path that is never tracked, so that history and index are read, and fifty thousand files not looked at.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--", _GIT)


def check_repository(root: Path, environ: Mapping[str, str], *, has_notes: bool) -> list[Finding]:
    """All of it. Nothing is changed, not even the index. No remote is no trouble; nor is no repository where there is
    nothing yet."""
    findings: list[Finding] = []
    with _telling(findings, of.UNREADABLE_STORE):
        if owed := unwrap(pending_commits(root)):
            words = f"{counted(len(owed), 'write')} not recorded by git yet; the next run records them"
            findings.append(of.GIT_OWED.found("runs/owed.json", words))
    with _telling(findings, of.GIT_UNUSABLE, _GIT):
        findings += _repository(root, GitProcess(root, environ), has_notes)
    return findings


def _repository(root: Path, git: GitProcess, has_notes: bool) -> Iterator[Finding]:
    if not exists(f"{root}/{_GIT}"):
        if is_directory(str(root)):  # there is something to record
            git.run("--version")
        if has_notes:
            words = "There is no history, although storage.autoCommit is on; the next write begins one"
            yield of.GIT_ABSENT.found(_GIT, words)
        return
    where = directory_of(git)
    with as_store_io("look through", str(where)):
        locks = stale_locks(root, where)
    for path in locks:
        yield of.GIT_LOCKED.found(os.path.relpath(path, root), "A git that no longer runs left this lock behind")
    status = git.run(*_STATUS)
    unmerged = git.run("ls-files", "-z", "--unmerged") if status.ok else status
    head = git.run("symbolic-ref", "--quiet", "--short", "HEAD")
    if not unmerged.ok or head.status > _DETACHED:
        failed = head if unmerged.ok else unmerged
        said = one_line(failed.stderr, _SAID_CHARS) or f"status {failed.status}"
        words = f"Git cannot read the history ({said}); the next run mends it, or moves it aside and begins a new one"
        yield of.GIT_UNUSABLE.found(_GIT, words)
        return
    unfinished = next((what for name, what in _UNFINISHED.items() if exists(f"{where}/{name}")), "")
    if unfinished:
        words = f"A {unfinished} was begun and not finished; finish or abort it with git"
        yield of.GIT_CONFLICTED.found(_GIT, words)
    # Each file has an entry for each side: `<mode> <object> <stage>`, a tab, the path.
    for name in dict.fromkeys(each.partition(b"\t")[2] for each in unmerged.stdout.split(b"\0") if each):
        words = "It is in conflict, and is not recorded until that is resolved with git"
        yield of.GIT_CONFLICTED.found(os.fsdecode(name), words)
    if not head.ok and not unfinished:
        words = "HEAD is on no branch, so what is recorded may be lost; `git switch main`, or another branch"
        yield of.GIT_DETACHED.found(_GIT, words)
