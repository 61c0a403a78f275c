"""One change to a store, for tests; a refusal is what the store says of it."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.note.note import MemoryEntry, Meta
from agent_memory.rules.change import Change, Receipt
from agent_memory.store.store_files import Store
from agent_memory.text.ids import mint_id


def write(store: Store, entry: MemoryEntry, expected_hash: str | None) -> Result[Receipt, Error | str]:
    """`Create` without a hash, `Replace` with one."""
    return _one(store, Change.of(entry) if expected_hash is None else Change.of(entry, expected_hash))


def put(store: Store, title: str, body: str = "It is so.", at_ms: int = 1, **values: Any) -> str:
    """A new note; its id."""
    meta = evolve(Meta(mint_id(title, at_ms, ()), title, created_at_ms=at_ms, updated_at_ms=at_ms), **values)
    assert isinstance(write(store, MemoryEntry(meta, body), None), Success)
    return meta.id


def delete(store: Store, id: str) -> Result[Receipt, Error | str]:
    """Move the live entry to the archive."""
    listed = store.list().unwrap().by_id.get(id)
    return _one(store, Change.retire(id, "" if listed is None else listed.content_hash))


def _one(store: Store, change: Change) -> Result[Receipt, Error | str]:
    done = store.apply([change])
    for dropped in () if isinstance(done, Failure) else done.unwrap().dropped:
        return Failure(dropped.reasons[0])
    return done.alt(lambda error: error)
