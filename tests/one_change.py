"""One change to a store, for tests; a refusal is what the store says of it."""

from __future__ import annotations

from returns.result import Failure, Result

from agent_memory.errors import Error
from agent_memory.note.note import MemoryEntry
from agent_memory.ports import Store
from agent_memory.rules.change import Change, Receipt


def write(store: Store, entry: MemoryEntry, expected_hash: str | None) -> Result[Receipt, Error | str]:
    """`Create` without a hash, `Replace` with one."""
    return _one(store, Change.of(entry) if expected_hash is None else Change.of(entry, expected_hash))


def delete(store: Store, id: str) -> Result[Receipt, Error | str]:
    """Move the live entry to the archive."""
    listed = store.list().unwrap().by_id.get(id)
    return _one(store, Change.retire(id, "" if listed is None else listed.content_hash))


def _one(store: Store, change: Change) -> Result[Receipt, Error | str]:
    done = store.apply([change])
    for dropped in () if isinstance(done, Failure) else done.unwrap().dropped:
        return Failure(dropped.reasons[0])
    return done.alt(lambda error: error)
