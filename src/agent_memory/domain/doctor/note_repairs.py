"""What `memory doctor --fix` does to files of notes, decided before any of it is done. Nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve, frozen

from agent_memory.domain.doctor.note_checks import NoteFile
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.text.file_name import MAX_NAME_BYTES, file_name_of, folded_name, is_safe_name
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.tags import normal_tag


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
