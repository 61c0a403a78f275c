"""What a run did to a store in memory, taken back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.dict_shelves import DictShelves, shelves_of
from agent_memory.adapters.store.reverted_files import (
    GoingBack,
    entry_in,
    going_back,
    is_reversible,
    live_in,
    reverted_entries,
    without,
)
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
