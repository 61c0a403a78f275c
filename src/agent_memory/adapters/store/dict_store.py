"""The notes in memory: the same store as `StoreFiles`, without a disk."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.change import Applied, Change, Create, Dropped, Receipt, Replace, Restore, Retire
from agent_memory.domain.entry import Listing, MemoryEntry, StoredEntry, UnreadableFile
from agent_memory.domain.recording.file_change import content_hash
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, EntryNotFound, EntryUnreadable, Error
from agent_memory.formats.note import render_note
from agent_memory.wording import describe


@frozen
class _Note:
    path: str
    text: str

    @property
    def hash(self) -> str:
        return content_hash(self.text.encode())

    @property
    def stored(self) -> StoredEntry:
        """Only of notes that were readable when they came in."""
        return understand(self.path, self.text.encode(), 0).unwrap()


@define
class _Shelves:
    """What changes together, so that a copy of it can be thrown away."""

    live: dict[str, _Note] = field(factory=dict)
    retired: dict[str, _Note] = field(factory=dict)
    versions: dict[str, dict[int, _Note]] = field(factory=dict)
    unreadable: dict[str, str] = field(factory=dict)

    def copy(self) -> _Shelves:
        versions = {id: dict(notes) for id, notes in self.versions.items()}
        return _Shelves(dict(self.live), dict(self.retired), versions, dict(self.unreadable))


class DictStore:
    """`Store` in dicts."""

    def __init__(self) -> None:
        self._shelves = _Shelves()

    def put_by_hand(self, path: str, text: str) -> None:
        """What a person does with an editor in `topics/`."""
        kept = {id: note for id, note in self._shelves.live.items() if note.path != path}
        self._shelves.unreadable.pop(path, None)
        understood = understand(path, text.encode(), 0)
        if isinstance(understood, Success):
            kept[understood.unwrap().meta.id] = _Note(path, text)
        else:
            self._shelves.unreadable[path] = text
        self._shelves.live = kept

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """See the port."""
        notes = self._archived().values() if archived else self._shelves.live.values()
        entries = sorted((note.stored.listed for note in notes), key=lambda listed: listed.path)
        unreadable = () if archived else tuple(self._unreadable(path) for path in sorted(self._shelves.unreadable))
        return Success(Listing(tuple(entries), unreadable))

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """See the port."""
        if archived:
            note = self._archived().get(id)
            return Failure(EntryNotFound(id)) if note is None else Success(note.stored)
        note = self._shelves.live.get(id)
        holders = [each for each in self._shelves.live.values() if id in each.stored.meta.aliases]
        if note or holders:
            return Success((note or min(holders, key=lambda each: each.path)).stored)
        for path in self._shelves.unreadable:
            if path.endswith(f" {id}.md"):
                return Failure(EntryUnreadable(path, self._unreadable(path).problems))
        return Failure(EntryNotFound(id, archived=id in self._archived()))

    def write(self, entry: MemoryEntry, expected_hash: str | None) -> Result[Receipt, Error]:
        """See the port. A refusal is an error."""
        return self._one(Create(entry) if expected_hash is None else Replace(entry, expected_hash))

    def delete(self, id: str) -> Result[Receipt, Error]:
        """See the port."""
        found = self.read(id)
        if isinstance(found, Failure):
            return found
        if found.unwrap().meta.id != id:
            return Failure(EntryNotFound(id))
        return self._one(Retire(id, found.unwrap().listed.content_hash))

    def apply(self, changes: Sequence[Change]) -> Result[Receipt, Error]:
        """See the port."""
        trial = _Trial(self._shelves.copy())
        applied, dropped = [], []
        for change in changes:
            done = trial.make(change)
            if isinstance(done, Success):
                applied.append(done.unwrap())
            elif isinstance(done.failure(), EntryInvalid):
                return Failure(done.failure())
            else:
                dropped.append(Dropped(_subject(change), (describe(done.failure()),)))
        self._shelves = trial.shelves
        return Success(Receipt(tuple(applied), tuple(dropped)))

    def _one(self, change: Change) -> Result[Receipt, Error]:
        trial = _Trial(self._shelves.copy())
        done = trial.make(change)
        if isinstance(done, Failure):
            return done
        self._shelves = trial.shelves
        return Success(Receipt((done.unwrap(),)))

    def _archived(self) -> dict[str, _Note]:
        newest = {id: notes[max(notes)] for id, notes in self._shelves.versions.items()}
        return {**newest, **self._shelves.retired}

    def _unreadable(self, path: str) -> UnreadableFile:
        problem = understand(path, self._shelves.unreadable[path].encode(), 0).failure()
        return UnreadableFile(path, problem.problems)


@define
class _Trial:
    """Changes made to a copy."""

    shelves: _Shelves

    def make(self, change: Change) -> Result[Applied, Error]:
        """Make it, or change nothing."""
        match change:
            case Create(entry):
                return _checked(entry).bind(self._create)
            case Replace(entry, expected_hash):
                return _checked(entry).bind(lambda entry: self._replace(entry, expected_hash))
            case Retire():
                return self._retire(change)
            case Restore(id):
                return self._restore(id)

    def _create(self, entry: MemoryEntry) -> Result[Applied, Error]:
        id = entry.meta.id
        note = _Note(f"{TOPICS}/{file_name_of(entry.meta)}", render_note(entry))
        existing = self.shelves.live.get(id)
        if existing is not None and existing.text == note.text:
            return Success(Applied(id, "create", existing.path, (existing.path,), None, existing.hash))
        owner = existing.path if existing is not None else self._owner(id)
        if owner is not None:
            return Failure(EntryExists(id, owner))
        self.shelves.live[id] = note
        return Success(Applied(id, "create", note.path, (note.path,), None, note.hash))

    def _replace(self, entry: MemoryEntry, expected_hash: str) -> Result[Applied, Error]:
        id = entry.meta.id
        before = self.shelves.live.get(id)
        if before is None:
            return Failure(self._not_live(id))
        wanted = f"{TOPICS}/{file_name_of(entry.meta)}"
        is_same_name = file_name_of(before.stored.meta) == file_name_of(entry.meta)
        name = before.path if is_same_name or folded_name(wanted) == folded_name(before.path) else wanted
        after = _Note(name, render_note(entry, before.text))
        if before.hash != expected_hash:
            if after.text != before.text:
                return Failure(EntryChanged(id))
            versions = [each.path for each in self.shelves.versions.get(id, {}).values() if each.hash == expected_hash]
            touched = (name, *versions[-1:])
            return Success(Applied(id, "replace", name, touched, expected_hash, after.hash))
        touched = (name,) if name == before.path else (name, before.path)
        one, other = before.stored, after.stored
        if (one.meta.title, one.meta.description, one.body) != (other.meta.title, other.meta.description, other.body):
            touched += (self._keep(id, before),)
        self.shelves.live[id] = after
        return Success(Applied(id, "replace", name, touched, expected_hash, after.hash))

    def _retire(self, change: Retire) -> Result[Applied, Error]:
        id = change.id
        before = self.shelves.live.get(id)
        if before is None:
            return self._retired_already(change)
        if before.hash != change.expected_hash:
            return Failure(EntryChanged(id))
        path = f"{ARCHIVE}/{before.path.rpartition('/')[2]}"
        touched = [before.path, path]
        earlier = self.shelves.retired.pop(id, None)
        if earlier is not None:
            touched += [self._keep(id, earlier), earlier.path]
        text = before.text
        if change.valid_until_ms is not None:
            touched.append(self._keep(id, before))
            entry = before.stored.entry
            text = render_note(
                evolve(entry, meta=evolve(entry.meta, valid_until_ms=change.valid_until_ms)), before.text
            )
        self.shelves.retired[id] = _Note(path, text)
        del self.shelves.live[id]
        return Success(Applied(id, "retire", before.path, tuple(dict.fromkeys(touched)), change.expected_hash, None))

    def _retired_already(self, change: Retire) -> Result[Applied, Error]:
        retired = self.shelves.retired.get(change.id)
        versions = self.shelves.versions.get(change.id, {}).values()
        if retired is None or change.expected_hash not in {note.hash for note in (retired, *versions)}:
            return Failure(self._not_live(change.id))
        path = f"{TOPICS}/{retired.path.rpartition('/')[2]}"
        return Success(Applied(change.id, "retire", path, (path, retired.path), change.expected_hash, None))

    def _restore(self, id: str) -> Result[Applied, Error]:
        if id in self.shelves.live:
            return Failure(EntryExists(id, self.shelves.live[id].path))
        retired = self.shelves.retired.get(id)
        versions = self.shelves.versions.get(id, {})
        missing = self._not_live(id)
        if not isinstance(missing, EntryNotFound) or (retired is None and not versions):
            return Failure(missing)
        note = retired or versions[max(versions)]
        name = retired.path.rpartition("/")[2] if retired else file_name_of(note.stored.meta)
        restored = _Note(f"{TOPICS}/{name}", self._original(id) if retired else note.text)
        holders = [each for each in self.shelves.live.values() if id in each.stored.meta.aliases]
        for holder in holders:
            meta = holder.stored.meta
            kept = evolve(meta, aliases=tuple(alias for alias in meta.aliases if alias != id))
            text = render_note(MemoryEntry(kept, holder.stored.body), holder.text)
            self.shelves.live[meta.id] = _Note(holder.path, text)
        self.shelves.live[id] = restored
        self.shelves.retired.pop(id, None)
        touched = [restored.path, *(holder.path for holder in holders), *([retired.path] if retired else [])]
        return Success(Applied(id, "restore", restored.path, tuple(touched), None, restored.hash))

    def _original(self, id: str) -> str:
        """The retired bytes; those from before, where retiring only set the end of its validity."""
        retired = self.shelves.retired[id]
        until = retired.stored.meta.valid_until_ms
        versions = self.shelves.versions.get(id, {})
        for ms in sorted(versions, reverse=True) if until is not None else ():
            version = versions[ms].stored.entry
            if evolve(version, meta=evolve(version.meta, valid_until_ms=until)) == retired.stored.entry:
                return versions[ms].text
        return retired.text

    def _keep(self, id: str, note: _Note) -> str:
        kept = self.shelves.versions.setdefault(id, {})
        ms = max(note.stored.meta.updated_at_ms, 0)
        while ms in kept and kept[ms].text != note.text:
            ms += 1
        path = f"{ARCHIVE}/{id}/{ms}.md"
        kept[ms] = _Note(path, note.text)
        return path

    def _owner(self, id: str) -> str | None:
        wanted = id.casefold()
        holders = [
            note.path
            for note in self.shelves.live.values()
            if wanted in (taken.casefold() for taken in (note.stored.meta.id, *note.stored.meta.aliases))
        ]
        if holders:
            return min(holders)
        for path in self.shelves.unreadable:
            if path.casefold().endswith(f" {wanted}.md"):
                return path
        past = {**{key: notes[max(notes)] for key, notes in self.shelves.versions.items()}, **self.shelves.retired}
        return next((note.path for key, note in past.items() if key.casefold() == wanted), None)

    def _not_live(self, id: str) -> Error:
        for path, text in self.shelves.unreadable.items():
            if path.endswith(f" {id}.md"):
                return EntryUnreadable(path, understand(path, text.encode(), 0).failure().problems)
        return EntryNotFound(id, archived=id in self.shelves.retired or id in self.shelves.versions)


def _checked(entry: MemoryEntry) -> Result[MemoryEntry, Error]:
    if not is_id(entry.meta.id):
        return Failure(EntryInvalid((f"id is {entry.meta.id[:40]!r}, expected id__ and six base58 digits",)))
    read_back = understand(f"{TOPICS}/{file_name_of(entry.meta)}", render_note(entry).encode(), 0)
    return Success(entry) if isinstance(read_back, Success) else Failure(EntryInvalid(read_back.failure().problems))


def _subject(change: Change) -> str:
    return change.entry.meta.id if isinstance(change, Create | Replace) else change.id
