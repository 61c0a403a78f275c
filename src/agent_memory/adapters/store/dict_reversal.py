"""What a run did to a store in memory, taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from returns.result import Failure, Result

from agent_memory.adapters.store.dict_shelves import DictShelves, shelves_of
from agent_memory.adapters.store.reverted_files import entry_in, is_reversible, live_in, refused_for, reverted_entries
from agent_memory.domain.change import Receipt
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.domain.text.links import find_links
from agent_memory.domain.tier_reversal import reverse_tiers
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import Error, PathRefused
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.values import frozen


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
    folded = fold_files([change for change in footprint.files if change.path != TIERS_FILE])
    files = now.files()
    interrupted = [f"{path} was changed by somebody else while the run was at work" for path in folded.interrupted]
    back = _with(files, folded.files)
    return (
        refused_for(interrupted)
        .bind(lambda _: refused_for(_changed_since(folded.files, files)))
        .bind(lambda _: refused_for(_clashes(folded.files, files)))
        .bind(lambda _: refused_for(_dangling(folded.files, shelves_of(back))))
        .map(lambda _: _reversed([each for each in footprint.files if each.path == TIERS_FILE], folded.files, back))
    )


def _with(files: Mapping[str, bytes], notes: Sequence[FileChange]) -> dict[str, bytes]:
    gone = {change.path for change in notes}
    back = {change.path: change.before.data for change in notes if change.before is not None}
    return {**{path: data for path, data in files.items() if path not in gone}, **back}


def _changed_since(notes: Sequence[FileChange], files: Mapping[str, bytes]) -> Iterator[str]:
    for change in notes:
        data = files.get(change.path)
        if (None if data is None else content_hash(data)) != hash_of(change.after):
            yield f"{change.path} {'is gone' if data is None else 'was changed since'}"


def _clashes(notes: Sequence[FileChange], files: Mapping[str, bytes]) -> Iterator[str]:
    paths = {change.path for change in notes}
    others = shelves_of({path: data for path, data in files.items() if path not in paths})
    for change in notes:
        if (listed := live_in(change, change.before)) is not None:
            for id in (listed.meta.id, *listed.meta.aliases):
                yield from (f"{id} leads to {bearer.path} by now" for bearer in others.bearers(id))
    taken = {folded_name(path) for path in files if path not in paths}
    for change in notes:
        if change.before is not None and change.after is None and folded_name(change.path) in taken:
            yield f"another file has the name of {change.path}"


def _dangling(notes: Sequence[FileChange], back: DictShelves) -> Iterator[str]:
    leaving = [entry for change in notes if (entry := entry_in(change.path, change.after)) is not None]
    archived = back.archived()
    gone = {
        id
        for each in leaving
        for id in (each.meta.id, *each.meta.aliases)
        if not back.bearers(id) and id not in archived
    }
    paths = {change.path for change in notes}
    for note in sorted(back.live.values(), key=lambda note: note.path):
        if note.path not in paths:
            targets = dict.fromkeys(link.target for link in find_links(note.stored.body) if link.target in gone)
            yield from (f"{note.path} links to {id}, which only this run has made" for id in targets)


def _reversed(changes: Sequence[FileChange], notes: Sequence[FileChange], back: dict[str, bytes]) -> Reversed:
    shelves = shelves_of(back)
    before = shelves.tiers
    if changes:
        now = None if before is None else FileState(render_tiers(before))
        if not fold_files(changes).interrupted and hash_of(now) == hash_of(changes[-1].after):
            shelves.tiers = None if changes[0].before is None else _tiers_in(changes[0].before)
        else:
            reversed_ = before or TierList()
            for change in reversed(changes):
                reversed_ = reverse_tiers(reversed_, _tiers_in(change.before), _tiers_in(change.after))
            shelves.tiers = before if reversed_ == (before or TierList()) else reversed_
    return Reversed(shelves, Receipt(tuple(reverted_entries(notes)), tiers_changed=shelves.tiers != before))


def _tiers_in(state: FileState | None) -> TierList:
    return TierList() if state is None else parse_tiers(state.data, TIERS_FILE).unwrap()
