"""Examines a whole store. Nothing is changed, and no damage hides anything else."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

from attrs import astuple, evolve, frozen
from returns.result import Result

from agent_memory import __version__
from agent_memory.agent.agent_command import choose_command, shown_command, uses_builtin
from agent_memory.capture.inbox_files import printable
from agent_memory.care import checks as of
from agent_memory.care.checks import (
    CATALOGUE,
    Check,
    DoctorReport,
    Finding,
    NoteFile,
    ScopeUse,
    Severity,
    examine_note,
    in_order,
    trouble,
)
from agent_memory.care.files import Found, everything_in, unwritten
from agent_memory.care.health import Health
from agent_memory.care.tombstones import FORGOTTEN
from agent_memory.care.traces import note_files
from agent_memory.errors import AgentMissing, Busy, EntryUnreadable, Error, PathRefused, RecorderFailed, StoreIo
from agent_memory.files.paths import exists, is_directory, read_bytes, store_io
from agent_memory.files.root import home_of
from agent_memory.git.git_history import contents_of
from agent_memory.git.git_process import GitProcess, directory_of
from agent_memory.note.file_name import id_in_name, is_note_name
from agent_memory.note.note import (
    TEAM_DIRECTORY,
    TIERS_FILE,
    Listed,
    Listing,
    Meta,
    TierList,
    UnreadableFile,
    without_secret,
)
from agent_memory.note.note_format import HEADLESS
from agent_memory.note.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.recall.grounding import Named, named_by
from agent_memory.recall.reading import Reading
from agent_memory.recall.start_cache import opened, sealed
from agent_memory.redaction.redact import redact
from agent_memory.results import unwrap
from agent_memory.rules.analyze import analyze_features
from agent_memory.rules.change import Published
from agent_memory.rules.drafts import taken_ids
from agent_memory.rules.features import AnalysisFacts, Assertion, Claim, Features, features_of
from agent_memory.setup.config_files import Effective
from agent_memory.store.bookkeeping import SESSION_MARK, TagVocabularyFile
from agent_memory.store.note_files import TOPICS, read_image, understand
from agent_memory.store.store_files import Team
from agent_memory.text.instants import DAY_MS, HOUR_MS, iso_of
from agent_memory.text.plain_text import counted, one_line

if TYPE_CHECKING:
    from agent_memory.store.store_database import FollowedFiles


# -- the live notes as an examination knows them ----------------------------------------------------------------------
# What it needs of a text is kept beside its file in `.cache/store.db`, so each text is read once.


def read_note(root: str, path: str, listed: Listed | None = None) -> NoteFile | None:
    """Returns the file; None if it is gone, or is not a note. An unchanged file that is listed is not parsed again."""
    image = read_image(root, path)
    if image is None:
        return None
    try:
        stored = understand(path, image.data, image.mtime_ns, listed)
    except EntryUnreadable:
        return None
    return NoteFile(path, image.data.decode(), stored)


@frozen
class Examined:
    """One live note."""

    features: Features
    named: Named
    findings: tuple[Finding, ...]
    """About it by itself."""

    @classmethod
    def of(cls, file: NoteFile) -> Examined:
        stored = file.stored
        named = named_by(stored.meta, stored.entry.whole, stored.meta.scope)
        return cls(features_of(stored), named, tuple(examine_note(file)))

    @classmethod
    def kept_of(cls, meta: Meta, kept: bytes) -> Examined | None:
        """Returns what `kept` made; None if it is damaged, or another version of the program made it."""
        version, features, named, findings = opened(kept) or ("", (), (), ())
        if version != __version__:
            return None
        digest, terms, title, about, claims, assertions, *rest = features
        statements = tuple(Claim(*each) for each in claims), tuple(Assertion(*each) for each in assertions)
        told = (_CHECKS[code].found(subject, message) for code, subject, message in findings)
        return cls(Features(meta, digest, terms, title, about, *statements, *rest), Named(*named), tuple(told))

    @property
    def kept(self) -> bytes:
        """Returns what is kept of it: all but the frontmatter, which a listing has."""
        features = astuple(self.features, filter=lambda each, _: each.name != "meta")
        findings = tuple((each.code, each.subject, each.message) for each in self.findings)
        return sealed((__version__, features, tuple(self.named), findings))


_CHECKS = {each.code: each for each in CATALOGUE}


@frozen
class Examination:
    files: FollowedFiles
    progress: Callable[[str], None]

    def of(self, entries: Sequence[Listed], unread: Callable[[Error], None] = lambda _: None) -> dict[str, Examined]:
        """Returns these live notes by path, without those that are gone or cannot be read. Nothing is kept of a secret one."""
        return dict(self._each(entries, unread))

    def keep(self, entries: Sequence[Listed]) -> None:
        """Examines those that are new, so that nobody has to wait for it, with one of them in memory at a time (P25)."""
        for _ in self._each(entries, lambda _: None):
            pass

    def _each(self, entries: Sequence[Listed], unread: Callable[[Error], None]) -> Iterator[tuple[str, Examined]]:
        kept, new = self.files.facts(), dict[tuple[str, str], bytes]()
        for number, each in enumerate(entries, 1):
            note = Examined.kept_of(each.meta, kept.pop((each.path, each.content_hash), b""))
            if note is None:
                try:
                    file = read_note(self.files.root, each.path, each)
                except Error as error:
                    unread(error)
                    continue
                if file is None:
                    continue
                note = Examined.of(file)
                if not (file.stored.meta.is_secret or file.stored.listed.provisional_id):  # such an id may change
                    new[each.path, file.stored.listed.content_hash] = note.kept
            yield each.path, note
            if number % 500 == 0 and new:
                self.progress(f"{number:,} of {len(entries):,} notes checked")
        with suppress(Busy):
            self.files.put_facts(new)


# -- the whole store --------------------------------------------------------------------------------------------------

T = TypeVar("T")

_INTERVALS_BEFORE_LATE = 3
"""How many intervals of the schedule a capture may wait where nothing is scheduled."""
_GIT_SECONDS = 10


@frozen
class Doctor:
    root: Path
    environ: Mapping[str, str]
    effective: Effective
    reading: Reading
    health: Callable[[], Result[Health, Error]]
    scopes: Callable[[], Result[tuple[ScopeUse, ...], Error]]
    team: Callable[[], Team]
    dry_publish: Callable[[], Result[Published, Error]]
    examination: Examination

    def examine(self) -> DoctorReport:
        findings = [of.SETTING.found("config", warning.rstrip(".")) for warning in self.effective.warnings]
        root, store, now_ms = str(self.root), self.reading.store, self.reading.clock.now_ms()
        walked: list[Found] = []
        # What cannot be looked at is reported, so that nothing is missing unnoticed (P6).
        for each in everything_in(root):
            if isinstance(each, Found):
                walked.append(each)
            else:
                findings.append(trouble(store_io(each, "look at", str(each.filename or self.root))))
        live = _known(findings, store.list(), Listing(()))
        archive = _known(findings, store.list(archived=True), Listing(()))
        shown = evolve(live, entries=without_secret(live.entries)) if self.reading.caller.is_agent else live
        sections = self._targets()
        try:
            if self.effective.config.storage.auto_commit:
                git = GitProcess(self.root, self.environ, _GIT_SECONDS)
                findings += check_repository(git, has_notes=bool(live.entries))
                findings += [] if self.reading.caller.is_agent else check_dropped(git)
        except RecorderFailed as error:
            sections = iter(())  # for which git is asked again
            words = f"`{error.command}` failed ({error.stderr_tail}), so managed sections were not checked either"
            findings.append(of.GIT_UNUSABLE.found(_GIT, words))
        except Error as error:
            findings.append(trouble(error, of.GIT_UNUSABLE, _GIT))
        for part in (
            self._notes(live, shown, archive, {each.path: each.mtime_ms for each in walked}, now_ms),
            self._places(),
            self._team(),
            sections,
            self._runs(now_ms),
            check_files(root, walked, now_ms),
            check_state(root, walked),
        ):
            with _telling(findings):
                findings += part
        with _telling(findings, of.AGENT_UNUSABLE, "llm"):
            if not uses_builtin(self.effective.config.llm):
                program = unwrap(choose_command(self.effective.config.llm, home_of(self.environ))).argv[:1]
                if shutil.which(program[0], path=self.environ.get("PATH", os.defpath)) is None:
                    raise AgentMissing(shown_command(program))
        # File names and titles may hold control characters, and settings a secret.
        cleaned = in_order(
            evolve(each, subject=printable(each.subject), message=one_line(redact(each.message).text, 600))
            for each in findings
        )
        problems = sum(each.severity is Severity.PROBLEM for each in cleaned)
        return DoctorReport(root, len(live.entries), len(archive.entries), problems, cleaned)

    def _notes(
        self, everything: Listing, live: Listing, archive: Listing, written_ms: Mapping[str, int], now_ms: int
    ) -> Iterator[Finding]:
        root, stale_days, unread = str(self.root), self.effective.config.limits.stale_days, list[Finding]()
        copies = {each.path: each for each in read_copies(root, live.unreadable, live.entries)}
        for file in (*live.unreadable, *archive.unreadable):
            if copy := copies.get(file.path):
                words = f"It has the id {copy.stored.meta.id}, as has {copy.copy_of}, and so it is not seen as a note"
                yield of.DUPLICATE_ID.found(file.path, words)
            else:
                is_headless = file.path.startswith(f"{TOPICS}/") and HEADLESS in file.problems
                check = of.HEADLESS_NOTE if is_headless else of.UNREADABLE_NOTE
                yield check.found(file.path, f"It is not a valid note: {'; '.join(file.problems)}")
        paths = {each.meta.id: each.path for each in live.entries}
        yield from of.examine_clashes(paths.values())
        vocabulary = _known(unread, TagVocabularyFile(self.root).get(), TagVocabulary())
        yield from of.examine_tags([each.meta.tags for each in live.entries], vocabulary)
        # Hot notes are read without being counted, and notes that came into the store lately may be of an old session:
        # neither is stale.
        hot_or_new = {*_known(unread, self.reading.store.tiers(), TierList()).hot}
        examined = self.examination.of(everything.entries, lambda error: unread.append(trouble(error)))
        features: list[Features] = []
        for listed in live.entries:
            note = examined.get(listed.path)
            if note is None:  # it is gone since the listing, is no longer a note, or cannot be read
                yield from of.examine_name(listed)
                continue
            features.append(note.features)
            yield from note.findings
            if written_ms.get(listed.path, 0) > now_ms - stale_days * DAY_MS:
                hot_or_new.add(listed.meta.id)
        facts = AnalysisFacts(
            now_ms=now_ms,
            taken_ids=taken_ids(live, archive),
            usage=_known(unread, self.reading.ledger.totals(), {}),
            stale_days=stale_days,
            hot_or_new=frozenset(hot_or_new),
        )
        yield from of.examine_analysis(analyze_features(features, facts), paths)
        yield from unread

    def _places(self) -> Iterator[Finding]:
        for use in unwrap(self.scopes()):
            if use.is_gone:
                verb, new = ("merge", quote(use.now)) if use.now else ("rename", "NEW")
                act = f"`memory scope {verb} {quote(use.scope)} {new}` tells memory where it is now"
                words = f"This place is gone, and no session sees its {counted(use.notes, 'note')}; {act}"
                yield of.GONE_PLACE.found(use.scope, words)

    def _team(self) -> Iterator[Finding]:
        team = self.team()
        for each in team.unreadable:
            yield of.TEAM_NOTES.found(each.path, f"It is not told to agents: {'; '.join(each.problems)}")
        if unseen := sum(not each.meta.is_vouched_for for each in team.listed.values()):
            words = f"{counted(unseen, 'note')} new or changed since you trusted them, told without orders"
            yield of.TEAM_NOTES.found(TEAM_DIRECTORY, f"{words}; `memory trust` vouches for what is there now")

    def _targets(self) -> Iterator[Finding]:
        for target in unwrap(self.dry_publish()).targets:
            if target.outcome == "planned":
                words = "Its section is out of date; `memory generate-agents-md` updates it"
                yield of.TARGET_OUT_OF_DATE.found(target.path, words)
            elif target.error is not None:
                yield of.TARGET_REFUSED.found(target.path, str(target.error).rstrip("."))
            rendered = target.rendered.warnings if target.rendered is not None else ()
            for warning in dict.fromkeys((*target.warnings, *rendered)):
                yield of.TARGET_WARNING.found(target.path, warning.rstrip("."))

    def _runs(self, now_ms: int) -> Iterator[Finding]:
        """Yields what `memory status` reports about the inbox, the runs, the hooks and the schedule, and captures that
        wait for a run."""
        health = unwrap(self.health())
        for problem in evolve(health, unreadable=()).problems:  # notes have findings of their own
            yield of.STATUS.found("memory status", problem.rstrip("."))
        late_ms = (
            _INTERVALS_BEFORE_LATE * max(self.effective.config.schedule.consolidate_interval_hours, 1 / 6) * HOUR_MS
        )
        waiting = health.oldest_pending_at_ms
        if not health.jobs and waiting is not None and now_ms - waiting > late_ms:
            words = f"A capture has waited since {iso_of(waiting)}; `memory consolidate` reads it"
            yield of.NOT_CONSOLIDATED.found("inbox", f"{words}, `memory schedule on` does so from now on")


@contextmanager
def _telling(findings: list[Finding], check: Check | None = None, subject: str = "") -> Generator[None, None, None]:
    try:
        yield
    except Error as error:
        findings.append(trouble(error, check, subject))


def _known(findings: list[Finding], result: Result[T, Error], otherwise: T) -> T:
    try:
        return unwrap(result)
    except Error as error:
        findings.append(trouble(error))
        return otherwise


# -- files of notes ---------------------------------------------------------------------------------------------------


def read_notes(root: str, files: Iterable[UnreadableFile | Listed]) -> Iterator[NoteFile]:
    """Yields these files, except those that are gone, cannot be read, or are not notes."""
    for each in files:
        with suppress(PathRefused, StoreIo):
            if (note := read_note(root, each.path)) is not None:
                yield note


def read_copies(root: str, unreadable: Sequence[UnreadableFile], live: Sequence[Listed]) -> Iterator[NoteFile]:
    """Yields files that are only unreadable because another one has their id."""
    path_of = {each.meta.id: each.path for each in live}
    for note in read_notes(root, unreadable):
        original = path_of.get(note.stored.meta.id)
        if original is not None and original != note.path:
            yield evolve(note, copy_of=original)


# -- files as such ----------------------------------------------------------------------------------------------------

_STATE = re.compile(r"state/(?:.*/)?[^./][^/]*\.json|runs/[^./][^/]*\.json")
_READ_ELSEWHERE = (TIERS_FILE, VOCABULARY_FILE, "runs/spend.json")
"""Files of state that other checks read and report on."""


def check_files(root: str, walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Yields findings about owners and modes, leftovers, and copies that synchronising programs made."""
    # Behind a closed root nobody can reach an open file: that is only worth a remark.
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
        is_in_topics = each.path.startswith(f"{TOPICS}/") and each.path.count("/") == 1
        if each.is_temporary:
            with unwritten(root, each, now_ms) as is_free:
                if is_free:
                    yield of.LITTER.found(subject, "An interrupted write left this temporary file")
        elif of.is_sync_conflict(each.name) and not (is_in_topics and is_note_name(each.name)):
            words = "Two machines wrote the same file at once; keep one of the two and remove this one"
            yield of.SYNC_CONFLICT_FILE.found(subject, words)


def check_state(root: str, walked: Sequence[Found]) -> Iterator[Finding]:
    """Yields a finding for each file of state that cannot be parsed."""
    for each in walked:
        if not _STATE.fullmatch(each.path) or each.path in _READ_ELSEWHERE:
            continue
        try:
            data = read_bytes(root, each.path, 64 << 20)
            if data is not None:
                SESSION_MARK.parse(data, each.path) if each.path.startswith("state/sessions/") else json.loads(data)
        except Error as error:
            yield trouble(error, None, each.path)
        except (ValueError, RecursionError):
            words = "It is not JSON; restore it from git or a backup, or move it away"
            yield of.DAMAGED_STATE.found(each.path, words)


# -- git --------------------------------------------------------------------------------------------------------------

_GIT = ".git"
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}
# Asks about a path that is never tracked, so that git reads history and index, but not fifty thousand files.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--", _GIT)


def check_repository(git: GitProcess, *, has_notes: bool) -> Iterator[Finding]:
    """Yields findings about the repository. Nothing is changed, not even the index. A missing remote is not a problem;
    nor is a missing repository in an empty store."""
    if not exists(str(git.directory)):
        if is_directory(str(git.root)):  # there is something to record
            git.run("--version")
        if has_notes:
            words = "There is no history, although storage.autoCommit is on; the next write starts one"
            yield of.GIT_ABSENT.found(_GIT, words)
        return
    where = directory_of(git)
    status = git.run(*_STATUS)
    unmerged = git.run("ls-files", "-z", "--unmerged") if status.ok else status
    head = git.run("symbolic-ref", "--quiet", "--short", "HEAD")
    # The exit code of `git symbolic-ref --quiet` if HEAD is not on a branch; any other but 0 means damage.
    if not unmerged.ok or head.status > 1:
        failed = head if unmerged.ok else unmerged
        said = one_line(failed.stderr, 160) or f"status {failed.status}"
        words = f"Git cannot read the history ({said}); the next run repairs it, or moves it aside and starts a new one"
        yield of.GIT_UNUSABLE.found(_GIT, words)
        return
    unfinished = next((what for name, what in _UNFINISHED.items() if exists(f"{where}/{name}")), "")
    if unfinished:
        words = f"A {unfinished} was started and not finished; finish or abort it with git"
        yield of.GIT_CONFLICTED.found(_GIT, words)
    # Each file has an entry for each side: `<mode> <object> <stage>`, a tab, the path.
    for name in dict.fromkeys(each.partition(b"\t")[2] for each in unmerged.stdout.split(b"\0") if each):
        words = "It has a merge conflict and is not recorded until you resolve that with git"
        yield of.GIT_CONFLICTED.found(os.fsdecode(name), words)
    if not head.ok and not unfinished:
        words = (
            "HEAD is on no branch, so what is recorded may be lost; run `git switch main`, or switch to another branch"
        )
        yield of.GIT_DETACHED.found(_GIT, words)


def check_dropped(git: GitProcess) -> Iterator[Finding]:
    """Yields a finding for each note with a text that only a commit outside all branches holds: what was recorded on a
    detached HEAD or during a rebase, or was removed by a `git reset --hard`."""
    if not exists(str(git.directory)):
        return
    words = ("log", "--reflog", "--format=%H", "--raw", "--no-abbrev", "--no-renames", "--diff-filter=AM")
    output = git.run(*words, "--not", "--all", "--", TOPICS)
    commit, newest = "", dict[str, tuple[str, str, str]]()
    for line in os.fsdecode(output.stdout).splitlines():
        about, _, path = line.partition("\t")
        if path and (id := id_in_name(path)) is not None:
            newest.setdefault(id, (about.split()[3], commit, path))
        commit = commit if path else line[:10] or commit
    if not newest:
        return
    data = contents_of(git, {blob for blob, _, _ in newest.values()})
    held = {each.image.data for each in note_files(str(git.root))}
    for id, (blob, commit, path) in newest.items():
        if data.get(blob) not in held and not exists(f"{git.root}/{FORGOTTEN}/{id}.json"):
            shown = f"A text of it is only in commit {commit}, which no branch has; `git show {commit}` in the store shows it"
            yield of.GIT_DROPPED.found(path, shown)
