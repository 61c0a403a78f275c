"""Changes to a store: each is decided in a draft, and all that are not refused are applied as one transaction. The
caller holds the write lock. A refusal because of a note's state is raised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from itertools import chain, count

from attrs import evolve, frozen

from agent_memory.errors import (
    EntryChanged,
    EntryExists,
    EntryInvalid,
    EntryNotFound,
    EntryUnreadable,
    Error,
    PathRefused,
    StateCorrupt,
)
from agent_memory.files.locks import Locks
from agent_memory.files.paths import is_plain_name, names_below
from agent_memory.note.file_name import file_name_of, folded_name, id_in_name
from agent_memory.note.note import TIERS_FILE, Listed, MemoryEntry, Meta, StoredEntry, TierList, folded_ids
from agent_memory.note.note_format import render_note
from agent_memory.results import unwrap
from agent_memory.rules.change import (
    Applied,
    Change,
    ChangeGroup,
    Dropped,
    FileChange,
    FileState,
    Footprint,
    Receipt,
    hash_of,
)
from agent_memory.store.bookkeeping import FOOTPRINT, FOOTPRINT_NAME, rejected_path
from agent_memory.store.note_files import (
    ARCHIVE,
    RUNS,
    TOPICS,
    entry_or_none,
    parse_tiers,
    render_tiers,
    tiers_in,
    trouble_with,
    understand,
)
from agent_memory.store.store_database import FollowedFiles, version_ms
from agent_memory.store.transaction import change_files, state_of
from agent_memory.text.ids import content_hash, is_id

# The store as the changes so far would leave it. Nothing is written here: `file_changes` returns what to write.


class Draft:
    """Files and live notes. To be able to take changes back, make them in a copy."""

    def __init__(self, files: FollowedFiles) -> None:
        self.root = files.root
        self._versions_on_disk = files.versions
        self._listing = files.live()
        self._archive_listing = cache(files.archived)  # listed on first use
        self._folded_on_disk = cache(self._folded_names)
        self._before: dict[str, FileState | None] = {}
        self._bearers: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of notes that have, or once had, an id or alias, by its folded form."""
        # Only what follows changes; copies share the rest.
        self._live = {each.meta.id: each for each in self._listing.entries}
        for each in self._listing.entries:
            self._note(each)
        self._after: dict[str, FileState | None] = {}
        self.touched: dict[str, None] = {}
        """The paths put since the reader last cleared this."""
        self._archived: dict[str, Listed | None] = {}
        """By id, if different from the archive's listing."""

    def copy(self) -> Draft:
        """Returns another draft that continues from here."""
        other = copy(self)
        other._live, other._after, other._archived = dict(self._live), dict(self._after), dict(self._archived)
        other.touched = {}
        return other

    # -- changes ------------------------------------------------------------------------------------------------------

    def put(self, path: str, state: FileState | None) -> None:
        self._after[path] = state
        self.touched[path] = None

    def put_new(self, id: str, path: str, state: FileState) -> None:
        """Like `put`, but raises EntryExists rather than overwrite."""
        before = self.state(path)
        if before is not None and before.data != state.data:
            raise EntryExists(id, path)
        self.put(path, state)

    def put_live(self, id: str, listed: Listed | None) -> None:
        """Sets or removes the live note of the id."""
        if listed is None:
            self._live.pop(id, None)
        else:
            self._live[id] = listed
            self._note(listed)

    def put_archived(self, id: str, listed: Listed | None) -> None:
        """Sets or removes the retired note of the id."""
        self._archived[id] = listed

    def keep_version(self, id: str, at_ms: int, state: FileState) -> None:
        """Keeps these bytes under their time, or the next free millisecond (P12)."""
        ms = max(at_ms, 0)
        while True:
            path = f"{ARCHIVE}/{id}/{ms}.md"
            existing = self.state(path)
            if existing is None or existing.data == state.data:
                self.put(path, existing or state)
                return
            ms += 1

    def file_changes(self) -> tuple[FileChange, ...]:
        """Returns all that must be written, in the order of the puts."""
        changes = (FileChange(path, self._disk_state(path), after) for path, after in self._after.items())
        return tuple(each for each in changes if hash_of(each.before) != hash_of(each.after))

    # -- files --------------------------------------------------------------------------------------------------------

    def state(self, path: str) -> FileState | None:
        """Returns the file's contents in the draft."""
        return self._after[path] if path in self._after else self._disk_state(path)

    def _disk_state(self, path: str) -> FileState | None:
        if path not in self._before:
            self._before[path] = state_of(self.root, path)
        return self._before[path]

    def _folded_names(self, directory: str) -> frozenset[str]:
        return frozenset(folded_name(f"{directory}/{name}") for name in names_below(self.root, directory))

    def is_free(self, directory: str, name: str) -> bool:
        """Returns whether a name is unused, on any file system."""
        wanted = folded_name(f"{directory}/{name}")
        drafted = [state for path, state in self._after.items() if folded_name(path) == wanted]
        if drafted:
            return all(state is None for state in drafted)
        return wanted not in self._folded_on_disk(directory)

    def versions(self, id: str) -> tuple[str, ...]:
        """Returns the paths of an id's versions, oldest first."""
        drafted = {path: state for path, state in self._after.items() if path.startswith(f"{ARCHIVE}/{id}/")}
        kept = {path for path, state in drafted.items() if state is not None}
        return tuple(sorted(set(self._versions_on_disk(id)) - drafted.keys() | kept, key=version_ms))

    def version_with(self, id: str, hash: str | None) -> str | None:
        """Returns the version with exactly these bytes."""
        for path in reversed(self.versions(id)):
            state = self.state(path)
            if state is not None and content_hash(state.data) == hash:
                return path
        return None

    # -- notes --------------------------------------------------------------------------------------------------------

    def live(self, id: str) -> Listed | None:
        """Returns the live note with exactly this id."""
        return self._live.get(id)

    def all_live(self) -> Iterator[Listed]:
        return iter(self._live.values())

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """Returns the live notes with the id or the alias, ignoring case, by path."""
        wanted = id.casefold()
        found = (self._live.get(each) for each in self._bearers.get(wanted, ()))
        return tuple(
            sorted(
                (each for each in found if each is not None and wanted in folded_ids(each)), key=lambda each: each.path
            )
        )

    def archived(self, id: str) -> Listed | None:
        """Returns the retired note of the id, or of one that is not live the newest version."""
        listing = self._archive_listing()
        found = self._archived[id] if id in self._archived else listing.by_id.get(id)
        trouble = next((each.io_error for each in listing.unreadable if each.io_error is not None), None)
        if found is None and trouble is not None:
            raise trouble
        return found

    def missing(self, id: str) -> Error:
        """Returns why there is no live note with this id. "Not found" only if every file could be read (P6)."""
        return trouble_with(id, self._listing.unreadable) or EntryNotFound(id, self.archived(id) is not None)

    def owner(self, id: str) -> str | None:
        """Returns the path of a note (live, by alias, or archived) that uses the id, ignoring case; None if it is free.
        An unreadable file counts by its name: an id is never given twice (P15)."""
        wanted = id.casefold()
        for bearer in self.bearers(id):
            return bearer.path
        archive = self._archive_listing()
        for archived_id, archived in {**archive.by_id, **self._archived}.items():
            if archived is not None and archived_id.casefold() == wanted:
                return archived.path
        for file in (*self._listing.unreadable, *archive.unreadable):
            if wanted in ((id_in_name(file.path) or "").casefold(), file.path.split("/")[1].casefold()):
                if file.io_error is not None:
                    raise file.io_error
                return file.path
        return None

    def _note(self, listed: Listed) -> None:
        for folded in folded_ids(listed):
            self._bearers[folded].add(listed.meta.id)


# -- batches ----------------------------------------------------------------------------------------------------------


Decided = tuple[Draft, Receipt]
"""The result of deciding a batch."""


def carry_out(
    files: FollowedFiles, locks: Locks, decide: Callable[[Draft], Decided], run_id: str | None, given_up: Error
) -> Receipt:
    """Writes everything decided, and the run's footprint if anything changes; nothing on an error."""

    def decided() -> tuple[Sequence[FileChange], Receipt]:
        draft, receipt = decide(Draft(files))
        changes = draft.file_changes()
        if run_id is None or not changes:
            return changes, receipt
        directory = f"{RUNS}/{run_id}"
        if not is_plain_name(run_id) or run_id.startswith("."):
            raise PathRefused(directory, "it is not a plain name")
        names = map(FOOTPRINT_NAME.fullmatch, names_below(files.root, directory))
        number = max((int(found[1]) for found in names if found), default=0) + 1
        state = FileState(FOOTPRINT.render(Footprint(changes)).encode("utf-8", "backslashreplace"))
        return (*changes, FileChange(f"{directory}/footprint-{number}.json", None, state)), receipt

    return change_files(files.root, locks, decided, given_up)


def decide_batch(changes: Sequence[Change | ChangeGroup], tiers: TierList | None, draft: Draft) -> Decided:
    """Returns the result of all changes that are not refused, in order, each based on the previous one."""
    applied: list[Applied] = []
    dropped: list[Dropped] = []
    marked: list[str] = []
    for each in changes:
        upon = draft.copy()
        try:
            made = _decide_group(each.changes if isinstance(each, ChangeGroup) else (each,), upon)
            marks = each.marks if isinstance(each, ChangeGroup) else dict[str, bytes]()
            for path, data in marks.items():
                upon.put(path, FileState(data))
        except (EntryExists, EntryChanged, EntryNotFound, EntryUnreadable) as refusal:
            dropped.append(Dropped(each.subject, (str(refusal),)))
        else:
            draft, applied, marked = upon, [*applied, *made], [*marked, *marks]
    touched = dict.fromkeys([*(path for each in applied for path in each.touched), *marked])
    if tiers is not None and put_tiers(tiers, draft):
        touched[TIERS_FILE] = None
    return draft, Receipt(tuple(applied), tuple(dropped), tuple(touched))


def put_tiers(tiers: TierList, draft: Draft) -> bool:
    """Sets the draft's tier list; returns whether it differs. Raises StateCorrupt rather than replace a damaged one."""
    data = render_tiers(tiers)
    try:
        unwrap(parse_tiers(data, TIERS_FILE))
    except StateCorrupt as refused:
        raise EntryInvalid(tuple(f"tiers: {problem}" for problem in refused.problems)) from refused
    if tiers_in(draft.root, draft.state(TIERS_FILE)) == tiers:
        return False
    draft.put(TIERS_FILE, FileState(data))
    return True


# -- one change -------------------------------------------------------------------------------------------------------


@frozen
class _Act:
    path: str
    """The note's present or last live path."""
    meta: Meta
    after_hash: str | None = None
    """None if it is no longer live."""
    done_before: bool = False
    """True if a replay found it already done."""
    touched: tuple[str, ...] = ()
    """The paths it touched when it was done."""


def _decide_group(changes: Sequence[Change], draft: Draft) -> list[Applied]:
    """Applies all changes to the draft. Raises EntryInvalid for values that no file may hold, else by a note's state."""
    applied: list[Applied] = []
    done_before: list[str] = []
    is_written = False
    for change in changes:
        draft.touched.clear()
        act = _ACTS[change.act](change, draft)
        touched = tuple(dict.fromkeys((act.path, *draft.touched, *act.touched)))
        title = "" if act.meta.is_secret else act.meta.title
        applied.append(Applied(change.id, change.act, act.path, touched, change.expected_hash, act.after_hash, title))
        done_before += [change.id] if act.done_before else []
        is_written |= bool(draft.touched)
    # A replay finds all of a group done. If only a part is, somebody did or undid that, and the rest is dropped.
    if done_before and is_written:
        raise EntryChanged(done_before[0])
    return applied


def _file_name(entry: MemoryEntry) -> str:
    if not is_id(entry.meta.id):
        raise EntryInvalid((f"id is {entry.meta.id[:40]!r}, expected id__ and six base58 digits",))
    name = file_name_of(entry.meta)
    if not is_plain_name(name) or name.startswith("."):
        raise EntryInvalid(("title and tags give no file name",))
    return name


def _create(change: Change, draft: Draft) -> _Act:
    entry = change.entry
    assert entry is not None
    id, name = change.id, _file_name(entry)
    path = f"{TOPICS}/{name}"
    stored, state = _render(entry, None, path)
    if (live := draft.live(id)) is not None:
        there = draft.state(live.path)
        if there is None or there.data != state.data:
            raise EntryExists(id, live.path)
        return _Act(live.path, entry.meta, stored.listed.content_hash, done_before=True)
    owner = draft.owner(id) or (None if draft.is_free(TOPICS, name) else path)
    if owner is not None:
        raise EntryExists(id, owner)
    _refuse_shared_alias(entry, (), draft)
    draft.put_new(id, path, state)
    draft.put_live(id, stored.listed)
    return _Act(path, entry.meta, stored.listed.content_hash)


def _replace(change: Change, draft: Draft) -> _Act:
    entry = change.entry
    assert entry is not None
    id, wanted = change.id, _file_name(entry)
    current, before = _current_entry(id, draft)
    old_path = current.listed.path
    # The name follows title and tags. It stays if the new one differs only in case or composition, or is taken.
    name = old_path.rpartition("/")[2]
    stays = file_name_of(current.meta) == wanted or folded_name(name) == folded_name(wanted)
    path = f"{TOPICS}/{name if stays or not draft.is_free(TOPICS, wanted) else wanted}"
    stored, after = _render(entry, before, path)
    act = _Act(path, entry.meta, stored.listed.content_hash)
    if current.listed.content_hash != change.expected_hash:
        if after.data != before.data:
            raise EntryChanged(id)
        version = draft.version_with(id, change.expected_hash)
        return evolve(act, done_before=True, touched=() if version is None else (version,))
    _refuse_shared_alias(entry, current.meta.aliases, draft)
    was, now = current.meta, stored.meta
    is_demoted = was.origin is not now.origin or (was.promoted_by is not None and now.promoted_by is None)
    if is_demoted or current.entry.texts != stored.entry.texts:
        draft.keep_version(id, current.meta.updated_at_ms, before)
    if path != old_path:
        draft.put_new(id, path, after)
        draft.put(old_path, None)
    elif after.data != before.data:
        draft.put(path, after)
    draft.put_live(id, stored.listed)
    return act


def _refuse_shared_alias(entry: MemoryEntry, had: tuple[str, ...], draft: Draft) -> None:
    """Refuses a new alias that already finds another live note (P15)."""
    for alias in (each for each in entry.meta.aliases if each not in had):
        for bearer in draft.bearers(alias):
            if bearer.meta.id != entry.meta.id:
                raise EntryExists(alias, bearer.path)


def _retire(change: Change, draft: Draft) -> _Act:
    id = change.id
    if draft.live(id) is None:
        return _retired_before(change, draft)
    current, before = _current_entry(id, draft)
    live_path = current.listed.path
    if current.listed.content_hash != change.expected_hash:
        raise EntryChanged(id)
    # An earlier retired file of the same id becomes a version: nothing in the archive is overwritten (P12).
    earlier = draft.archived(id)
    state = draft.state(earlier.path) if earlier is not None and _is_retired(earlier) else None
    if earlier is not None and state is not None:
        draft.keep_version(id, earlier.meta.updated_at_ms, state)
        draft.put(earlier.path, None)
    # The note's own name, with a number in front if another archived file has it.
    own = live_path.rpartition("/")[2]
    names = chain((own,), (f"{number} {own}" for number in count(2)))
    path = f"{ARCHIVE}/{next(name for name in names if draft.is_free(ARCHIVE, name))}"
    after = before
    if change.valid_until_ms is not None or current.listed.provisional_id:
        # The file changes, so its present bytes are kept beside it.
        draft.keep_version(id, current.meta.updated_at_ms, before)
        after = evolve(_render(_with_end(current, change.valid_until_ms), before, path)[1], mtime_ns=before.mtime_ns)
    draft.put(path, after)
    draft.put(live_path, None)
    draft.put_live(id, None)
    draft.put_archived(id, understand(path, after.data, after.mtime_ns or 0).listed)
    return _Act(live_path, current.meta)


def _retired_before(change: Change, draft: Draft) -> _Act:
    """Returns the act if the archive has the note with the bytes it was to be retired from, as in a replay."""
    archived = _archived_entry(change.id, draft)
    version = draft.version_with(change.id, change.expected_hash)
    if not _is_retired(archived) or (archived.content_hash != change.expected_hash and version is None):
        raise draft.missing(change.id)
    path = f"{TOPICS}/{archived.path.rpartition('/')[2]}"
    return _Act(path, archived.meta, done_before=True, touched=(archived.path,))


def _with_end(current: StoredEntry, valid_until_ms: int | None) -> MemoryEntry:
    until = current.meta.valid_until_ms if valid_until_ms is None else valid_until_ms
    return evolve(current.entry, meta=evolve(current.meta, valid_until_ms=until))


def _is_retired(archived: Listed) -> bool:
    """Returns whether it is in the archive as a note, and not as a version in the directory of its id."""
    return archived.path.count("/") == 1


def _restore(change: Change, draft: Draft) -> _Act:
    id = change.id
    if (live := draft.live(id)) is not None:
        raise EntryExists(id, live.path)
    archived = _archived_entry(id, draft)
    state = _original(archived, draft)
    listed = _place(archived, state, draft)
    # A note that took the id over as an alias loses it.
    freed: list[tuple[Listed, FileState]] = []
    for holder in (bearer for bearer in draft.bearers(id) if id in bearer.meta.aliases):
        stored, before = _current_entry(holder.meta.id, draft)
        aliases = tuple(alias for alias in stored.meta.aliases if alias != id)
        without = MemoryEntry(evolve(stored.meta, aliases=aliases), stored.body)
        fresh, after = _render(without, before, holder.path)
        freed.append((fresh.listed, after))
    draft.put_new(id, listed.path, state)
    draft.put_live(id, listed)
    for holder, after in freed:
        draft.put(holder.path, after)
        draft.put_live(holder.meta.id, holder)
    if _is_retired(archived):
        draft.put(archived.path, None)
    if draft.state(rejected_path(id)) is not None:
        draft.put(rejected_path(id), None)
    draft.put_archived(id, None)
    return _Act(listed.path, listed.meta, listed.content_hash)


_ACTS: Mapping[str, Callable[[Change, Draft], _Act]] = {
    "create": _create,
    "replace": _replace,
    "retire": _retire,
    "restore": _restore,
}


def _original(archived: Listed, draft: Draft) -> FileState:
    """Returns the archived file's bytes, or those from before retiring if that only added an end date."""
    entry, state = _archived_file(archived.path, draft)
    if archived.meta.valid_until_ms is None or not _is_retired(archived):
        return state
    for path in reversed(draft.versions(archived.meta.id)):
        try:
            before, bytes_before = _archived_file(path, draft)
        except EntryUnreadable:
            continue  # any other error is raised: this may be the right version (P6)
        if _with_end(before, archived.meta.valid_until_ms) == entry.entry:
            return bytes_before
    return state


def _archived_file(path: str, draft: Draft) -> tuple[StoredEntry, FileState]:
    state = draft.state(path)
    if state is None:
        raise EntryUnreadable(path, ("it is gone",))
    return understand(path, state.data, state.mtime_ns or 0), state


def _place(archived: Listed, state: FileState, draft: Draft) -> Listed:
    """Returns the note under its former name, or its canonical one, whichever is free and keeps its id."""
    own, canonical = archived.path.rpartition("/")[2], file_name_of(archived.meta)
    for name in (own, canonical) if _is_retired(archived) else (canonical,):
        stored = entry_or_none(f"{TOPICS}/{name}", state.data, state.mtime_ns or 0)
        if draft.is_free(TOPICS, name) and stored is not None and stored.meta.id == archived.meta.id:
            return stored.listed
    raise EntryExists(archived.meta.id, f"{TOPICS}/{canonical}")


# -- notes and their bytes --------------------------------------------------------------------------------------------


def _render(entry: MemoryEntry, previous: FileState | None, path: str) -> tuple[StoredEntry, FileState]:
    data = render_note(entry, None if previous is None else previous.data.decode()).encode()
    try:
        stored = understand(path, data, 0)
    except EntryUnreadable as refused:
        raise EntryInvalid(refused.problems) from refused
    if stored.meta.id != entry.meta.id:
        raise EntryInvalid((f"it would be read as {stored.meta.id}",))
    return stored, FileState(data)


def _current_entry(id: str, draft: Draft) -> tuple[StoredEntry, FileState]:
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


def _archived_entry(id: str, draft: Draft) -> Listed:
    """Returns the archived note of an id that is not live, or raises why there is none."""
    missing = draft.missing(id)
    if not isinstance(missing, EntryNotFound) or (archived := draft.archived(id)) is None:
        raise missing
    return archived
