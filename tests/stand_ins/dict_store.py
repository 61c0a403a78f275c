"""The notes in memory: the same store as `StoreFiles`, without a disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import understand
from agent_memory.adapters.store.reverted_files import (
    GoingBack,
    entry_in,
    going_back,
    is_reversible,
    live_in,
    reverted_entries,
    without,
)
from agent_memory.domain.change import Applied, Change, Create, Dropped, Receipt, Replace, Retire, Together, subject_of
from agent_memory.domain.entry import Listed, Listing, Listings, MemoryEntry, StoredEntry, UnreadableFile
from agent_memory.domain.footprint import Footprint, fold_files
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.domain.text.file_name import folded_name
from agent_memory.domain.text.links import find_links
from agent_memory.domain.tier_reversal import reverse_tiers
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryInvalid, EntryNotFound, EntryUnreadable, Error, PathRefused
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.results import sealed
from agent_memory.wording import describe
from stand_ins.dict_shelves import DictNote, DictShelves, shelves_of
from stand_ins.dict_trial import Trial


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


@frozen
class Reversed:
    """The shelves as they were before a run."""

    shelves: DictShelves
    receipt: Receipt


def reversed_shelves(footprint: Footprint, now: DictShelves) -> Result[Reversed, Error]:
    """See `Store.revert`."""
    for change in footprint.files:
        if not is_reversible(change.path):
            return Failure(PathRefused(change.path, "it is no file of entries or tiers"))
    files = now.files()

    def attempt(notes: Sequence[FileChange]) -> Result[tuple[dict[str, bytes], Mapping[str, str]], Error]:
        back = _with(files, notes)
        reasons = dict(_changed_since(notes, files)) or dict(_clashes(notes, files))
        return Success((back, reasons or dict(_dangling(notes, shelves_of(back)))))

    tiers = [each for each in footprint.files if each.path == TIERS_FILE]
    return going_back([each for each in footprint.files if each.path != TIERS_FILE], attempt).map(
        lambda back: _reversed(tiers, back)
    )


def _with(files: Mapping[str, bytes], notes: Sequence[FileChange]) -> dict[str, bytes]:
    gone = {change.path for change in notes}
    back = {change.path: change.before.data for change in notes if change.before is not None}
    return {**{path: data for path, data in files.items() if path not in gone}, **back}


def _changed_since(notes: Sequence[FileChange], files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for change in notes:
        data = files.get(change.path)
        if (None if data is None else content_hash(data)) != hash_of(change.after):
            yield change.path, f"{change.path} {'is gone' if data is None else 'was changed since'}"


def _clashes(notes: Sequence[FileChange], files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    paths = {change.path for change in notes}
    others = shelves_of({path: data for path, data in files.items() if path not in paths})
    for change in notes:
        if (listed := live_in(change, change.before)) is not None:
            for id in (listed.meta.id, *listed.meta.aliases):
                yield from ((change.path, f"{id} leads to {bearer.path} by now") for bearer in others.bearers(id))
    taken = {folded_name(path) for path in files if path not in paths}
    for change in notes:
        if change.before is not None and change.after is None and folded_name(change.path) in taken:
            yield change.path, f"another file has the name of {change.path}"


def _dangling(notes: Sequence[FileChange], back: DictShelves) -> Iterator[tuple[str, str]]:
    leaving = [(change.path, entry) for change in notes if (entry := entry_in(change.path, change.after)) is not None]
    archived = back.archived()
    gone = {
        id: path
        for path, each in leaving
        for id in (each.meta.id, *each.meta.aliases)
        if not back.bearers(id) and id not in archived
    }
    paths = {change.path for change in notes}
    for note in sorted(back.live.values(), key=lambda note: note.path):
        if note.path not in paths:
            targets = dict.fromkeys(link.target for link in find_links(note.stored.body) if link.target in gone)
            yield from ((gone[id], f"{note.path} links to {id}, which only this run has made") for id in targets)


def _reversed(changes: Sequence[FileChange], back: GoingBack[dict[str, bytes]]) -> Reversed:
    shelves = shelves_of(back.value)
    before = shelves.tiers
    if changes:
        now = None if before is None else FileState(render_tiers(before))
        if not back.staying and not fold_files(changes).interrupted and hash_of(now) == hash_of(changes[-1].after):
            shelves.tiers = None if changes[0].before is None else _tiers_in(changes[0].before)
        else:
            reversed_ = before or TierList()
            for change in reversed(changes):
                was, became = (without(_tiers_in(each), back.staying) for each in (change.before, change.after))
                reversed_ = reverse_tiers(reversed_, was, became)
            shelves.tiers = before if reversed_ == (before or TierList()) else reversed_
    return Reversed(shelves, Receipt(tuple(reverted_entries(back.files)), tiers_changed=shelves.tiers != before))


def _tiers_in(state: FileState | None) -> TierList:
    return TierList() if state is None else parse_tiers(state.data, TIERS_FILE).unwrap()
