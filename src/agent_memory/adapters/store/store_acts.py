"""The four changes of a store, decided against a draft: what each would write. A refusal is raised."""

from __future__ import annotations

from itertools import chain, count
from typing import assert_never

from attrs import evolve

from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, entry_or_none, tiers_in, understand
from agent_memory.adapters.store.store_draft import Act, Draft, Write
from agent_memory.domain.change import Applied, Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.recording.file_change import FileState
from agent_memory.domain.text.file_name import file_name_of, folded_name
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.tiers import TIERS_FILE, TierList
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, EntryNotFound, EntryUnreadable, StateCorrupt
from agent_memory.formats.note import render_note
from agent_memory.formats.tiers_json import parse_tiers, render_tiers
from agent_memory.results import unwrap


def decide(change: Change, draft: Draft) -> Act:
    """The act. EntryInvalid for values that no file may hold; other refusals are of the state of the entry."""
    match change:
        case Create(entry):
            act, over = _create(entry, _file_name(entry), draft), frozenset[str]()
        case Replace(entry, expected_hash):
            act, over = _replace(entry, _file_name(entry), expected_hash, draft)
        case Retire():
            act, over = _retire(change, draft)
        case Restore(id):
            act, over = _restore(id, draft)
        case _ as never:
            assert_never(never)
    for path, after in act.writes:  # each is looked at, and none is written over that is not expected
        before = draft.state(path)
        if before is not None and after is not None and path not in over and before.data != after.data:
            raise EntryExists(act.applied.id, path)
    return act


def _file_name(entry: MemoryEntry) -> str:
    """The file name that belongs to the entry."""
    if not is_id(entry.meta.id):
        raise EntryInvalid((f"id is {entry.meta.id[:40]!r}, expected id__ and six base58 digits",))
    name = file_name_of(entry.meta)
    if not is_plain_name(name) or name.startswith("."):
        raise EntryInvalid(("title and tags give no file name",))
    return name


# -- create, replace --------------------------------------------------------------------------------------------------


def _create(entry: MemoryEntry, name: str, draft: Draft) -> Act:
    id, path = entry.meta.id, f"{TOPICS}/{name}"
    stored, state = _rendered(entry, None, path)
    if (live := draft.live(id)) is not None:
        there = draft.state(live.path)
        if there is None or there.data != state.data:
            raise EntryExists(id, live.path)
        return Act(Applied(id, "create", live.path, (live.path,), None, stored.listed.content_hash), again=True)
    owner = draft.owner(id) or (None if draft.is_free(TOPICS, name) else path)
    if owner is not None:
        raise EntryExists(id, owner)
    _refuse_shared_alias(entry, (), draft)
    return Act(
        Applied(id, "create", path, (path,), None, stored.listed.content_hash), ((path, state),), (stored.listed,)
    )


def _replace(entry: MemoryEntry, name: str, expected_hash: str, draft: Draft) -> tuple[Act, frozenset[str]]:
    id = entry.meta.id
    current, before = _current_entry(id, draft)
    path = f"{TOPICS}/{_name_after(current, entry, name, draft)}"
    stored, after = _rendered(entry, before, path)
    writes: list[Write] = []
    is_again = current.listed.content_hash != expected_hash
    if is_again:
        if after.data != before.data:
            raise EntryChanged(id)
        version = draft.version_with(id, expected_hash)
        touched = [path] if version is None else [path, version]
    else:
        _refuse_shared_alias(entry, current.meta.aliases, draft)
        if path != current.listed.path:
            writes = [(path, after), (current.listed.path, None)]
        elif after.data != before.data:
            writes = [(path, after)]
        if current.entry.texts != stored.entry.texts:
            writes.insert(0, draft.kept_version(id, current.meta.updated_at_ms, before))
        touched = [path, *(other for other, _ in writes)]
    applied = Applied(id, "replace", path, tuple(dict.fromkeys(touched)), expected_hash, stored.listed.content_hash)
    if is_again:
        return Act(applied, again=True), frozenset()
    return Act(applied, tuple(writes), (stored.listed,)), frozenset({current.listed.path})


def _name_after(current: StoredEntry, entry: MemoryEntry, wanted: str, draft: Draft) -> str:
    """The name goes with title and tags. One that would differ in case or composition only, or is taken, stays."""
    name = current.listed.path.rpartition("/")[2]
    if file_name_of(current.meta) == wanted or folded_name(name) == folded_name(wanted):
        return name
    return wanted if draft.is_free(TOPICS, wanted) else name


def _refuse_shared_alias(entry: MemoryEntry, had: tuple[str, ...], draft: Draft) -> None:
    """The entry may not take an alias that it has not had, and that another live entry is found by (P15)."""
    known = frozenset(had)
    for alias in (each for each in entry.meta.aliases if each not in known):
        for bearer in draft.bearers(alias):
            if bearer.meta.id != entry.meta.id:
                raise EntryExists(alias, bearer.path)


# -- retire -----------------------------------------------------------------------------------------------------------


def _retire(change: Retire, draft: Draft) -> tuple[Act, frozenset[str]]:
    if draft.live(change.id) is None:
        return _retired_before(change, draft), frozenset()
    current, before = _current_entry(change.id, draft)
    if current.listed.content_hash != change.expected_hash:
        raise EntryChanged(change.id)
    writes = _make_way(change.id, draft)
    path = f"{ARCHIVE}/{_archive_name(current, draft, [path for path, state in writes if state is None])}"
    after = before
    if change.valid_until_ms is not None or current.listed.provisional_id:
        # The file will not be what it was: what it was is kept beside it.
        writes.append(draft.kept_version(change.id, current.meta.updated_at_ms, before))
        after = evolve(_rendered(_ended(current, change.valid_until_ms), before, path)[1], mtime_ns=before.mtime_ns)
    retired = understand(path, after.data, after.mtime_ns or 0)
    live_path = current.listed.path
    writes = [*(each for each in writes if each[0] != path), (path, after), (live_path, None)]
    touched = tuple(dict.fromkeys((live_path, path, *(other for other, _ in writes))))
    applied = Applied(change.id, "retire", live_path, touched, change.expected_hash, None)
    return Act(applied, tuple(writes), archived=retired.listed), frozenset({path})


def _retired_before(change: Retire, draft: Draft) -> Act:
    """A replay finds the entry in the archive, with the bytes from which it was to be retired."""
    missing = draft.missing(change.id)
    if not isinstance(missing, EntryNotFound) or (archived := draft.archived(change.id)) is None:
        raise missing
    version = draft.version_with(change.id, change.expected_hash)
    if not _is_retired(archived) or (archived.content_hash != change.expected_hash and version is None):
        raise missing
    path = f"{TOPICS}/{archived.path.rpartition('/')[2]}"
    return Act(Applied(change.id, "retire", path, (path, archived.path), change.expected_hash, None), again=True)


def _make_way(id: str, draft: Draft) -> list[Write]:
    """An earlier retired file of the same id becomes a version: nothing in the archive is ever overwritten (P12)."""
    earlier = draft.archived(id)
    state = draft.state(earlier.path) if earlier is not None and _is_retired(earlier) else None
    if earlier is None or state is None:
        return []
    return [draft.kept_version(id, earlier.meta.updated_at_ms, state), (earlier.path, None)]


def _archive_name(current: StoredEntry, draft: Draft, freed: list[str]) -> str:
    """The entry's own name, with a number in front where something else in the archive bears it."""
    own = current.listed.path.rpartition("/")[2]
    names = chain((own,), (f"{number} {own}" for number in count(2)))
    return next(name for name in names if f"{ARCHIVE}/{name}" in freed or draft.is_free(ARCHIVE, name))


def _ended(current: StoredEntry, valid_until_ms: int | None) -> MemoryEntry:
    """The entry with this end of its validity; without one as it is."""
    until = current.meta.valid_until_ms if valid_until_ms is None else valid_until_ms
    return evolve(current.entry, meta=evolve(current.meta, valid_until_ms=until))


def _is_retired(archived: Listed) -> bool:
    """Whether it lies in the archive as an entry of its own, and not as a version in the directory of its id."""
    return archived.path.count("/") == 1


# -- restore ----------------------------------------------------------------------------------------------------------


def _restore(id: str, draft: Draft) -> tuple[Act, frozenset[str]]:
    if (live := draft.live(id)) is not None:
        raise EntryExists(id, live.path)
    missing = draft.missing(id)
    if not isinstance(missing, EntryNotFound) or (archived := draft.archived(id)) is None:
        raise missing
    state = _original(archived, draft)
    listed = _placed(archived, state, draft)
    freed = [_without_alias(holder, id, draft) for holder in draft.with_alias(id)]
    writes: list[Write] = [(listed.path, state), *((holder.path, other) for holder, other in freed)]
    if _is_retired(archived):
        writes.append((archived.path, None))
    applied = Applied(id, "restore", listed.path, tuple(path for path, _ in writes), None, listed.content_hash)
    holders = tuple(holder for holder, _ in freed)
    return Act(applied, tuple(writes), (listed, *holders), restored=id), frozenset(each.path for each in holders)


def _original(archived: Listed, draft: Draft) -> FileState:
    """The archived file's bytes; where retiring only gave it an end, those that it had before."""
    entry, state = _archived_file(archived.path, draft)
    if archived.meta.valid_until_ms is None or not _is_retired(archived):
        return state
    for path in reversed(draft.versions(archived.meta.id)):
        try:
            before, bytes_before = _archived_file(path, draft)
        except EntryUnreadable:
            continue  # any other error goes on: it may be the one, and what retiring made of it is not that (P6)
        if _ended(before, archived.meta.valid_until_ms) == entry.entry:
            return bytes_before
    return state


def _archived_file(path: str, draft: Draft) -> tuple[StoredEntry, FileState]:
    state = draft.state(path)
    if state is None:
        raise EntryUnreadable(path, ("it is gone",))
    return understand(path, state.data, state.mtime_ns or 0), state


def _placed(archived: Listed, state: FileState, draft: Draft) -> Listed:
    """The entry under its former name, or under the one that belongs to it, whichever is free and leaves it its id."""
    own, canonical = archived.path.rpartition("/")[2], file_name_of(archived.meta)
    for name in (own, canonical) if _is_retired(archived) else (canonical,):
        stored = entry_or_none(f"{TOPICS}/{name}", state.data, state.mtime_ns or 0)
        if draft.is_free(TOPICS, name) and stored is not None and stored.meta.id == archived.meta.id:
            return stored.listed
    raise EntryExists(archived.meta.id, f"{TOPICS}/{canonical}")


def _without_alias(holder: Listed, id: str, draft: Draft) -> tuple[Listed, FileState]:
    """An entry that had taken the id over, without it."""
    stored, before = _current_entry(holder.meta.id, draft)
    aliases = tuple(alias for alias in stored.meta.aliases if alias != id)
    fresh, after = _rendered(MemoryEntry(evolve(stored.meta, aliases=aliases), stored.body), before, holder.path)
    return fresh.listed, after


# -- entries and their bytes ------------------------------------------------------------------------------------------


def _rendered(entry: MemoryEntry, previous: FileState | None, path: str) -> tuple[StoredEntry, FileState]:
    """The entry as it would be written at this path, and read back from there."""
    data = render_note(entry, None if previous is None else previous.data.decode()).encode()
    try:
        stored = understand(path, data, 0)
    except EntryUnreadable as refused:
        raise EntryInvalid(refused.problems) from refused
    if stored.meta.id != entry.meta.id:
        raise EntryInvalid((f"it would be read as {stored.meta.id}",))
    return stored, FileState(data)


def _current_entry(id: str, draft: Draft) -> tuple[StoredEntry, FileState]:
    """The live entry and its bytes, read now."""
    listed = draft.live(id)
    if listed is None:
        raise draft.missing(id)
    state = draft.state(listed.path)
    if state is None:
        raise EntryChanged(id)
    stored = understand(listed.path, state.data, state.mtime_ns or 0)
    if stored.meta.id != id:
        raise EntryChanged(id)
    return stored, state


# -- tiers ------------------------------------------------------------------------------------------------------------


def put_tiers(tiers: TierList, draft: Draft) -> bool:
    """The draft with this tier list; whether it is another one. A damaged one is not replaced: StateCorrupt."""
    data = render_tiers(tiers)
    try:
        unwrap(parse_tiers(data, TIERS_FILE))
    except StateCorrupt as refused:
        raise EntryInvalid(tuple(f"tiers: {problem}" for problem in refused.problems)) from refused
    there = draft.state(TIERS_FILE)
    if tiers_in(draft.root, None if there is None else there.data) == tiers:
        return False
    draft.put(TIERS_FILE, FileState(data))
    return True
