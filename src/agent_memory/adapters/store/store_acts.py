"""The four changes of a store, decided against a draft: what each would write, or why it is refused."""

from __future__ import annotations

from itertools import chain, count
from typing import assert_never

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.adapters.store.store_draft import Act, Draft, Write
from agent_memory.domain.change import Applied, Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.recording.file_change import FileState, content_hash
from agent_memory.domain.text.file_name import file_name_of, folded_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, EntryNotFound, EntryUnreadable, Error
from agent_memory.formats.note import render_note
from agent_memory.results import sealed


def decide(change: Change, draft: Draft) -> Result[Act, Error]:
    """The act. EntryInvalid for values that no file may hold; other refusals are of the state of the entry."""
    match change:
        case Create(entry):
            return _valid(entry).bind(lambda name: _create(entry, name, draft))
        case Replace(entry, expected_hash):
            return _valid(entry).bind(lambda name: _replace(entry, name, expected_hash, draft))
        case Retire():
            return retire(change, draft)
        case Restore(id):
            return restore(id, draft)
        case _ as never:
            assert_never(never)


def _valid(entry: MemoryEntry) -> Result[str, Error]:
    """The file name that belongs to the entry."""
    if not is_id(entry.meta.id):
        return Failure(EntryInvalid((f"id is {entry.meta.id[:40]!r}, expected id__ and six base58 digits",)))
    name = file_name_of(entry.meta)
    if not is_plain_name(name) or name.startswith("."):
        return Failure(EntryInvalid(("title and tags give no file name",)))
    return Success(name)


def _create(entry: MemoryEntry, name: str, draft: Draft) -> Result[Act, Error]:
    id, path = entry.meta.id, f"{TOPICS}/{name}"
    fresh = rendered(entry, None, path)
    if isinstance(fresh, Failure):
        return fresh
    stored, state = fresh.unwrap()
    if (live := draft.live(id)) is not None:
        return _create_again(live, state, draft)
    for taken in (draft.owner(id), _taken_name(TOPICS, name, draft)):
        if isinstance(taken, Failure):
            return taken
        if (owner := taken.unwrap()) is not None:
            return Failure(EntryExists(id, owner))
    if (shared := _shared_alias(entry, (), draft)) is not None:
        return Failure(shared)
    applied = Applied(id, "create", path, (path,), None, stored.listed.content_hash)
    return settled(Act(applied, ((path, state),), (stored.listed,)), draft)


def _create_again(live: Listed, state: FileState, draft: Draft) -> Result[Act, Error]:
    current = draft.state(live.path)
    if isinstance(current, Failure):
        return current
    there = current.unwrap()
    if there is None or there.data != state.data:
        return Failure(EntryExists(live.meta.id, live.path))
    applied = Applied(live.meta.id, "create", live.path, (live.path,), None, content_hash(state.data))
    return Success(Act(applied, again=True))


def _replace(entry: MemoryEntry, name: str, expected_hash: str, draft: Draft) -> Result[Act, Error]:
    id = entry.meta.id
    found = current_entry(id, draft)
    if isinstance(found, Failure):
        return found
    current, before = found.unwrap()
    named = _name_after(current, entry, name, draft)
    if isinstance(named, Failure):
        return named
    path = f"{TOPICS}/{named.unwrap()}"
    fresh = rendered(entry, before, path)
    if isinstance(fresh, Failure):
        return fresh
    stored, after = fresh.unwrap()
    if current.listed.content_hash != expected_hash:
        if after.data != before.data:
            return Failure(EntryChanged(id))
        return draft.version_with(id, expected_hash).map(
            lambda version: Act(
                _replaced(id, path, expected_hash, stored, *(() if version is None else (version,))), again=True
            )
        )
    if (shared := _shared_alias(entry, current.meta.aliases, draft)) is not None:
        return Failure(shared)
    writes: list[Write] = [(path, after)] if after.data != before.data else []
    if path != current.listed.path:
        writes = [(path, after), (current.listed.path, None)]
    if _says_otherwise(current, stored):
        version = draft.kept_version(id, current.meta.updated_at_ms, before)
        if isinstance(version, Failure):
            return version
        writes.insert(0, version.unwrap())
    applied = _replaced(id, path, expected_hash, stored, *(other for other, _ in writes))
    return settled(Act(applied, tuple(writes), (stored.listed,)), draft, over=(current.listed.path,))


def _replaced(id: str, path: str, before_hash: str, stored: StoredEntry, *others: str) -> Applied:
    touched = tuple(dict.fromkeys((path, *others)))
    return Applied(id, "replace", path, touched, before_hash, stored.listed.content_hash)


def _says_otherwise(one: StoredEntry, other: StoredEntry) -> bool:
    return (one.meta.title, one.meta.description, one.body) != (other.meta.title, other.meta.description, other.body)


def _name_after(current: StoredEntry, entry: MemoryEntry, wanted: str, draft: Draft) -> Result[str, Error]:
    """The name goes with title and tags. One that would differ in case or composition only, or is taken, stays."""
    name = current.listed.path.rpartition("/")[2]
    if file_name_of(current.meta) == wanted or folded_name(name) == folded_name(wanted):
        return Success(name)
    return draft.is_free(TOPICS, wanted).map(lambda free: wanted if free else name)


def _taken_name(shelf: str, name: str, draft: Draft) -> Result[str | None, Error]:
    return draft.is_free(shelf, name).map(lambda free: None if free else f"{shelf}/{name}")


def _shared_alias(entry: MemoryEntry, had: tuple[str, ...], draft: Draft) -> EntryExists | None:
    """Why the entry may not take an alias that it has not had: another live entry is found by it (P15)."""
    known = frozenset(had)
    new = (alias for alias in entry.meta.aliases if alias not in known)
    others = ((alias, bearer) for alias in new for bearer in draft.bearers(alias) if bearer.meta.id != entry.meta.id)
    return next((EntryExists(alias, bearer.path) for alias, bearer in others), None)


def retire(change: Retire, draft: Draft) -> Result[Act, Error]:
    if draft.live(change.id) is None:
        return _retire_again(change, draft)
    found = current_entry(change.id, draft)
    if isinstance(found, Failure):
        return found
    current, before = found.unwrap()
    if current.listed.content_hash != change.expected_hash:
        return Failure(EntryChanged(change.id))
    earlier = _make_way(change.id, draft)
    if isinstance(earlier, Failure):
        return earlier
    writes = [*earlier.unwrap()]
    named = _archive_name(current, draft, tuple(path for path, state in writes if state is None))
    if isinstance(named, Failure):
        return named
    path = f"{ARCHIVE}/{named.unwrap()}"
    after = before
    if change.valid_until_ms is not None or current.listed.provisional_id:
        # The file will not be what it was: what it was is kept beside it.
        version = draft.kept_version(change.id, current.meta.updated_at_ms, before)
        fresh = rendered(ended(current, change.valid_until_ms), before, path)
        if isinstance(version, Failure):
            return version
        if isinstance(fresh, Failure):
            return fresh
        writes.append(version.unwrap())
        after = evolve(fresh.unwrap()[1], mtime_ns=before.mtime_ns)
    retired = understand(path, after.data, after.mtime_ns or 0)
    if isinstance(retired, Failure):
        return retired
    live_path = current.listed.path
    writes = [each for each in writes if each[0] != path] + [(path, after), (live_path, None)]
    touched = tuple(dict.fromkeys((live_path, path, *(other for other, _ in writes))))
    applied = Applied(change.id, "retire", live_path, touched, change.expected_hash, None)
    return settled(Act(applied, tuple(writes), archived=retired.unwrap().listed), draft, over=(path,))


def _retire_again(change: Retire, draft: Draft) -> Result[Act, Error]:
    """A replay finds the entry in the archive, with the bytes from which it was to be retired."""
    missing = draft.missing(change.id)
    newest = draft.archived(change.id)
    if not isinstance(missing, EntryNotFound) or isinstance(newest, Failure):
        return Failure(missing)
    archived = newest.unwrap()
    if archived is None:
        return Failure(missing)
    version = draft.version_with(change.id, change.expected_hash)
    if isinstance(version, Failure):
        return version
    if is_retired(archived) and (archived.content_hash == change.expected_hash or version.unwrap() is not None):
        path = f"{TOPICS}/{archived.path.rpartition('/')[2]}"
        applied = Applied(change.id, "retire", path, (path, archived.path), change.expected_hash, None)
        return Success(Act(applied, again=True))
    return Failure(missing)


def _make_way(id: str, draft: Draft) -> Result[tuple[Write, ...], Error]:
    """An earlier retired file of the same id becomes a version: nothing in the archive is ever overwritten (P12)."""
    found = draft.archived(id)
    if isinstance(found, Failure):
        return found
    earlier = found.unwrap()
    if earlier is None or not is_retired(earlier):
        return Success(())
    read = draft.state(earlier.path)
    if isinstance(read, Failure):
        return read
    state = read.unwrap()
    if state is None:
        return Success(())
    return draft.kept_version(id, earlier.meta.updated_at_ms, state).map(lambda kept: (kept, (earlier.path, None)))


def _archive_name(current: StoredEntry, draft: Draft, freed: tuple[str, ...]) -> Result[str, Error]:
    """The entry's own name, with a number in front where something else in the archive bears it."""
    own = current.listed.path.rpartition("/")[2]
    for name in chain((own,), (f"{number} {own}" for number in count(2))):
        free = Success(True) if f"{ARCHIVE}/{name}" in freed else draft.is_free(ARCHIVE, name)
        if isinstance(free, Failure):
            return free
        if free.unwrap():
            return Success(name)
    raise AssertionError("numbers do not end")


def restore(id: str, draft: Draft) -> Result[Act, Error]:
    if (live := draft.live(id)) is not None:
        return Failure(EntryExists(id, live.path))
    missing = draft.missing(id)
    newest = draft.archived(id)
    if not isinstance(missing, EntryNotFound) or isinstance(newest, Failure):
        return Failure(missing)
    archived = newest.unwrap()
    if archived is None:
        return Failure(missing)
    original = _original(archived, draft)
    if isinstance(original, Failure):
        return original
    state = original.unwrap()
    place = _place_for(archived, state, draft)
    if isinstance(place, Failure):
        return place
    listed = place.unwrap().listed
    freed = _without_alias(id, draft)
    if isinstance(freed, Failure):
        return freed
    writes: list[Write] = [(listed.path, state), *((holder.path, other) for holder, other in freed.unwrap())]
    if is_retired(archived):
        writes.append((archived.path, None))
    holders = tuple(holder for holder, _ in freed.unwrap())
    applied = Applied(id, "restore", listed.path, tuple(path for path, _ in writes), None, listed.content_hash)
    act = Act(applied, tuple(writes), (listed, *holders), restored=id)
    return settled(act, draft, over=tuple(holder.path for holder in holders))


def _original(archived: Listed, draft: Draft) -> Result[FileState, Error]:
    """The archived file's bytes; where retiring only gave it an end, those that it had before."""
    read = _archived_file(archived.path, draft)
    if isinstance(read, Failure) or archived.meta.valid_until_ms is None:
        return read.map(lambda file: file[1])
    entry, state = read.unwrap()
    versions = draft.versions(archived.meta.id) if is_retired(archived) else Success(())
    if isinstance(versions, Failure):
        return versions
    for path in reversed(versions.unwrap()):
        version = _archived_file(path, draft)
        match sealed(version):
            case Failure(EntryUnreadable()):
                continue
            case Failure(error):
                return Failure(error)  # it may be the one: what retiring made of it is not what was there (P6)
            case Success((before, bytes_before)):
                if ended(before, archived.meta.valid_until_ms) == entry.entry:
                    return Success(bytes_before)
    return Success(state)


def _archived_file(path: str, draft: Draft) -> Result[tuple[StoredEntry, FileState], Error]:
    read = draft.state(path)
    if isinstance(read, Failure):
        return read
    state = read.unwrap()
    if state is None:
        return Failure(EntryUnreadable(path, ("it is gone",)))
    return understand(path, state.data, state.mtime_ns or 0).map(lambda stored: (stored, state))


def _place_for(archived: Listed, state: FileState, draft: Draft) -> Result[StoredEntry, Error]:
    """The entry under its former name, or under the one that belongs to it, whichever is free and leaves it its id."""
    own, canonical = archived.path.rpartition("/")[2], file_name_of(archived.meta)
    for name in (own, canonical) if is_retired(archived) else (canonical,):
        free = draft.is_free(TOPICS, name)
        if isinstance(free, Failure):
            return free
        stored = understand(f"{TOPICS}/{name}", state.data, state.mtime_ns or 0)
        if free.unwrap() and isinstance(stored, Success) and stored.unwrap().meta.id == archived.meta.id:
            return stored
    return Failure(EntryExists(archived.meta.id, f"{TOPICS}/{canonical}"))


def _without_alias(id: str, draft: Draft) -> Result[tuple[tuple[Listed, FileState], ...], Error]:
    """The entries that had taken the id over, without it."""
    freed: list[tuple[Listed, FileState]] = []
    for holder in draft.with_alias(id):
        found = current_entry(holder.meta.id, draft)
        if isinstance(found, Failure):
            return found
        stored, before = found.unwrap()
        aliases = tuple(alias for alias in stored.meta.aliases if alias != id)
        fresh = rendered(MemoryEntry(evolve(stored.meta, aliases=aliases), stored.body), before, holder.path)
        if isinstance(fresh, Failure):
            return fresh
        freed.append((fresh.unwrap()[0].listed, fresh.unwrap()[1]))
    return Success(tuple(freed))


def rendered(entry: MemoryEntry, previous: FileState | None, path: str) -> Result[tuple[StoredEntry, FileState], Error]:
    """The entry as it would be written at this path, and read back from there."""
    data = render_note(entry, None if previous is None else previous.data.decode()).encode()
    read_back = understand(path, data, 0)
    if isinstance(read_back, Failure):
        return Failure(EntryInvalid(read_back.failure().problems))
    stored = read_back.unwrap()
    if stored.meta.id != entry.meta.id:
        return Failure(EntryInvalid((f"it would be read as {stored.meta.id}",)))
    return Success((stored, FileState(data)))


def current_entry(id: str, draft: Draft) -> Result[tuple[StoredEntry, FileState], Error]:
    """The live entry and its bytes, read now."""
    listed = draft.live(id)
    if listed is None:
        return Failure(draft.missing(id))
    read = draft.state(listed.path)
    if isinstance(read, Failure):
        return read
    state = read.unwrap()
    if state is None:
        return Failure(EntryChanged(id))
    stored = understand(listed.path, state.data, state.mtime_ns or 0)
    if isinstance(stored, Failure):
        return stored
    if stored.unwrap().meta.id != id:
        return Failure(EntryChanged(id))
    return Success((stored.unwrap(), state))


def settled(act: Act, draft: Draft, over: tuple[str, ...] = ()) -> Result[Act, Error]:
    """The act, once every file that it writes was looked at: none is written over that is not among `over`."""
    for path, after in act.writes:
        read = draft.state(path)
        if isinstance(read, Failure):
            return read
        before = read.unwrap()
        if before is not None and after is not None and path not in over and before.data != after.data:
            return Failure(EntryExists(act.applied.id, path))
    return Success(act)


def is_retired(archived: Listed) -> bool:
    """Whether it lies in the archive as an entry of its own, and not as a version in the directory of its id."""
    return archived.path.count("/") == 1


def ended(current: StoredEntry, valid_until_ms: int | None) -> MemoryEntry:
    """The entry with this end of its validity; without one as it is."""
    until = current.meta.valid_until_ms if valid_until_ms is None else valid_until_ms
    return evolve(current.entry, meta=evolve(current.meta, valid_until_ms=until))
