"""An archived entry comes back to life, decided against a draft."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.act_rules import current_entry, ended, is_retired, rendered, settled
from agent_memory.adapters.store.entry_files import TOPICS, understand
from agent_memory.adapters.store.store_draft import Act, Draft, Write
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.recording.file_change import FileState
from agent_memory.domain.results import sealed
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.errors import EntryExists, EntryNotFound, EntryUnreadable, Error
from agent_memory.values import evolve


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
