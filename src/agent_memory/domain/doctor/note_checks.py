"""What can be wrong with notes, looked at one by one, and what `memory doctor --fix` does about it, decided before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, Severity
from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.instants import DAY_MS, has_passed, iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.tagging.tag_survey import TagUse, alike, survey_tags, tag_counts
from agent_memory.domain.tagging.tag_vocabulary import VOCABULARY_FILE, Standing, TagVocabulary
from agent_memory.domain.text.file_name import MAX_NAME_BYTES, file_name_of, folded_name, is_safe_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.text.tags import normal_tag, normal_tags
from agent_memory.domain.vocabulary import Sensitivity


@frozen
class NoteFile:
    """One readable file of `topics/`."""

    path: str
    """Relative to the root."""
    text: str
    """The whole file."""
    stored: StoredEntry
    written_tags: tuple[str, ...] = ()
    """The tags as they stand in the frontmatter."""
    mtime_ms: int = 0
    """When the file was last written, whatever it says of itself."""
    copy_of: str | None = None
    """The path of the live entry whose id this file bears too."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


HARMLESS_HIDDEN = frozenset({"invisible characters", "variation selectors"})
"""What emoji and some scripts are written with: worth knowing, but no sign of anything."""


@frozen
class NoteRules:
    """What a note is held against."""

    now_ms: int
    expired_grace_ms: int
    """How long after its expiry an entry may wait for a defrag to archive it."""
    vocabulary: TagVocabulary = TagVocabulary()


def examine_note(file: NoteFile, rules: NoteRules) -> Iterator[Finding]:
    """Everything about this one file. Of its text only kinds are told, never what it says."""
    note = file.stored.listed
    if note.provisional_id:
        yield of.MISSING_ID.found(note.path, f"It has no id yet: until it has one, links to {note.meta.id} may break")
    if not file.stored.body.strip():
        yield of.EMPTY_NOTE.found(
            note.path, "It says nothing: `git log` on it has what it said before, or `memory archive` puts it away"
        )
    if note.conflicted:
        yield of.MERGE_CONFLICT.found(
            note.path, "It holds unresolved merge-conflict markers, and no run touches it; edit it"
        )
    yield from examine_name(note)
    yield from _tags(file, rules.vocabulary)
    yield from _times(note, rules)
    yield from _what_it_says(file)


def _tags(file: NoteFile, vocabulary: TagVocabulary) -> Iterator[Finding]:
    note = file.stored.listed
    if odd := [tag for tag in file.written_tags if normal_tag(tag) != tag]:
        meant = ", ".join(normal_tags(odd)) or "none"
        yield of.TAG_FORM.found(note.path, f"{_quoted(odd)} read as {meant}")
    for tag in note.meta.tags:
        if tag in vocabulary.renamed:
            now = vocabulary.renamed[tag]
            yield of.TAG_UNKNOWN.found(
                note.path, f"'{tag}' is called '{now}' now; `memory tags rename {tag} {now}` writes that"
            )


def _times(note: Listed, rules: NoteRules) -> Iterator[Finding]:
    meta = note.meta
    if has_passed(meta.expires_at_ms, rules.now_ms):
        overdue = meta.expires_at_ms + rules.expired_grace_ms <= rules.now_ms
        yield of.EXPIRED.found(
            note.path,
            f"It expired on {iso_of(meta.expires_at_ms)[:10]}; `memory defrag` archives it",
            Severity.PROBLEM if overdue else None,
        )
    newest = max(meta.created_at_ms, meta.updated_at_ms)
    if newest > rules.now_ms + DAY_MS:
        yield of.FROM_THE_FUTURE.found(note.path, f"It says that it is from {iso_of(newest)}; was the clock wrong?")


def _what_it_says(note: NoteFile) -> Iterator[Finding]:
    meta = note.stored.meta
    if meta.sensitivity is Sensitivity.SECRET:
        if meta.pinned or meta.promoted_by is not None:
            which = "pinned" if meta.pinned else "promoted"
            yield of.SECRET_IN_FRONT.found(
                note.path, f"It is secret and {which}, which no note can be; unpin or edit it"
            )
    elif secrets := redact(note.text).found:
        kinds = ", ".join(name for name, _ in secrets)
        yield of.SECRET.found(
            note.path, f"It seems to hold a secret ({kinds}), so git leaves it out; remove it, and change the secret"
        )
    if hidden := clean_text(note.text.removeprefix("\ufeff")).removed:
        harmless = HARMLESS_HIDDEN.issuperset(hidden)
        yield of.HIDDEN_TEXT.found(
            note.path,
            f"It holds what a reader does not see and a model does: {', '.join(hidden)}",
            Severity.NOTE if harmless else None,
        )


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def examine_tags(notes: Iterable[Sequence[str]], vocabulary: TagVocabulary) -> Iterator[Finding]:
    """A finding for each tag in use that looks like a better one (accepted, else more used; two that are accepted are two),
    and for each other one that the vocabulary does not have. `notes` are the tags of each."""
    counts = tag_counts(notes, vocabulary)
    near = alike(counts)
    told = [tag for tag in (counts if vocabulary.accepted else near) if counts[tag]]
    uses = {use.tag: use for use in survey_tags(told, counts, near, vocabulary)}
    for use in uses.values():
        better = next((uses[tag] for tag in use.like if tag in uses), None)
        if better is not None and _rank(better) < _rank(use) and use.standing is not Standing.ACCEPTED:
            yield of.TAG_ALIKE.found(
                use.tag,
                f"It is in {_notes(use)}, and looks like {better.tag}, in {_notes(better)}; `memory tags rename {use.tag} "
                f"{better.tag}` makes them one, `memory tags accept` keeps both",
            )
        elif use.standing is Standing.PROPOSED and use.tag not in vocabulary.renamed:
            yield of.TAG_UNKNOWN.found(
                use.tag,
                f"It is in {_notes(use)}, and is not a tag of {VOCABULARY_FILE}; `memory tags accept {use.tag}` or "
                f"`memory tags rename {use.tag} OTHER` settles it",
            )


def _rank(use: TagUse) -> tuple[bool, int, str]:
    return (use.standing is not Standing.ACCEPTED, -use.notes, use.tag)


def _notes(use: TagUse) -> str:
    return f"{use.notes} note{'' if use.notes == 1 else 's'}"


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
        check = of.SYNC_CONFLICT if looks_copied(note.name) else of.DUPLICATE_ID
        yield check.found(
            note.path, f"It has the id {note.stored.meta.id}, as has {note.copy_of}, and so it is not seen as a note"
        )


def examine_clashes(paths: Sequence[str]) -> Iterator[Finding]:
    """Live files whose names many disks would not keep apart."""
    first: dict[str, str] = {}
    for path in paths:
        name = folded_name(path)
        if first.setdefault(name, path) != path:
            yield of.NAME_CLASH.found(
                path, f"On many disks its name is the same as that of {first[name]}, and one would be lost"
            )


def examine_name(listed: Listed) -> Iterator[Finding]:
    """The name of one live file, whatever others are called."""
    name = listed.path.rpartition("/")[2]
    if name == file_name_of(listed.meta):  # as most are, and never too long
        return
    size = len(name.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME_BYTES:
        yield of.NAME_TOO_LONG.found(listed.path, f"Its name has {size} bytes, {MAX_NAME_BYTES} are safe everywhere")
    elif not is_safe_name(name):
        yield of.NAME_UNSAFE.found(listed.path, "Its name holds what a shell or a link reads as something else")


# -- repairs: nothing is ever deleted ---------------------------------------------------------------------------------


@frozen
class Rewrite:
    """The file is written again with this frontmatter, its tags in normal form, under this name."""

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
    return tuple(_plan(notes, live, _Taken(taken_ids, names)))


class _Taken:
    """Ids and names that are given already, and those that are given along the way."""

    def __init__(self, ids: Iterable[str], names: Iterable[str]) -> None:
        self._ids = {id.casefold() for id in ids}
        self._names: dict[str, int] = {}
        for name in names:
            folded = folded_name(name)
            self._names[folded] = self._names.get(folded, 0) + 1

    def id_for(self, meta: Meta, *, preferred: bool) -> str:
        id = meta.id
        if not preferred or id.casefold() in self._ids:
            id = mint_id(meta.title, meta.created_at_ms, self._ids)
        self._ids.add(id.casefold())
        return id

    def clashes(self, name: str) -> bool:
        return self._names.get(folded_name(name), 0) > 1

    def renamed(self, name: str, wanted: str) -> str:
        """The wanted name, unless another file has it, or had it before these repairs: they are carried out as one."""
        if folded_name(name) == folded_name(wanted) and not self.clashes(name):
            return name
        if self._names.get(folded_name(wanted), 0) > 0:
            return name
        if self.clashes(name):
            self._names[folded_name(name)] -= 1
        self._names[folded_name(wanted)] = 1
        return wanted


def _plan(notes: Iterable[NoteFile], live: Mapping[str, Listed], taken: _Taken) -> Iterator[NoteRepair]:
    for note in notes:
        original = note.copy_of
        repair = _rewritten(note, taken) if original is None else _separated(note, live.get(original), taken)
        if repair is not None:
            yield repair


def _separated(note: NoteFile, original: Listed | None, taken: _Taken) -> NoteRepair | None:
    """A copy of another file's id: a note of its own where it says something else, else out of the way."""
    if original is None:
        return None
    if _say_the_same(note.stored.listed, original):
        return Shelve(note, f"{note.path} says what {original.path} says, and is in the archive now")
    meta = note.stored.meta
    fresh = evolve(meta, id=taken.id_for(meta, preferred=False), aliases=())
    name = taken.renamed(note.name, file_name_of(fresh))
    return Rewrite(note, fresh, name, f"{note.path} is a note of its own now: {fresh.id}{_as_name(note, name)}")


def _say_the_same(one: Listed, other: Listed) -> bool:
    """Whether they have the same body, and the same frontmatter but for when it was last written."""
    return one.body_hash == other.body_hash and _undated(one.meta) == _undated(other.meta)


def _undated(meta: Meta) -> Meta:
    return evolve(meta, updated_at_ms=0)


def _rewritten(note: NoteFile, taken: _Taken) -> NoteRepair | None:
    listed = note.stored.listed
    meta, words = listed.meta, list[str]()
    if listed.provisional_id:
        meta = evolve(meta, id=taken.id_for(meta, preferred=True))
        words.append(f"has the id {meta.id} now")
    if any(normal_tag(tag) != tag for tag in note.written_tags):
        words.append(f"has the tags {' '.join(meta.tags) or '(none)'} now")
    name = note.name
    if listed.provisional_id or taken.clashes(name) or len(name.encode()) > MAX_NAME_BYTES or not is_safe_name(name):
        name = taken.renamed(name, file_name_of(meta))
        if name != note.name:
            words.append(f"is called topics/{name} now")
    return Rewrite(note, meta, name, f"{note.path} {', '.join(words)}") if words else None


def _as_name(note: NoteFile, name: str) -> str:
    return f", topics/{name}" if name != note.name else ""
