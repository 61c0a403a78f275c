"""What `memory doctor` looks for: the kinds of checks, what can be wrong with notes, one by one and with one another, and what `--fix`
does about it. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from attrs import evolve, frozen

from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.instants import day_of, has_passed
from agent_memory.domain.redaction import redact
from agent_memory.domain.tagging import VOCABULARY_FILE, Standing, TagUse, TagVocabulary, alike, survey_tags, tag_counts
from agent_memory.domain.text.file_name import (
    MAX_NAME_BYTES,
    file_name_of,
    folded_name,
    is_safe_name,
    mint_id,
)
from agent_memory.domain.text.plain_text import clean_text, counted
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error


class Severity(StrEnum):
    """Declared from the worst to the least."""

    PROBLEM = "problem"
    """Wants a person, or `--fix`; `memory doctor` then ends with 1."""
    NOTE = "note"
    """Worth knowing; it settles by itself, or is a matter of judgement."""


class Area(StrEnum):
    """What of the store a finding is about; declared in the order in which they are shown."""

    NOTES = "notes"
    LINKS = "links"
    TIERS = "tiers and targets"
    RUNS = "inbox and runs"
    GIT = "git"
    FILES = "files and settings"


@frozen
class Finding:
    """One finding. `subject` is the file, the id or the setting that it is about."""

    code: str
    area: Area
    severity: Severity
    subject: str
    message: str
    """What is wrong and what to do, without a final full stop; it never quotes a secret."""
    fix: str | None = None
    """What `--fix` does about it; None where a person must."""


@frozen
class Check:
    """A kind of finding."""

    code: str
    area: Area
    severity: Severity
    fix: str | None = None

    def found(self, subject: str, message: str, severity: Severity | None = None) -> Finding:
        """One case of it; with another severity where the case calls for that."""
        return Finding(self.code, self.area, severity or self.severity, subject, message, self.fix)


_PROBLEM, _NOTE = Severity.PROBLEM, Severity.NOTE
_SEPARATES = "gives the copy an id of its own, or moves an exact twin to the archive"

UNREADABLE_NOTE = Check("unreadable-note", Area.NOTES, _PROBLEM)
HEADLESS_NOTE = Check("headless-note", Area.NOTES, _PROBLEM, "takes the frontmatter that git knows")
UNREADABLE_ARCHIVED = Check("unreadable-archived", Area.NOTES, _PROBLEM)
MISSING_ID = Check("missing-id", Area.NOTES, _PROBLEM, "writes an id into it")
DUPLICATE_ID = Check("duplicate-id", Area.NOTES, _PROBLEM, _SEPARATES)
SYNC_CONFLICT = Check("sync-conflict", Area.NOTES, _PROBLEM, _SEPARATES)
EMPTY_NOTE = Check("empty-note", Area.NOTES, _PROBLEM)
MERGE_CONFLICT = Check("merge-conflict", Area.NOTES, _PROBLEM)
NAME_CLASH = Check("name-clash", Area.NOTES, _PROBLEM, "renames one of them")
NAME_TOO_LONG = Check("name-too-long", Area.NOTES, _PROBLEM, "gives the file its proper name")
NAME_UNSAFE = Check("name-unsafe", Area.NOTES, _NOTE, "gives the file its proper name")
TAG_UNKNOWN = Check("tag-unknown", Area.NOTES, _NOTE)
TAG_ALIKE = Check("tag-alike", Area.NOTES, _NOTE)
EXPIRED = Check("expired", Area.NOTES, _NOTE, "moves it to the archive")
SECRET = Check("secret", Area.NOTES, _PROBLEM)
HIDDEN_TEXT = Check("hidden-text", Area.NOTES, _PROBLEM)
SECRET_IN_FRONT = Check("secret-in-front", Area.NOTES, _PROBLEM)
CONTRADICTION = Check("contradiction", Area.NOTES, _PROBLEM)
DUPLICATE = Check("duplicate", Area.NOTES, _PROBLEM)
NEAR_DUPLICATE = Check("near-duplicate", Area.NOTES, _NOTE)
OVERLAP = Check("overlap", Area.NOTES, _NOTE)
OVERSIZED = Check("oversized", Area.NOTES, _PROBLEM)
FRAGMENTED = Check("fragmented", Area.NOTES, _NOTE)
STALE = Check("stale", Area.NOTES, _NOTE)
GONE_PLACE = Check("gone-place", Area.NOTES, _NOTE)
ORPHAN = Check("orphan", Area.NOTES, _NOTE)

UNRESOLVED_LINK = Check("unresolved-link", Area.LINKS, _PROBLEM)
ALIAS_CLASH = Check("alias-clash", Area.LINKS, _PROBLEM)

TIERS_DAMAGED = Check("tiers-damaged", Area.TIERS, _PROBLEM)
TARGET_OUT_OF_DATE = Check("target-out-of-date", Area.TIERS, _NOTE, "writes the section anew")
TARGET_REFUSED = Check("target-refused", Area.TIERS, _PROBLEM)
TARGET_WARNING = Check("target-warning", Area.TIERS, _NOTE)

GIVEN_UP = Check("given-up", Area.RUNS, _PROBLEM)
MALFORMED_ENTRY = Check("malformed-entry", Area.RUNS, _PROBLEM)
CAPTURE_LOST = Check("capture-lost", Area.RUNS, _PROBLEM)
INJECTION_LOST = Check("injection-lost", Area.RUNS, _PROBLEM)
ORPHAN_SNAPSHOT = Check("orphan-snapshot", Area.RUNS, _NOTE)
LAST_RUN = Check("last-run", Area.RUNS, _PROBLEM)
NOT_CONSOLIDATED = Check("not-consolidated", Area.RUNS, _PROBLEM)
NOT_DEFRAGGED = Check("not-defragged", Area.RUNS, _PROBLEM)
SPEND_CAP = Check("spend-cap", Area.RUNS, _PROBLEM)
AGENT_UNUSABLE = Check("agent-unusable", Area.RUNS, _PROBLEM)

GIT_UNUSABLE = Check("git-unusable", Area.GIT, _PROBLEM)
GIT_ABSENT = Check("git-absent", Area.GIT, _PROBLEM, "begins the repository and records what there is")
GIT_LOCKED = Check("git-locked", Area.GIT, _PROBLEM, "removes the locks that no git works behind")
GIT_OWED = Check("git-owed", Area.GIT, _PROBLEM, "records them")
GIT_DETACHED = Check("git-detached", Area.GIT, _PROBLEM)
GIT_CONFLICTED = Check("git-conflicted", Area.GIT, _PROBLEM)

LOOSE_PERMISSIONS = Check("loose-permissions", Area.FILES, _PROBLEM, "closes it to others")
FOREIGN_OWNER = Check("foreign-owner", Area.FILES, _PROBLEM)
ODD_FILE = Check("odd-file", Area.FILES, _NOTE)
SYNC_CONFLICT_FILE = Check("sync-conflict-file", Area.FILES, _PROBLEM)
DAMAGED_STATE = Check("damaged-state", Area.FILES, _PROBLEM)
UNFINISHED_WRITE = Check("unfinished-write", Area.FILES, _PROBLEM, "undoes or finishes it")
LITTER = Check("litter", Area.FILES, _NOTE, "removes it")
UNREADABLE_STORE = Check("unreadable-store", Area.FILES, _PROBLEM)
SETTING = Check("setting", Area.FILES, _NOTE)

CATALOGUE: tuple[Check, ...] = tuple(each for each in globals().values() if isinstance(each, Check))
"""All of them, in the order in which they are shown."""


@frozen
class DoctorReport:
    """The state of a store."""

    root: str
    entries: int
    archived: int
    findings: tuple[Finding, ...] = ()
    """In the order of the catalogue; of one kind the problems first."""

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What counts for the exit code."""
        return tuple(each for each in self.findings if each.severity is Severity.PROBLEM)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Each finding once, as an examination holds them."""
    codes, severities = [check.code for check in CATALOGUE], list(Severity)
    known = dict.fromkeys(findings)
    return tuple(sorted(known, key=lambda each: (codes.index(each.code), severities.index(each.severity))))


def trouble(error: Error, check: Check, subject: str = "") -> Finding:
    """The finding of this kind that tells of the error, by itself of the path that it names."""
    return check.found(subject or getattr(error, "path", "") or "store", str(error).rstrip("."))


# -- secrets ----------------------------------------------------------------------------------------------------------


@frozen
class SecretFind:
    """One file, one object of git or one name in which redaction finds something."""

    path: str
    """Relative to the root, without secrets. "" for an object of git that no commit holds any more."""
    kinds: tuple[tuple[str, int], ...]
    """How many of each name (`github-token`), by name."""
    commit: str | None = None
    """The first commit that holds it, in full; None for a file as it stands on disk."""

    @property
    def in_history(self) -> bool:
        """Whether it is what git keeps, and no file."""
        return self.commit is not None or not self.path


@frozen
class SecretSearch:
    """The finds, files first, in the order in which they were come upon, and how much was looked at."""

    finds: tuple[SecretFind, ...] = ()
    files: int = 0
    objects: int = 0
    """Of git: versions of files and messages of commits."""
    unread: tuple[str, ...] = ()
    """What could not be looked at, each with the reason: where this is not empty, silence proves nothing."""


# -- notes, one by one -------------------------------------------------------------------------------------------------


@frozen
class NoteFile:
    """One readable file of `topics/`."""

    path: str
    """Relative to the root."""
    text: str
    """The whole file."""
    stored: StoredEntry
    mtime_ms: int = 0
    """When the file was last written, whatever it says of itself."""
    copy_of: str | None = None
    """The path of the live entry whose id this file bears too."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


_HARMLESS_HIDDEN = frozenset({"invisible characters", "variation selectors"})
"""What emoji and some scripts are written with."""


@frozen
class NoteRules:
    """What a note is held against."""

    now_ms: int
    expired_grace_ms: int
    """How long after its expiry an entry may wait for a defrag to archive it."""
    vocabulary: TagVocabulary = TagVocabulary()


def examine_note(file: NoteFile, rules: NoteRules) -> Iterator[Finding]:
    """Everything about this one file. Of its text only kinds are told, never what it says."""
    note, meta = file.stored.listed, file.stored.meta
    if note.provisional_id:
        yield MISSING_ID.found(note.path, f"It has no id yet: until it has one, links to {meta.id} may break")
    if not file.stored.body.strip():
        words = "It says nothing: `git log` on it has what it said before, or `memory archive` puts it away"
        yield EMPTY_NOTE.found(note.path, words)
    if note.conflicted:
        words = "It holds unresolved merge-conflict markers, and no run touches it; edit it"
        yield MERGE_CONFLICT.found(note.path, words)
    yield from examine_name(note)
    for tag in meta.tags:
        if now := rules.vocabulary.renamed.get(tag):
            words = f"'{tag}' is called '{now}' now; `memory tags rename {tag} {now}` writes that"
            yield TAG_UNKNOWN.found(note.path, words)
    if has_passed(meta.expires_at_ms, rules.now_ms):
        overdue = meta.expires_at_ms + rules.expired_grace_ms <= rules.now_ms
        words = f"It expired on {day_of(meta.expires_at_ms)}; `memory defrag` archives it"
        yield EXPIRED.found(note.path, words, Severity.PROBLEM if overdue else None)
    if meta.sensitivity is Sensitivity.SECRET:
        if meta.pinned or meta.promoted_by is not None:
            words = (
                f"It is secret and {'pinned' if meta.pinned else 'promoted'}, which no note can be; unpin or edit it"
            )
            yield SECRET_IN_FRONT.found(note.path, words)
    elif secrets := redact(file.text).found:
        kinds = ", ".join(name for name, _ in secrets)
        words = f"It seems to hold a secret ({kinds}), so git leaves it out; remove it, and change the secret"
        yield SECRET.found(note.path, words)
    hidden = clean_text(file.text.removeprefix("\ufeff")).removed
    if not _HARMLESS_HIDDEN.issuperset(hidden):
        words = f"It holds what a reader does not see and a model does: {', '.join(hidden)}"
        yield HIDDEN_TEXT.found(note.path, words)


def examine_tags(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Iterator[Finding]:
    """A finding for each tag in use that looks like a better one (accepted, else more used; two that are accepted are two),
    and for each other one that the vocabulary does not have. `notes` are the tags of each."""
    counts = tag_counts(notes, vocabulary)
    near = alike(counts)
    told = [tag for tag in (counts if vocabulary.accepted else near) if counts[tag]]
    uses = {use.tag: use for use in survey_tags(told, counts, near, vocabulary)}

    def rank(use: TagUse) -> tuple[bool, int, str]:
        return (use.standing is not Standing.ACCEPTED, -use.notes, use.tag)

    for tag, use in uses.items():
        better = next((uses[other] for other in use.like if other in uses), None)
        where = f"It is in {counted(use.notes, 'note')}, and"
        if better is not None and rank(better) < rank(use) and use.standing is not Standing.ACCEPTED:
            yield TAG_ALIKE.found(
                tag,
                f"{where} looks like {better.tag}, in {counted(better.notes, 'note')}; `memory tags rename {tag} "
                f"{better.tag}` makes them one, `memory tags accept` keeps both",
            )
        elif use.standing is Standing.PROPOSED and tag not in vocabulary.renamed:
            how = f"`memory tags accept {tag}` or `memory tags rename {tag} OTHER` settles it"
            yield TAG_UNKNOWN.found(tag, f"{where} is not a tag of {VOCABULARY_FILE}; {how}")


# -- names of files ---------------------------------------------------------------------------------------------------

_SYNC_MARK = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\(.*conflicted copy.*\)|\(.*'s conflicted copy\b|_conf\(\d+\)", re.I
)
"""Syncthing; Dropbox, Nextcloud and their like; Baidu and pCloud."""
_NUMBERED = re.compile(r" (?:\d{1,2}|\(\d{1,2}\))\.[A-Za-z0-9]{1,8}\Z")
"""iCloud and file managers: `name 2.md`, `name (1).md`."""


def is_sync_conflict(name: str) -> bool:
    """Whether a synchronising program gave a file this name because two machines had written it."""
    return _SYNC_MARK.search(name) is not None


def looks_copied(name: str) -> bool:
    """Whether a file that repeats another one's id has its name from a synchronising program or a file manager."""
    return is_sync_conflict(name) or _NUMBERED.search(name) is not None


def examine_copies(copies: Iterable[NoteFile]) -> Iterator[Finding]:
    """Files that bear the id of another one."""
    for note in copies:
        check = SYNC_CONFLICT if looks_copied(note.name) else DUPLICATE_ID
        words = f"It has the id {note.stored.meta.id}, as has {note.copy_of}, and so it is not seen as a note"
        yield check.found(note.path, words)


def examine_clashes(paths: Sequence[str]) -> Iterator[Finding]:
    """Live files whose names many disks would not keep apart."""
    first: dict[str, str] = {}
    for path in paths:
        name = folded_name(path)
        if first.setdefault(name, path) != path:
            words = f"On many disks its name is the same as that of {first[name]}, and one would be lost"
            yield NAME_CLASH.found(path, words)


def examine_name(listed: Listed) -> Iterator[Finding]:
    """The name of one live file, whatever others are called."""
    name = listed.path.rpartition("/")[2]
    if name == file_name_of(listed.meta):  # as most are, and never too long
        return
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        yield NAME_TOO_LONG.found(listed.path, f"Its name has {size} bytes, {MAX_NAME_BYTES} are safe everywhere")
    elif not is_safe_name(name):
        yield NAME_UNSAFE.found(listed.path, "Its name holds what a shell or a link reads as something else")


# -- notes with one another ---------------------------------------------------------------------------------------------


def examine_aliases(live: Sequence[Listed]) -> Iterator[Finding]:
    """Aliases that lead to two places."""
    claims: dict[str, list[str]] = defaultdict(list)
    for each in live:
        for alias in each.meta.aliases:
            claims[alias].append(each.path)
    path_of = {each.meta.id: each.path for each in live}
    clashes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for alias, claiming in claims.items():
        first = path_of.get(alias, claiming[0])
        for path in claiming:
            if path != first:
                clashes[path, first].append(alias)
    for (path, first), shared in clashes.items():
        more = f" and {len(shared) - 1:,} more belong" if len(shared) > 1 else " belongs"
        yield ALIAS_CLASH.found(path, f"Its alias {shared[0]}{more} to {first} too; take it out of one of them")


_CHECKS = {**{check.code: check for check in CATALOGUE}, FindingKind.DANGLING_LINK: UNRESOLVED_LINK}


def examine_analysis(analysis: Analysis, paths: Mapping[str, str]) -> Iterator[Finding]:
    """One finding a finding, worst first. `paths` are those of the live entries, by id."""
    for finding in analysis.findings:
        # How bad it is that an entry has expired depends on how long a defrag is overdue (`examine_note`).
        if (check := _CHECKS.get(finding.kind)) and finding.kind is not FindingKind.EXPIRED:
            path = paths.get(finding.ids[0]) if finding.ids else None
            reason = finding.reason.rstrip(".")
            others = [id for id in finding.ids[1:] if id not in reason]
            with_whom = f" (with {', '.join(others)})" if others else ""
            told = reason if reason.startswith("id__") else reason[:1].upper() + reason[1:]
            yield check.found(path or " ".join(finding.ids), f"{told}{with_whom}")


# -- repairs: nothing is ever deleted ---------------------------------------------------------------------------------


@frozen
class Rewrite:
    """The file is written again with this frontmatter, under this name."""

    note: NoteFile
    meta: Meta
    name: str
    words: str
    """What was done, for people."""


@frozen
class Shelve:
    """The file moves to the archive as it is: a live note says the same under the same id, in body and frontmatter."""

    note: NoteFile
    words: str


NoteRepair = Rewrite | Shelve


def plan_repairs(
    notes: Iterable[NoteFile], live: Mapping[str, Listed], taken_ids: Iterable[str], names: Iterable[str]
) -> tuple[NoteRepair, ...]:
    """The repairs of those notes that need one, in the order of the notes, each of which is looked at once. `live` by path;
    `taken_ids` of everything but provisional ids; `names` are all of `topics/`. Both are compared as on a disk that ignores
    case."""
    taken = _Taken(taken_ids, names)
    repairs = (
        _rewritten(note, taken) if note.copy_of is None else _separated(note, live.get(note.copy_of), taken)
        for note in notes
    )
    return tuple(repair for repair in repairs if repair is not None)


class _Taken:
    """Ids and names that are given already, and those that are given along the way."""

    def __init__(self, ids: Iterable[str], names: Iterable[str]) -> None:
        self._ids = {id.casefold() for id in ids}
        self._names = Counter(map(folded_name, names))

    def id_for(self, meta: Meta, *, preferred: bool) -> str:
        id = meta.id
        if not preferred or id.casefold() in self._ids:
            id = mint_id(meta.title, meta.created_at_ms, self._ids)
        self._ids.add(id.casefold())
        return id

    def clashes(self, name: str) -> bool:
        return self._names[folded_name(name)] > 1

    def renamed(self, name: str, wanted: str) -> str:
        """The wanted name, unless another file has it, or had it before these repairs: they are carried out as one."""
        if folded_name(name) == folded_name(wanted) and not self.clashes(name):
            return name
        if self._names[folded_name(wanted)]:
            return name
        if self.clashes(name):
            self._names[folded_name(name)] -= 1
        self._names[folded_name(wanted)] = 1
        return wanted


def _separated(note: NoteFile, original: Listed | None, taken: _Taken) -> NoteRepair | None:
    """A copy of another file's id: a note of its own where it says something else, else out of the way."""
    if original is None:
        return None
    copy = note.stored.listed
    undated = [evolve(meta, updated_at_ms=0) for meta in (copy.meta, original.meta)]
    if copy.body_hash == original.body_hash and undated[0] == undated[1]:
        return Shelve(note, f"{note.path} says what {original.path} says, and is in the archive now")
    fresh = evolve(copy.meta, id=taken.id_for(copy.meta, preferred=False), aliases=())
    name = taken.renamed(note.name, file_name_of(fresh))
    called = f", topics/{name}" if name != note.name else ""
    return Rewrite(note, fresh, name, f"{note.path} is a note of its own now: {fresh.id}{called}")


def _rewritten(note: NoteFile, taken: _Taken) -> NoteRepair | None:
    listed = note.stored.listed
    meta, words = listed.meta, list[str]()
    if listed.provisional_id:
        meta = evolve(meta, id=taken.id_for(meta, preferred=True))
        words.append(f"has the id {meta.id} now")
    name = note.name
    if listed.provisional_id or taken.clashes(name) or len(name.encode()) > MAX_NAME_BYTES or not is_safe_name(name):
        name = taken.renamed(name, file_name_of(meta))
        if name != note.name:
            words.append(f"is called topics/{name} now")
    return Rewrite(note, meta, name, f"{note.path} {', '.join(words)}") if words else None
