"""Decides an undo: which files of a footprint can be restored together, and which notes result (P16).

What cannot be undone stays, with everything connected to it: notes that a merge, split or replacement made of one
another, and what the text of a remaining note links to. Its `See also:` line loses what goes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from agent_memory.errors import EntryUnreadable, PathRefused, UndoRefused
from agent_memory.note.note import TIERS_FILE, Listed, MemoryEntry, TierList
from agent_memory.rules.change import (
    CHANGED_SINCE,
    Change,
    FileChange,
    FileState,
    Footprint,
    Receipt,
    fold_files,
    hash_of,
)
from agent_memory.store.bookkeeping import MARKS
from agent_memory.store.changes import Decided, Draft, decide_batch, put_tiers
from agent_memory.store.diffs import note_changes
from agent_memory.store.note_files import ARCHIVE, TOPICS, entry_or_none, read_stored, tiers_in
from agent_memory.text.ids import ID_PATTERN
from agent_memory.text.markdown import find_links, without_see_also_of

_NOTE = re.compile(rf"{TOPICS}/[^/]+\.md|{ARCHIVE}/(?:({ID_PATTERN})/)?[^/]+\.md|{MARKS}", re.DOTALL)


def decide_reversal(footprint: Footprint, draft: Draft) -> Decided:
    """Returns the store as before the run. Raises UndoRefused if nothing is left to undo; the caller fills in the run."""
    for each in footprint.files:
        if each.path != TIERS_FILE and _NOTE.fullmatch(each.path) is None:
            raise PathRefused(each.path, "it is not a file of notes, marks or tiers")  # P21
    folded = fold_files([each for each in footprint.files if each.path != TIERS_FILE])
    groups = files_together([*folded.files, *(FileChange(path, None, None) for path in folded.interrupted)])
    reasons = {path: f"{path} was changed by somebody else while the run was at work" for path in folded.interrupted}
    names = {
        path: f"{'a secret note' if now and now.meta.is_secret else note.title or 'a note'} ({note.id})"
        for note in note_changes(folded.files)
        for now in (draft.live(note.id),)
        for path in (note.before.path, note.after.path)
        if path
    }
    while True:
        staying = {path for hindered in reasons for path in groups[hindered]}
        files = [each for each in folded.files if each.path not in staying]
        if reasons and not files:
            raise UndoRefused("", tuple(dict.fromkeys(reasons.values())))
        attempt = draft.copy()
        more, unlinked = _changed_since(files, names, attempt) or _restore(files, attempt), list[Change]()
        if not more:
            more, unlinked = _left_dangling(files, attempt)
        if not more:
            break
        reasons |= more
    attempt, _ = decide_batch(unlinked, None, attempt)
    left = _ids_in(each for each in folded.files if each.path in staying)
    tiers = [each for each in footprint.files if each.path == TIERS_FILE]
    tiers_changed = bool(tiers) and _restore_tiers(tiers, left, attempt)
    return attempt, Receipt(touched=(*(each.path for each in files), *([TIERS_FILE] if tiers_changed else [])))


# -- what belongs together --------------------------------------------------------------------------------------------


def files_together(notes: Sequence[FileChange]) -> dict[str, set[str]]:
    """Returns, for each path, those that must stay or go with it: the files of the same notes."""
    of_path = {change.path: {change.path} for change in notes}
    first_of: dict[str, str] = {}
    for change in notes:
        for id in _ids_in((change,)):
            one, other = of_path[first_of.setdefault(id, change.path)], of_path[change.path]
            if one is not other:
                one |= other
                of_path.update(dict.fromkeys(other, one))
    return of_path


def _ids_in(notes: Iterable[FileChange]) -> set[str]:
    entries = (_entry_in(change.path, state) for change in notes for state in (change.before, change.after))
    metas = [each.meta for each in entries if each is not None]
    return {id for meta in metas for id in (meta.id, *meta.aliases, *meta.supersedes)}


# -- why a file cannot be restored, by path ---------------------------------------------------------------------------


def _changed_since(notes: Sequence[FileChange], names: Mapping[str, str], draft: Draft) -> dict[str, str]:
    return {
        change.path: f"{names.get(change.path, change.path)} {CHANGED_SINCE}"
        for change in notes
        if hash_of(draft.state(change.path)) != hash_of(change.after)
    }


def _restore(notes: Sequence[FileChange], draft: Draft) -> dict[str, str]:
    for change in notes:
        if (there := _live_in(change, change.after)) is not None:
            draft.put_live(there.meta.id, None)
        if change.before is None:
            draft.put(change.path, None)
    back = [(change.path, listed) for change in notes if (listed := _live_in(change, change.before)) is not None]
    reasons = {
        path: f"{id} leads to {bearer.path} by now"
        for path, each in back
        for id in each.meta.all_ids
        for bearer in draft.bearers(id)
    }
    for change in notes:
        if change.before is not None:
            directory, _, name = change.path.rpartition("/")
            if change.after is None and not draft.is_free(directory, name):
                reasons[change.path] = f"another file has the name of {change.path}"
            draft.put(change.path, change.before)
    for _, each in back:
        draft.put_live(each.meta.id, each)
    return reasons


def _left_dangling(notes: Sequence[FileChange], draft: Draft) -> tuple[dict[str, str], list[Change]]:
    """Returns links in the text of other live notes to notes that only the run made, by the latter's path; and the notes
    without such links under `See also:`."""
    leaving = {
        id: change.path
        for change in notes
        if (left := _entry_in(change.path, change.after)) is not None
        for id in left.meta.all_ids
    }
    gone: dict[str, str] = {}
    for id, path in leaving.items():
        archived = draft.archived(id)
        is_archived = archived is not None and draft.state(archived.path) is not None
        if not (draft.bearers(id) or is_archived or draft.versions(id)):
            gone[id] = path
    reasons: dict[str, str] = {}
    unlinked: list[Change] = []
    if not gone:
        return reasons, unlinked
    put_back = {change.path for change in notes}
    for listed in draft.all_live():
        if listed.path in put_back:
            continue
        try:
            stored = read_stored(
                draft.root, listed.path, listed
            )  # not through the draft, which would keep it in memory
        except EntryUnreadable:
            continue
        if stored is None:
            continue
        body = without_see_also_of(stored.body, gone)
        for link in find_links(body):
            if link.target in gone:
                reasons[gone[link.target]] = f"{listed.path} links to {link.target}, which only this run has made"
        if body != stored.body:
            unlinked.append(Change.of(MemoryEntry(stored.meta, body), stored.listed.content_hash))
    return reasons, unlinked


# -- tiers ------------------------------------------------------------------------------------------------------------


def _restore_tiers(changes: Sequence[FileChange], staying: Set[str], draft: Draft) -> bool:
    """Restores the file, or if it changed since, only what the run moved and nobody moved again: a pin must not block
    undo."""
    folded = fold_files(changes)
    now = draft.state(TIERS_FILE)
    if not staying and not folded.interrupted and hash_of(now) == hash_of(changes[-1].after):
        draft.put(TIERS_FILE, changes[0].before)
        return bool(folded.files)
    tiers = tiers_in(draft.root, now)
    for change in reversed(changes):
        before, after = (tiers_in(draft.root, each).without(staying) for each in (change.before, change.after))
        tiers = reverse_tiers(tiers, before, after)
    return put_tiers(tiers, draft)


def reverse_tiers(now: TierList, before: TierList, after: TierList) -> TierList:
    """Returns `now` with each note that moved to another tier between `before` and `after`, and has stayed there, back
    in its old tier, behind the note that it followed in `before`."""
    known = {id for tiers in (before, after) for id in (*tiers.hot, *tiers.warm)}
    back = {id for id in known if before.of(id) is not after.of(id) and now.of(id) is after.of(id)}
    return TierList(_with_returned(now.hot, before.hot, back), _with_returned(now.warm, before.warm, back))


def _with_returned(now: Sequence[str], before: Sequence[str], back: set[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(id for id in now if id not in back)
    following: defaultdict[str | None, list[str]] = defaultdict(list)
    predecessor: str | None = None
    for id in before:
        if id in back:
            following[predecessor].append(id)
        elif id in kept:
            predecessor = id
    return (*following[None], *(each for id in kept for each in (id, *following[id])))


def _live_in(change: FileChange, state: FileState | None) -> Listed | None:
    """Returns the live note in this state of a file in `topics/`."""
    return _entry_in(change.path, state) if change.path.startswith(f"{TOPICS}/") else None


def _entry_in(path: str, state: FileState | None) -> Listed | None:
    stored = None if state is None else entry_or_none(path, state.data, state.mtime_ns or 0)
    return None if stored is None else stored.listed
