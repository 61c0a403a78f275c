"""A live entry goes to the archive, decided against a draft."""

from __future__ import annotations

from itertools import chain, count

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.act_rules import current_entry, ended, is_retired, rendered, settled
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, understand
from agent_memory.adapters.store.store_draft import Act, Draft, Write
from agent_memory.domain.change import Applied, Retire
from agent_memory.domain.entry import StoredEntry
from agent_memory.errors import EntryChanged, EntryNotFound, Error
from agent_memory.values import evolve


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
