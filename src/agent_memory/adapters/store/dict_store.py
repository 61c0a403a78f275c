"""The notes in memory: the same store as `StoreFiles`, without a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.dict_reversal import reversed_shelves
from agent_memory.adapters.store.dict_shelves import DictNote, DictShelves
from agent_memory.adapters.store.dict_trial import Trial
from agent_memory.adapters.store.entry_files import understand
from agent_memory.domain.change import Applied, Change, Create, Dropped, Receipt, Replace, Retire, Together, subject_of
from agent_memory.domain.entry import Listed, Listing, Listings, MemoryEntry, StoredEntry, UnreadableFile
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.recording.file_change import FileChange, FileState
from agent_memory.domain.results import sealed
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryInvalid, EntryNotFound, EntryUnreadable, Error
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.wording import describe


class DictStore:
    """`Store` in dicts."""

    def __init__(self) -> None:
        self._shelves = DictShelves()
        self.footprints: dict[str, Footprint] = {}
        """All that each run changed, by its id."""

    def put_by_hand(self, path: str, text: str) -> None:
        """What a person does with an editor in `topics/`."""
        kept = {id: note for id, note in self._shelves.live.items() if note.path != path}
        self._shelves.unreadable.pop(path, None)
        understood = understand(path, text.encode(), 0)
        if isinstance(understood, Success):
            kept[understood.unwrap().meta.id] = DictNote(path, text)
        else:
            self._shelves.unreadable[path] = text
        self._shelves.live = kept

    def files(self) -> Mapping[str, bytes]:
        """What `StoreFiles` would have on disk."""
        return self._shelves.files()

    def footprint(self, run_id: str) -> Footprint:
        """All that a run changed."""
        return self.footprints.get(run_id, Footprint())

    def list(self, *, archived: bool = False) -> Result[Listing, Error]:
        """See the port."""
        notes = self._shelves.archived().values() if archived else self._shelves.live.values()
        entries = sorted((note.stored.listed for note in notes), key=lambda listed: listed.path)
        unreadable = () if archived else tuple(self._unreadable(path) for path in sorted(self._shelves.unreadable))
        return Success(Listing(tuple(entries), unreadable))

    def read(self, id: str, *, archived: bool = False) -> Result[StoredEntry, Error]:
        """See the port."""
        if archived:
            note = self._shelves.archived().get(id)
            return Failure(EntryNotFound(id)) if note is None else Success(note.stored)
        note = self._shelves.live.get(id)
        holders = [each for each in self._shelves.live.values() if id in each.stored.meta.aliases]
        if note or holders:
            return Success((note or min(holders, key=lambda each: each.path)).stored)
        for path in self._shelves.unreadable:
            if path.endswith(f" {id}.md"):
                return Failure(EntryUnreadable(path, self._unreadable(path).problems))
        return Failure(EntryNotFound(id, archived=id in self._shelves.archived()))

    def read_again(self, listed: Listed) -> Result[StoredEntry, Error]:
        """See the port."""
        return self.read(listed.meta.id, archived=listed.archived)

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

    def apply(
        self,
        changes: Sequence[Change | Together],
        *,
        tiers: TierList | None = None,
        run_id: str | None = None,
        listed: Listings | None = None,
    ) -> Result[Receipt, Error]:
        """See the port."""
        trial = Trial(self._shelves.copy())
        applied: list[Applied] = []
        dropped: list[Dropped] = []
        for each in changes:
            match sealed(trial.make_all(each.changes if isinstance(each, Together) else (each,))):
                case Success(done):
                    applied += done
                case Failure(EntryInvalid() as invalid):
                    return Failure(invalid)
                case Failure(refusal):
                    dropped.append(Dropped(subject_of(each), (describe(refusal),)))
        return self._with_tiers(trial.shelves, tiers).map(
            lambda is_new: self._done(trial.shelves, Receipt(tuple(applied), tuple(dropped), is_new), run_id)
        )

    def tiers(self) -> Result[TierList, Error]:
        """See the port."""
        return Success(self._shelves.tiers or TierList())

    def revert(self, footprint: Footprint, run_id: str, *, dry_run: bool = False) -> Result[Receipt, Error]:
        """See the port."""
        return reversed_shelves(footprint, self._shelves).map(
            lambda reversed_: reversed_.receipt if dry_run else self._done(reversed_.shelves, reversed_.receipt, run_id)
        )

    def _with_tiers(self, shelves: DictShelves, tiers: TierList | None) -> Result[bool, Error]:
        if tiers is None or tiers == (shelves.tiers or TierList()):
            return Success(False)
        readable = parse_tiers(render_tiers(tiers), TIERS_FILE)
        if isinstance(readable, Failure):
            return Failure(EntryInvalid(tuple(f"tiers: {problem}" for problem in readable.failure().problems)))
        shelves.tiers = tiers
        return Success(True)

    def _done(self, shelves: DictShelves, receipt: Receipt, run_id: str | None) -> Receipt:
        if run_id is not None:
            changes = _changes(self._shelves.files(), shelves.files())
            if changes:
                self.footprints[run_id] = Footprint((*self.footprint(run_id).files, *changes))
        self._shelves = shelves
        return receipt

    def _one(self, change: Change) -> Result[Receipt, Error]:
        trial = Trial(self._shelves.copy())
        return trial.make_all((change,)).map(lambda applied: self._done(trial.shelves, Receipt(applied), None))

    def _unreadable(self, path: str) -> UnreadableFile:
        problem = understand(path, self._shelves.unreadable[path].encode(), 0).failure()
        return UnreadableFile(path, problem.problems)


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[FileChange, ...]:
    return tuple(
        FileChange(path, _state(before.get(path)), _state(after.get(path)))
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    )


def _state(data: bytes | None) -> FileState | None:
    return None if data is None else FileState(data, 0)
