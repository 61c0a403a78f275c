"""What `memory doctor` looks for: the kinds of checks, what can be wrong with notes, and what `--fix` does about their
files. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from attrs import evolve, field, frozen

from agent_memory.errors import Error, StateCorrupt
from agent_memory.note.file_name import MAX_NAME_BYTES, file_name_of, folded_name, is_safe_name
from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.note.tagging import VOCABULARY_FILE, Standing, TagUse, TagVocabulary, alike, survey_tags, tag_counts
from agent_memory.redaction.redact import redact
from agent_memory.rules.findings import Analysis, FindingKind
from agent_memory.text.ids import mint_id
from agent_memory.text.plain_text import counted, hidden_in


class Severity(StrEnum):
    """Worst first."""

    PROBLEM = "problem"
    """Needs a person, or `--fix`; `memory doctor` then ends with 1."""
    NOTE = "note"
    """Worth knowing, and a matter of judgement."""


class Area(StrEnum):
    """The part of the store that a finding is about, in the order in which they are shown."""

    NOTES = "notes"
    LINKS = "links"
    TARGETS = "tiers and targets"
    RUNS = "inbox and runs"
    GIT = "git"
    FILES = "files and settings"


@frozen
class Finding:
    """One finding. `subject` is the file, the id or the setting concerned."""

    code: str
    area: Area
    severity: Severity
    subject: str
    message: str
    """What is wrong and what to do, without a final full stop; it never quotes a secret."""
    fix: str | None = None
    """What `--fix` does about it; None if a person must act."""


@frozen
class Check:
    code: str
    area: Area
    severity: Severity
    fix: str | None = None

    def found(self, subject: str, message: str, severity: Severity | None = None) -> Finding:
        """Returns a finding of this kind, with another severity if the case calls for it."""
        return Finding(self.code, self.area, severity or self.severity, subject, message, self.fix)


_PROBLEM, _NOTE = Severity.PROBLEM, Severity.NOTE

UNREADABLE_NOTE = Check("unreadable-note", Area.NOTES, _PROBLEM)
HEADLESS_NOTE = Check("headless-note", Area.NOTES, _PROBLEM, "restores the frontmatter from git")
MISSING_ID = Check("missing-id", Area.NOTES, _PROBLEM, "writes an id into it")
_SEPARATES = "gives the copy an id of its own, or moves an exact twin to the archive"
DUPLICATE_ID = Check("duplicate-id", Area.NOTES, _PROBLEM, _SEPARATES)
EMPTY_NOTE = Check("empty-note", Area.NOTES, _PROBLEM)
MERGE_CONFLICT = Check("merge-conflict", Area.NOTES, _PROBLEM)
NAME_CLASH = Check("name-clash", Area.NOTES, _PROBLEM, "renames one of them")
NAME_UNSAFE = Check("name-unsafe", Area.NOTES, _NOTE, "gives the file its proper name")
TAG_UNKNOWN = Check("tag-unknown", Area.NOTES, _NOTE)
TAG_ALIKE = Check("tag-alike", Area.NOTES, _NOTE)
SECRET = Check("secret", Area.NOTES, _PROBLEM)
HIDDEN_TEXT = Check("hidden-text", Area.NOTES, _PROBLEM)
CONTRADICTION = Check("contradiction", Area.NOTES, _PROBLEM)
DUPLICATE = Check("duplicate", Area.NOTES, _PROBLEM)
NEAR_DUPLICATE = Check("near-duplicate", Area.NOTES, _NOTE)
OVERLAP = Check("overlap", Area.NOTES, _NOTE)
OVERSIZED = Check("oversized", Area.NOTES, _PROBLEM)
STALE = Check("stale", Area.NOTES, _NOTE)
GONE_PLACE = Check("gone-place", Area.NOTES, _NOTE)
TEAM_NOTES = Check("team-notes", Area.NOTES, _NOTE)
UNRESOLVED_LINK = Check("unresolved-link", Area.LINKS, _PROBLEM)
TARGET_OUT_OF_DATE = Check("target-out-of-date", Area.TARGETS, _NOTE, "writes the section anew")
TARGET_REFUSED = Check("target-refused", Area.TARGETS, _PROBLEM)
TARGET_WARNING = Check("target-warning", Area.TARGETS, _NOTE)
STATUS = Check("status", Area.RUNS, _PROBLEM)
NOT_CONSOLIDATED = Check("not-consolidated", Area.RUNS, _PROBLEM)
AGENT_UNUSABLE = Check("agent-unusable", Area.RUNS, _PROBLEM)
GIT_UNUSABLE = Check("git-unusable", Area.GIT, _PROBLEM)
GIT_ABSENT = Check("git-absent", Area.GIT, _PROBLEM, "begins the repository and records what there is")
GIT_DETACHED = Check("git-detached", Area.GIT, _PROBLEM)
GIT_CONFLICTED = Check("git-conflicted", Area.GIT, _PROBLEM)
GIT_DROPPED = Check("git-dropped", Area.GIT, _NOTE)
LOOSE_PERMISSIONS = Check("loose-permissions", Area.FILES, _PROBLEM, "closes it to other users")
FOREIGN_OWNER = Check("foreign-owner", Area.FILES, _PROBLEM)
SYNC_CONFLICT_FILE = Check("sync-conflict-file", Area.FILES, _PROBLEM)
DAMAGED_STATE = Check("damaged-state", Area.FILES, _PROBLEM)
LITTER = Check("litter", Area.FILES, _NOTE, "removes it")
UNREADABLE_STORE = Check("unreadable-store", Area.FILES, _PROBLEM)
SETTING = Check("setting", Area.FILES, _NOTE)

CATALOGUE: tuple[Check, ...] = tuple(each for each in globals().values() if isinstance(each, Check))
"""All checks, in the order in which they are shown."""


@frozen
class DoctorReport:
    root: str
    entries: int
    archived: int
    problems: int
    """How many problems, for the exit code."""
    findings: tuple[Finding, ...] = field(default=(), metadata={"key": "symptoms"})
    """In the order of the catalogue; within one kind, problems first."""


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns each finding once, in the order of a report."""
    codes, severities = [check.code for check in CATALOGUE], list(Severity)
    known = dict.fromkeys(findings)
    return tuple(sorted(known, key=lambda each: (codes.index(each.code), severities.index(each.severity))))


def trouble(error: Error, check: Check | None = None, subject: str = "") -> Finding:
    """Returns the finding for an error: by default, that the file it names is damaged or cannot be read."""
    check = check or (DAMAGED_STATE if isinstance(error, StateCorrupt) else UNREADABLE_STORE)
    return check.found(subject or getattr(error, "path", "") or "store", str(error).rstrip("."))


@frozen
class ScopeUse:
    scope: str
    notes: int
    is_gone: bool = False
    """Whether nothing is where it was, or something else is."""
    now: str | None = None
    """A repository with the same history that exists, if one is known."""


# -- notes, one by one -------------------------------------------------------------------------------------------------


@frozen
class NoteFile:
    """One readable file in `topics/`."""

    path: str
    """Relative to the root."""
    text: str
    stored: StoredEntry
    copy_of: str | None = None
    """The path of the live note with the same id."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


_HARMLESS_HIDDEN = frozenset({"invisible characters", "variation selectors"})
"""Characters that emoji and some scripts are written with."""


def examine_note(file: NoteFile) -> Iterator[Finding]:
    """Yields the findings about one file. They name kinds of problems, never the text."""
    note, meta = file.stored.listed, file.stored.meta
    if note.provisional_id:
        yield MISSING_ID.found(note.path, f"It has no id yet: until it has one, links to {meta.id} may break")
    if not file.stored.body.strip():
        words = "It is empty: `git log` on it shows what it said before, and `memory archive` archives it"
        yield EMPTY_NOTE.found(note.path, words)
    if note.conflicted:
        words = "It holds unresolved merge-conflict markers, so no run touches it; edit it"
        yield MERGE_CONFLICT.found(note.path, words)
    yield from examine_name(note)
    if not meta.is_secret and (secrets := redact(file.text).found):
        kinds = ", ".join(name for name, _ in secrets)
        words = f"It seems to hold a secret ({kinds}), so git leaves it out; remove and revoke the secret"
        yield SECRET.found(note.path, words)
    hidden = hidden_in(file.text.removeprefix("\ufeff"))
    if not _HARMLESS_HIDDEN.issuperset(hidden):
        words = f"It holds characters that a reader does not see but a model does: {', '.join(hidden)}"
        yield HIDDEN_TEXT.found(note.path, words)


def examine_name(listed: Listed) -> Iterator[Finding]:
    """Yields the findings about the name of one live file, regardless of other names."""
    name = listed.path.rpartition("/")[2]
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        yield NAME_UNSAFE.found(listed.path, f"Its name has {size} bytes, {MAX_NAME_BYTES} are safe everywhere")
    elif not is_safe_name(name):
        yield NAME_UNSAFE.found(listed.path, "Its name holds characters that a shell or a link reads as something else")


# -- notes with one another ---------------------------------------------------------------------------------------------

_SYNC_MARK = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\(.*conflicted copy.*\)|\(.*'s conflicted copy\b|_conf\(\d+\)", re.I
)
"""The marks of Syncthing; of Dropbox, Nextcloud and the like; of Baidu and pCloud."""


def is_sync_conflict(name: str) -> bool:
    """Returns whether a synchronising program gave a file this name because two machines had written it."""
    return _SYNC_MARK.search(name) is not None


def examine_clashes(paths: Iterable[str]) -> Iterator[Finding]:
    """Yields live files whose names many file systems do not tell apart."""
    first: dict[str, str] = {}
    for path in paths:
        name = folded_name(path)
        if first.setdefault(name, path) != path:
            words = f"On many disks its name is the same as {first[name]}, and one of them would be lost"
            yield NAME_CLASH.found(path, words)


def examine_tags(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Iterator[Finding]:
    """Yields a finding for each tag in use that looks like a better one (an accepted one, else one used more; two
    accepted tags are never confused), and for each other one that the vocabulary lacks. `notes` are the tags of each
    note."""
    counts = tag_counts(notes, vocabulary)
    near = alike(counts)
    told = [tag for tag in (counts if vocabulary.accepted else near) if counts[tag]]
    uses = {use.tag: use for use in survey_tags(told, counts, near, vocabulary)}

    def rank(use: TagUse) -> tuple[bool, int, str]:
        return (use.standing is not Standing.ACCEPTED, -use.notes, use.tag)

    for tag, use in uses.items():
        better = next((uses[other] for other in use.like if other in uses), None)
        where = f"It is in {counted(use.notes, 'note')}, and"
        if now := vocabulary.renamed.get(tag):
            yield TAG_UNKNOWN.found(
                tag, f"{where} is now called {now}; `memory tags rename {tag} {now}` changes it in the notes"
            )
        elif better is not None and rank(better) < rank(use) and use.standing is not Standing.ACCEPTED:
            yield TAG_ALIKE.found(
                tag,
                f"{where} looks like {better.tag}, in {counted(better.notes, 'note')}; `memory tags rename {tag} "
                f"{better.tag}` merges them, `memory tags accept` keeps both",
            )
        elif use.standing is Standing.PROPOSED:
            how = f"`memory tags accept {tag}` or `memory tags rename {tag} OTHER` settles it"
            yield TAG_UNKNOWN.found(tag, f"{where} is not a tag of {VOCABULARY_FILE}; {how}")


_OF_KIND = {
    FindingKind.CONTRADICTION: CONTRADICTION,
    FindingKind.DUPLICATE: DUPLICATE,
    FindingKind.NEAR_DUPLICATE: NEAR_DUPLICATE,
    FindingKind.OVERLAP: OVERLAP,
    FindingKind.OVERSIZED: OVERSIZED,
    FindingKind.STALE: STALE,
    FindingKind.DANGLING_LINK: UNRESOLVED_LINK,
}
"""A person need not do anything about the other kinds: the next defrag archives what has expired."""


def examine_analysis(analysis: Analysis, paths: Mapping[str, str]) -> Iterator[Finding]:
    """Yields a finding for each finding of the analysis that a person can act on, worst first. `paths` are those of the
    live notes, by id."""
    for finding in analysis.findings:
        if check := _OF_KIND.get(finding.kind):
            path = paths.get(finding.ids[0]) if finding.ids else None
            reason = finding.reason.rstrip(".")
            others = [id for id in finding.ids[1:] if id not in reason]
            with_whom = f" (with {', '.join(others)})" if others else ""
            told = reason if reason.startswith("id__") else reason[:1].upper() + reason[1:]
            yield check.found(path or " ".join(finding.ids), f"{told}{with_whom}")


# -- repairs: nothing is ever deleted ---------------------------------------------------------------------------------


@frozen
class NoteRepair:
    note: NoteFile
    meta: Meta | None
    """The frontmatter to be written; None if a live note has the same id, body and frontmatter: then the file moves to
    the archive as it is."""
    name: str
    words: str


def plan_repairs(
    notes: Iterable[NoteFile], live: Mapping[str, Listed], taken_ids: Iterable[str], names: Iterable[str]
) -> tuple[NoteRepair, ...]:
    """Returns the repairs for those notes that need one, in the order of the notes, each of which is read once. `live`
    by path; `taken_ids` of everything but provisional ids; `names` are all in `topics/`. Both are compared as on a disk
    that ignores case."""
    taken = _Taken(taken_ids, names)
    repairs = (
        _rewritten(note, taken) if note.copy_of is None else _separated(note, live.get(note.copy_of), taken)
        for note in notes
    )
    return tuple(repair for repair in repairs if repair is not None)


class _Taken:
    """Ids and names in use, and those assigned along the way."""

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
        """Returns the wanted name, unless another file has it, or had it before these repairs: they are carried out as
        one."""
        if folded_name(name) == folded_name(wanted) and not self.clashes(name):
            return name
        if self._names[folded_name(wanted)]:
            return name
        if self.clashes(name):
            self._names[folded_name(name)] -= 1
        self._names[folded_name(wanted)] = 1
        return wanted


def _separated(note: NoteFile, original: Listed | None, taken: _Taken) -> NoteRepair | None:
    """Makes a copy of another file's id a note of its own if it says something else; otherwise moves it out of the way."""
    if original is None:
        return None
    copy = note.stored.listed
    undated = [evolve(meta, updated_at_ms=0) for meta in (copy.meta, original.meta)]
    if copy.body_hash == original.body_hash and undated[0] == undated[1]:
        return NoteRepair(
            note, None, note.name, f"{note.path} says the same as {original.path} and is now in the archive"
        )
    fresh = evolve(copy.meta, id=taken.id_for(copy.meta, preferred=False), aliases=())
    name = taken.renamed(note.name, file_name_of(fresh))
    called = f", topics/{name}" if name != note.name else ""
    return NoteRepair(note, fresh, name, f"{note.path} is now a note of its own: {fresh.id}{called}")


def _rewritten(note: NoteFile, taken: _Taken) -> NoteRepair | None:
    listed = note.stored.listed
    meta, words = listed.meta, list[str]()
    if listed.provisional_id:
        meta = evolve(meta, id=taken.id_for(meta, preferred=True))
        words.append(f"now has the id {meta.id}")
    name = note.name
    if listed.provisional_id or taken.clashes(name) or any(examine_name(listed)):
        name = taken.renamed(name, file_name_of(meta))
        if name != note.name:
            words.append(f"is now called topics/{name}")
    return NoteRepair(note, meta, name, f"{note.path} {', '.join(words)}") if words else None
