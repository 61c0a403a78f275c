"""A store as a batch of changes would leave it. Nothing is written here: `file_changes` says what is to be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, read_image
from agent_memory.adapters.store.shelves import Shelves, version_ms
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.entry_lookup import folded_ids, ids_in
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.domain.text.file_name import folded_name, id_in_name
from agent_memory.errors import EntryNotFound, EntryUnreadable, Error

Write = tuple[str, FileState | None]
"""A path relative to the root, and what is to be there."""


@frozen
class Act:
    """One change, decided: what it writes and which entries are live by it."""

    applied: Applied
    writes: tuple[Write, ...] = ()
    live: tuple[Listed, ...] = ()
    """Entries that are new or differ."""
    archived: Listed | None = None
    """The entry that is retired now, and live no more."""
    restored: str | None = None
    """The id that is retired no more."""
    again: bool = False
    """It was done before, and nothing is left to do."""


class Draft:
    """Files and live entries, with the acts that were taken so far. What was taken since a `mark` can be taken back."""

    def __init__(self, root: str, shelves: Shelves, live: Listing, archive: Listing | None = None) -> None:
        self.root = root
        self._shelves = shelves
        self._listings = live, archive
        self._live: dict[str, Listed | None] = {**live.found.by_id}
        self._ids = LiveIds(self._live, live.found.bearers)
        self._unreadable = live.unreadable
        self._before: dict[str, FileState | None] = {}
        self._after: dict[str, FileState | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        """Of each shelf on disk."""
        self._names_after: dict[tuple[str, str], bool] = {}
        """Which of these, and of others, are taken by now."""
        self._archive = archive
        """Where it was listed already."""
        self._archived: dict[str, Listed] | None = None
        self._archived_after: dict[str, Listed | None] = {}
        self._archived_spellings: defaultdict[str, set[str]] = defaultdict(set)
        """Ids that are, or once were, archived, by their folded form."""
        self._archived_unreadable: tuple[UnreadableFile, ...] = ()
        self._taken = Revocable()

    def fresh(self) -> Draft:
        """A draft upon the same listings in which nothing was taken."""
        return Draft(self.root, self._shelves, *self._listings)

    def take(self, act: Act) -> None:
        """Go on from what this act leaves."""
        for path, state in act.writes:
            self.put(path, state)
        if act.archived is not None:
            self.put_live(act.archived.meta.id, None)
            self._taken.put(self._archived_after, act.archived.meta.id, act.archived)
            self._archived_spellings[act.archived.meta.id.casefold()].add(act.archived.meta.id)
        if act.restored is not None:
            self._taken.put(self._archived_after, act.restored, None)
        for listed in act.live:
            self.put_live(listed.meta.id, listed)

    def put(self, path: str, state: FileState | None) -> None:
        """Go on from a file that holds this."""
        self._taken.put(self._after, path, state)
        shelf, _, name = path.rpartition("/")
        self._taken.put(self._names_after, (shelf, folded_name(name)), state is not None)

    def put_live(self, id: str, listed: Listed | None) -> None:
        """Go on with this entry live; None: with no live entry of the id."""
        self._taken.put(self._live, id, listed)
        if listed is not None:
            self._ids.note(listed)

    def mark(self) -> int:
        """A point to go back to."""
        return self._taken.mark()

    def go_back(self, mark: int) -> None:
        """Take back all that was taken since the mark."""
        self._taken.go_back(mark)

    def file_changes(self) -> tuple[FileChange, ...]:
        """All that is to be written, in the order of the acts."""
        changes = (FileChange(path, self._before[path], after) for path, after in self._after.items())
        return tuple(each for each in changes if hash_of(each.before) != hash_of(each.after))

    def state(self, path: str) -> Result[FileState | None, Error]:
        """What is in the file, or would be."""
        if path in self._after:
            return Success(self._after[path])
        if path not in self._before:
            read = read_image(self.root, path)
            if isinstance(read, Failure):
                return read
            image = read.unwrap()
            self._before[path] = None if image is None else FileState(image.data, image.mtime_ns)
        return Success(self._before[path])

    def live(self, id: str) -> Listed | None:
        """The live entry with this very id."""
        return self._live.get(id)

    def all_live(self) -> Iterator[Listed]:
        """Every live entry."""
        return (listed for listed in self._live.values() if listed is not None)

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries that have the id or the alias, compared without case, by path."""
        return self._ids.bearers(id)

    def with_alias(self, id: str) -> tuple[Listed, ...]:
        """The live entries that this id is an alias of."""
        return tuple(listed for listed in self.bearers(id) if id in listed.meta.aliases)

    def owner(self, id: str) -> Result[str | None, Error]:
        """The path of whatever has the id already, compared without case: an entry, an alias, the archive; None if free."""
        wanted = id.casefold()
        for bearer in self.bearers(id):
            return Success(bearer.path)
        for file in self._unreadable:
            if _named_id(file).casefold() == wanted:
                return Success(file.path) if file.io_error is None else Failure(file.io_error)
        return self._archived_ids().bind(lambda _: self._archived_owner(wanted))

    def _archived_owner(self, folded_id: str) -> Result[str | None, Error]:
        """Of what could not be read the name tells whose it is: an id is never given again (P15)."""
        for bearer in self._archived_under(folded_id):
            return Success(bearer.path)
        for file in self._archived_unreadable:
            if folded_id in (_named_id(file).casefold(), file.path.split("/")[1].casefold()):
                return Success(file.path) if file.io_error is None else Failure(file.io_error)
        return Success(None)

    def missing(self, id: str) -> Error:
        """Why there is no live entry with this id. "Not found" only where every file could be read (P6)."""
        for file in self._unreadable:
            if file.io_error is not None:
                return file.io_error
            if _named_id(file) == id:
                return EntryUnreadable(file.path, file.problems)
        archived = self.archived(id)
        return archived.failure() if isinstance(archived, Failure) else EntryNotFound(id, archived.unwrap() is not None)

    def archived(self, id: str) -> Result[Listed | None, Error]:
        """The newest archived file of the id: what `read(id, archived=True)` shows."""
        found = self._archived_ids().map(lambda _: self._archived_now(id))
        trouble = next((each.io_error for each in self._archived_unreadable if each.io_error is not None), None)
        return Failure(trouble) if found == Success(None) and trouble is not None else found

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the versions of an id, oldest first."""
        drafted = {path: state for path, state in self._after.items() if path.startswith(f"{ARCHIVE}/{id}/")}
        kept = {path for path, state in drafted.items() if state is not None}
        return self._shelves.versions(id).map(
            lambda paths: tuple(sorted(set(paths) - drafted.keys() | kept, key=version_ms))
        )

    def kept_version(self, id: str, at_ms: int, state: FileState) -> Result[Write, Error]:
        """Where these bytes are kept byte for byte: under their time, or the next free millisecond after it (P12)."""
        ms = max(at_ms, 0)
        while True:
            path = f"{ARCHIVE}/{id}/{ms}.md"
            there = self.state(path)
            if isinstance(there, Failure):
                return there
            existing = there.unwrap()
            if existing is None or existing.data == state.data:
                return Success((path, existing or state))
            ms += 1

    def version_with(self, id: str, hash: str) -> Result[str | None, Error]:
        """The version that holds exactly these bytes."""
        paths = self.versions(id)
        if isinstance(paths, Failure):
            return paths
        for path in reversed(paths.unwrap()):
            state = self.state(path)
            if isinstance(state, Failure):
                return state
            found = state.unwrap()
            if found is not None and content_hash(found.data) == hash:
                return Success(path)
        return Success(None)

    def is_free(self, shelf: str, name: str) -> Result[bool, Error]:
        """Whether a name may be given, on any file system."""
        drafted = self._names_after.get((shelf, folded_name(name)))
        if drafted is not None:
            return Success(not drafted)
        if shelf not in self._names:
            listed = self._shelves.names(shelf)
            if isinstance(listed, Failure):
                return listed
            self._names[shelf] = frozenset(map(folded_name, listed.unwrap()))
        return Success(folded_name(name) not in self._names[shelf])

    def _archived_ids(self) -> Result[None, Error]:
        """Know what is in the archive."""
        if self._archived is None:
            listing = self._shelves.archived() if self._archive is None else Success(self._archive)
            if isinstance(listing, Failure):
                return listing
            self._archived = {each.meta.id: each for each in listing.unwrap().entries}
            self._archived_unreadable = listing.unwrap().unreadable
            for id in self._archived:
                self._archived_spellings[id.casefold()].add(id)
        return Success(None)

    def _archived_now(self, id: str) -> Listed | None:
        return self._archived_after[id] if id in self._archived_after else (self._archived or {}).get(id)

    def _archived_under(self, folded_id: str) -> Iterator[Listed]:
        found = map(self._archived_now, sorted(self._archived_spellings.get(folded_id, ())))
        return (each for each in found if each is not None)


def _named_id(file: UnreadableFile) -> str:
    return id_in_name(file.path.rpartition("/")[2]) or ""


K = TypeVar("K")
V = TypeVar("V")

_ABSENT = object()


class Revocable:
    """Remembers what each value was that is put through it."""

    def __init__(self) -> None:
        self._earlier: list[tuple[dict[Any, Any], Any, Any]] = []

    def put(self, mapping: dict[K, V], key: K, value: V) -> None:
        """Set the value."""
        self._earlier.append((mapping, key, mapping.get(key, _ABSENT)))
        mapping[key] = value

    def mark(self) -> int:
        """A point to go back to."""
        return len(self._earlier)

    def go_back(self, mark: int) -> None:
        """Undo every change since the mark, last first."""
        while len(self._earlier) > mark:
            mapping, key, value = self._earlier.pop()
            if value is _ABSENT:
                del mapping[key]
            else:
                mapping[key] = value


_path = attrgetter("path")


class LiveIds:
    """An index over a mapping of live entries by id, in which None stands for an entry that is live no more.

    The mapping may change, and change back: `bearers` says who bore what in the beginning, every entry that comes into it
    later is to be told with `note`, and every answer is compared with the mapping as it is then.
    """

    def __init__(self, live: Mapping[str, Listed | None], bearers: Mapping[str, str | list[str]]) -> None:
        self._live = live
        self._bearers = bearers
        self._noted: dict[str, dict[str, None]] = {}
        """The same for what was noted since."""
        self._folded: dict[str, tuple[Listed, frozenset[str]]] = {}
        """What the entries that were asked for bear, by their ids."""

    def note(self, listed: Listed) -> None:
        """An entry that is live now, or has other aliases."""
        for folded in folded_ids(listed):
            self._noted.setdefault(folded, {})[listed.meta.id] = None

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries with this id or alias, by path."""
        wanted = id.casefold()
        ids = dict.fromkeys((*ids_in(self._bearers, wanted), *self._noted.get(wanted, ())))
        found = (self._live.get(each) for each in ids)
        return tuple(sorted((each for each in found if each is not None and wanted in self._borne_by(each)), key=_path))

    def _borne_by(self, listed: Listed) -> frozenset[str]:
        known = self._folded.get(listed.meta.id)
        if known is None or known[0] is not listed:
            known = self._folded[listed.meta.id] = listed, frozenset(folded_ids(listed))
        return known[1]
