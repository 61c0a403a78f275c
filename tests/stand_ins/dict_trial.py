"""The four changes of a store in memory."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, evolve, field
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.domain.change import Applied, Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.text.file_name import file_name_of, folded_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, EntryNotFound, EntryUnreadable, Error
from agent_memory.formats.note import render_note
from agent_memory.results import sealed
from stand_ins.dict_shelves import DictNote, DictShelves


@define
class Trial:
    """Changes made to shelves."""

    shelves: DictShelves
    done_before: list[str] = field(factory=list[str])
    """Ids of the last group's changes that were found done."""

    def make_all(self, changes: Sequence[Change]) -> Result[tuple[Applied, ...], Error]:
        """Make all of them, or none; none, too, where only some were done before."""
        earlier, is_changed = self.shelves.copy(), False
        applied: list[Applied] = []
        self.done_before = []
        for change in changes:
            files = self.shelves.files() if len(changes) > 1 else {}
            match sealed(self._make(change)):
                case Failure(refusal):
                    self.shelves = earlier
                    return Failure(refusal)
                case Success(done):
                    applied.append(done)
                    is_changed = is_changed or (len(changes) > 1 and self.shelves.files() != files)
        if self.done_before and is_changed:
            self.shelves = earlier
            return Failure(EntryChanged(self.done_before[0]))
        return Success(tuple(applied))

    def _make(self, change: Change) -> Result[Applied, Error]:
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
        note = DictNote(f"{TOPICS}/{file_name_of(entry.meta)}", render_note(entry))
        existing = self.shelves.live.get(id)
        if existing is not None and existing.text == note.text:
            self.done_before.append(id)
            return Success(Applied(id, "create", existing.path, (existing.path,), None, existing.hash))
        owner = existing.path if existing is not None else self._owner(id)
        if owner is not None:
            return Failure(EntryExists(id, owner))
        if (shared := self._shared_alias(entry, ())) is not None:
            return Failure(shared)
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
        after = DictNote(name, render_note(entry, before.text))
        if before.hash != expected_hash:
            if after.text != before.text:
                return Failure(EntryChanged(id))
            versions = [each.path for each in self.shelves.versions.get(id, {}).values() if each.hash == expected_hash]
            touched = (name, *versions[-1:])
            self.done_before.append(id)
            return Success(Applied(id, "replace", name, touched, expected_hash, after.hash))
        if (shared := self._shared_alias(entry, before.stored.meta.aliases)) is not None:
            return Failure(shared)
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
        self.shelves.retired[id] = DictNote(path, text)
        del self.shelves.live[id]
        return Success(Applied(id, "retire", before.path, tuple(dict.fromkeys(touched)), change.expected_hash, None))

    def _retired_already(self, change: Retire) -> Result[Applied, Error]:
        retired = self.shelves.retired.get(change.id)
        versions = self.shelves.versions.get(change.id, {}).values()
        if retired is None or change.expected_hash not in {note.hash for note in (retired, *versions)}:
            return Failure(self._not_live(change.id))
        path = f"{TOPICS}/{retired.path.rpartition('/')[2]}"
        self.done_before.append(change.id)
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
        restored = DictNote(f"{TOPICS}/{name}", self._original(id) if retired else note.text)
        holders = [each for each in self.shelves.live.values() if id in each.stored.meta.aliases]
        for holder in holders:
            meta = holder.stored.meta
            kept = evolve(meta, aliases=tuple(alias for alias in meta.aliases if alias != id))
            text = render_note(MemoryEntry(kept, holder.stored.body), holder.text)
            self.shelves.live[meta.id] = DictNote(holder.path, text)
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

    def _keep(self, id: str, note: DictNote) -> str:
        kept = self.shelves.versions.setdefault(id, {})
        ms = max(note.stored.meta.updated_at_ms, 0)
        while ms in kept and kept[ms].text != note.text:
            ms += 1
        path = f"{ARCHIVE}/{id}/{ms}.md"
        kept[ms] = DictNote(path, note.text)
        return path

    def _owner(self, id: str) -> str | None:
        wanted = id.casefold()
        for bearer in self.shelves.bearers(id):
            return bearer.path
        for path in self.shelves.unreadable:
            if path.casefold().endswith(f" {wanted}.md"):
                return path
        past = self.shelves.archived()
        return next((past[key].path for key in sorted(past) if key.casefold() == wanted), None)

    def _shared_alias(self, entry: MemoryEntry, had: tuple[str, ...]) -> EntryExists | None:
        new = [alias for alias in entry.meta.aliases if alias not in had]
        bearers = [(alias, bearer) for alias in new for bearer in self.shelves.bearers(alias)]
        others = (EntryExists(alias, each.path) for alias, each in bearers if each.stored.meta.id != entry.meta.id)
        return next(others, None)

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
