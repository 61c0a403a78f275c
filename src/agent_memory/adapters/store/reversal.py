"""What a run did to the files of a store, taken back byte for byte, decided against a draft (P16).

Refused as a whole where a file is not as the run left it, or where what comes back would not keep what a store promises:
an id that leads to one entry, names that no file system takes for one, links that resolve (P15).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import read_image, understand
from agent_memory.adapters.store.reverted_files import entry_in, is_reversible, live_in, refused_for, reverted_entries
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


def decide_reversal(footprint: Footprint, draft: Draft) -> Result[Receipt, Error]:
    """The receipt, and the draft as it was before the run.

    UndoRefused with all reasons, the run in it to be filled in by the caller: then the draft is not to be written.
    """
    foreign = next((each.path for each in footprint.files if not is_reversible(each.path)), None)
    if foreign is not None:
        return Failure(PathRefused(foreign, "it is no file of entries or tiers"))
    folded = fold_files([each for each in footprint.files if each.path != TIERS_FILE])
    interrupted = (f"{path} was changed by somebody else while the run was at work" for path in folded.interrupted)
    return (
        refused_for(interrupted)
        .bind(lambda _: _changed_since(folded.files, draft))
        .bind(refused_for)
        .bind(lambda _: _put_back(folded.files, draft))
        .bind(refused_for)
        .bind(lambda _: _left_dangling(folded.files, draft))
        .bind(refused_for)
        .bind(lambda _: _put_tiers_back([each for each in footprint.files if each.path == TIERS_FILE], draft))
        .map(lambda tiers_changed: Receipt(tuple(reverted_entries(folded.files)), tiers_changed=tiers_changed))
    )


def _changed_since(notes: Sequence[FileChange], draft: Draft) -> Result[list[str], Error]:
    reasons: list[str] = []
    for change in notes:
        match sealed(draft.state(change.path)):
            case Failure(error):
                return Failure(error)
            case Success(state) if hash_of(state) != hash_of(change.after):
                reasons.append(f"{change.path} {'is gone' if state is None else 'was changed since'}")
            case Success(_):
                pass
    return Success(reasons)


def _put_back(notes: Sequence[FileChange], draft: Draft) -> Result[list[str], Error]:
    """Why some of it cannot come back."""
    for change in notes:
        if (there := live_in(change, change.after)) is not None:
            draft.put_live(there.meta.id, None)
        if change.before is None:
            draft.put(change.path, None)
    back = [listed for change in notes if (listed := live_in(change, change.before)) is not None]
    reasons = [
        f"{id} leads to {bearer.path} by now"
        for each in back
        for id in (each.meta.id, *each.meta.aliases)
        for bearer in draft.bearers(id)
    ]
    for change in notes:
        if change.before is not None:
            shelf, _, name = change.path.rpartition("/")
            free = Success(True) if change.after is not None else draft.is_free(shelf, name)
            if isinstance(free, Failure):
                return free
            if not free.unwrap():
                reasons.append(f"another file has the name of {change.path}")
            draft.put(change.path, change.before)
    for each in back:
        draft.put_live(each.meta.id, each)
    return Success(reasons)


def _left_dangling(notes: Sequence[FileChange], draft: Draft) -> Result[list[str], Error]:
    """Links of other live entries to what only the run had made."""
    leaving = {
        id
        for change in notes
        if (left := entry_in(change.path, change.after)) is not None
        for id in (left.meta.id, *left.meta.aliases)
    }
    gone: set[str] = set()
    for id in leaving:
        leads = _leads_somewhere(id, draft)
        if isinstance(leads, Failure):
            return leads
        if not leads.unwrap():
            gone.add(id)
    return _links_to(gone, {change.path for change in notes}, draft) if gone else Success([])


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


def _links_to(gone: set[str], put_back: set[str], draft: Draft) -> Result[list[str], Error]:
    reasons: list[str] = []
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
            reasons += [f"{listed.path} links to {id}, which only this run has made" for id in targets]
    return Success(reasons)


def _put_tiers_back(changes: Sequence[FileChange], draft: Draft) -> Result[bool, Error]:
    """The file as it was; where it was changed since, only what the run had moved and nobody has moved again (a pin set
    after a run must not keep that run from being undone)."""
    if not changes:
        return Success(False)
    folded = fold_files(changes)
    read = draft.state(TIERS_FILE)
    if isinstance(read, Failure):
        return read
    now = read.unwrap()
    if not folded.interrupted and hash_of(now) == hash_of(changes[-1].after):
        draft.put(TIERS_FILE, changes[0].before)
        return Success(bool(folded.files))
    tiers = _tiers_in(now, draft)
    for change in reversed(changes):
        before, after = _tiers_in(change.before, draft), _tiers_in(change.after, draft)
        for each in (tiers, before, after):
            if isinstance(each, Failure):
                return each
        tiers = Success(reverse_tiers(tiers.unwrap(), before.unwrap(), after.unwrap()))
    return tiers.bind(lambda reversed_: put_tiers(reversed_, draft))


def _tiers_in(state: FileState | None, draft: Draft) -> Result[TierList, Error]:
    return tiers_in(draft.root, None if state is None else state.data)
