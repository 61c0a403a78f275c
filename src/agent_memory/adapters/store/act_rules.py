"""What deciding any of the changes of a store needs."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import understand
from agent_memory.adapters.store.store_draft import Act, Draft
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.recording.file_change import FileState
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, Error
from agent_memory.formats.note import render_note
from agent_memory.values import evolve


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
