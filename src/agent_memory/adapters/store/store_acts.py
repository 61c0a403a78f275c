"""The four changes of a store, decided against a draft: what each would write, or why it is refused."""

from __future__ import annotations

from typing import assert_never

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_plain_name
from agent_memory.adapters.store.act_rules import current_entry, rendered, settled
from agent_memory.adapters.store.entry_files import TOPICS
from agent_memory.adapters.store.restoring import restore
from agent_memory.adapters.store.retiring import retire
from agent_memory.adapters.store.store_draft import Act, Draft, Write
from agent_memory.domain.change import Applied, Change, Create, Replace, Restore, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.recording.file_change import FileState, content_hash
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import EntryChanged, EntryExists, EntryInvalid, Error


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
