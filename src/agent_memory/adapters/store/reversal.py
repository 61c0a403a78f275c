"""What a run did to the files of a store, taken back byte for byte, decided against a draft (P16).

A note stays where a file of it is not as the run left it, or where what comes back would not keep what a store promises: an
id that leads to one entry, names that no file system takes for one, links that resolve (P15).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import read_image, understand
from agent_memory.adapters.store.reverted_files import (
    GoingBack,
    entry_in,
    going_back,
    is_reversible,
    live_in,
    reverted_entries,
    without,
)
from agent_memory.adapters.store.store_draft import Draft
from agent_memory.adapters.store.tier_file import put_tiers, tiers_in
from agent_memory.domain.change import Receipt
from agent_memory.domain.footprint import Footprint
from agent_memory.domain.footprint_fold import fold_files
from agent_memory.domain.recording.file_change import FileChange, FileState, hash_of
from agent_memory.domain.results import sealed
from agent_memory.domain.text.links import find_links
from agent_memory.domain.tier_reversal import reverse_tiers
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import Error, PathRefused


def decide_reversal(footprint: Footprint, new_draft: Callable[[], Draft]) -> Result[tuple[Draft, Receipt], Error]:
    """The receipt, and a draft as it was before the run. What cannot be taken back stays, with all that belongs with it: the
    notes that a merge, split or replacement made of one another, and what a note that stays links to.

    UndoRefused with all reasons, the run in it to be filled in by the caller, where nothing is left to take back.
    """
    foreign = next((each.path for each in footprint.files if not is_reversible(each.path)), None)
    if foreign is not None:
        return Failure(PathRefused(foreign, "it is no file of entries or tiers"))
    tiers = [each for each in footprint.files if each.path == TIERS_FILE]

    def attempt(files: Sequence[FileChange]) -> Result[tuple[Draft, Mapping[str, str]], Error]:
        draft = new_draft()
        for find in (_changed_since, _put_back, _left_dangling):
            reasons = find(files, draft)
            if isinstance(reasons, Failure) or reasons.unwrap():
                return reasons.map(lambda found: (draft, found))
        return Success((draft, {}))

    def receipt(back: GoingBack[Draft]) -> Result[tuple[Draft, Receipt], Error]:
        entries = tuple(reverted_entries(back.files))
        put = _put_tiers_back(tiers, back.staying, back.value)
        return put.map(lambda tiers_changed: (back.value, Receipt(entries, tiers_changed=tiers_changed)))

    return going_back([each for each in footprint.files if each.path != TIERS_FILE], attempt).bind(receipt)


def _changed_since(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Why each file that is not as the run left it cannot be put back, by path."""
    reasons: dict[str, str] = {}
    for change in notes:
        match sealed(draft.state(change.path)):
            case Failure(error):
                return Failure(error)
            case Success(state) if hash_of(state) != hash_of(change.after):
                reasons[change.path] = f"{change.path} {'is gone' if state is None else 'was changed since'}"
            case Success(_):
                pass
    return Success(reasons)


def _put_back(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Why some of it cannot come back, by path."""
    for change in notes:
        if (there := live_in(change, change.after)) is not None:
            draft.put_live(there.meta.id, None)
        if change.before is None:
            draft.put(change.path, None)
    back = [(change.path, listed) for change in notes if (listed := live_in(change, change.before)) is not None]
    reasons = {
        path: f"{id} leads to {bearer.path} by now"
        for path, each in back
        for id in (each.meta.id, *each.meta.aliases)
        for bearer in draft.bearers(id)
    }
    for change in notes:
        if change.before is not None:
            shelf, _, name = change.path.rpartition("/")
            free = Success(True) if change.after is not None else draft.is_free(shelf, name)
            if isinstance(free, Failure):
                return free
            if not free.unwrap():
                reasons[change.path] = f"another file has the name of {change.path}"
            draft.put(change.path, change.before)
    for _, each in back:
        draft.put_live(each.meta.id, each)
    return Success(reasons)


def _left_dangling(notes: Sequence[FileChange], draft: Draft) -> Result[dict[str, str], Error]:
    """Links of other live entries to what only the run had made, by the path of what it made."""
    leaving = {
        id: change.path
        for change in notes
        if (left := entry_in(change.path, change.after)) is not None
        for id in (left.meta.id, *left.meta.aliases)
    }
    gone: dict[str, str] = {}
    for id, path in leaving.items():
        leads = _leads_somewhere(id, draft)
        if isinstance(leads, Failure):
            return leads
        if not leads.unwrap():
            gone[id] = path
    return _links_to(gone, {change.path for change in notes}, draft) if gone else Success({})


def _leads_somewhere(id: str, draft: Draft) -> Result[bool, Error]:
    if draft.bearers(id):
        return Success(True)
    newest = draft.archived(id)
    if isinstance(newest, Failure):
        return newest
    if (archived := newest.unwrap()) is not None:
        there = draft.state(archived.path)
        if isinstance(there, Failure) or there.unwrap() is not None:
            return there.map(lambda _: True)
    return draft.versions(id).map(bool)


def _links_to(gone: Mapping[str, str], put_back: set[str], draft: Draft) -> Result[dict[str, str], Error]:
    reasons: dict[str, str] = {}
    mentioned = re.compile("|".join(re.escape(f"[[{id}") for id in sorted(gone)).encode())
    for listed in draft.all_live():
        if listed.path in put_back:
            continue
        read = read_image(draft.root, listed.path)  # not through the draft, which would keep the whole store in memory
        if isinstance(read, Failure):
            return read
        image = read.unwrap()
        if image is not None and mentioned.search(image.data):
            body = understand(listed.path, image.data, image.mtime_ns).map(lambda stored: stored.body).value_or("")
            targets = dict.fromkeys(link.target for link in find_links(body) if link.target in gone)
            reasons |= {gone[id]: f"{listed.path} links to {id}, which only this run has made" for id in targets}
    return Success(reasons)


def _put_tiers_back(changes: Sequence[FileChange], staying: Set[str], draft: Draft) -> Result[bool, Error]:
    """The file as it was; where it was changed since, only what the run had moved and nobody has moved again (a pin set
    after a run must not keep that run from being undone)."""
    if not changes:
        return Success(False)
    folded = fold_files(changes)
    read = draft.state(TIERS_FILE)
    if isinstance(read, Failure):
        return read
    now = read.unwrap()
    if not staying and not folded.interrupted and hash_of(now) == hash_of(changes[-1].after):
        draft.put(TIERS_FILE, changes[0].before)
        return Success(bool(folded.files))
    tiers = _tiers_in(now, draft)
    for change in reversed(changes):
        before, after = _tiers_in(change.before, draft), _tiers_in(change.after, draft)
        for each in (tiers, before, after):
            if isinstance(each, Failure):
                return each
        was, became = without(before.unwrap(), staying), without(after.unwrap(), staying)
        tiers = Success(reverse_tiers(tiers.unwrap(), was, became))
    return tiers.bind(lambda reversed_: put_tiers(reversed_, draft))


def _tiers_in(state: FileState | None, draft: Draft) -> Result[TierList, Error]:
    return tiers_in(draft.root, None if state is None else state.data)
