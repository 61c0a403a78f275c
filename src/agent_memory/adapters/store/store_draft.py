"""A store as a batch of changes would leave it. Nothing is written here: `file_changes` says what is to be written."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, read_image
from agent_memory.adapters.store.shelves import Shelves, version_ms
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.folded_name import folded_name
from agent_memory.errors import EntryNotFound, EntryUnreadable, Error, StoreIo

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


class Draft:
    """Files and live entries, with the acts that were taken so far."""

    def __init__(self, root: str, shelves: Shelves, live: Listing) -> None:
        self._root = root
        self._shelves = shelves
        self._live = {listed.meta.id: listed for listed in live.entries}
        self._unreadable = live.unreadable
        self._before: dict[str, FileState | None] = {}
        self._after: dict[str, FileState | None] = {}
        self._names: dict[str, set[str]] = {}
        self._archived: dict[str, Listed] | None = None
        self._archive_trouble: StoreIo | None = None

    def take(self, act: Act) -> None:
        """Go on from what this act leaves."""
        for path, state in act.writes:
            self._after[path] = state
            shelf, _, name = path.rpartition("/")
            names = self._names.get(shelf, set())
            (names.discard if state is None else names.add)(folded_name(name))
        if act.archived is not None:
            self._live.pop(act.archived.meta.id, None)
            self._archived = {**(self._archived or {}), act.archived.meta.id: act.archived}
        if act.restored is not None:
            self._archived = {id: each for id, each in (self._archived or {}).items() if id != act.restored}
        self._live |= {listed.meta.id: listed for listed in act.live}

    def file_changes(self) -> tuple[FileChange, ...]:
        """All that is to be written, in the order of the acts."""
        return tuple(FileChange(path, self._before[path], after) for path, after in self._after.items())

    def state(self, path: str) -> Result[FileState | None, Error]:
        """What is in the file, or would be."""
        if path in self._after:
            return Success(self._after[path])
        if path not in self._before:
            read = read_image(self._root, path)
            if isinstance(read, Failure):
                return read
            image = read.unwrap()
            self._before[path] = None if image is None else FileState(image.data, image.mtime_ns)
        return Success(self._before[path])

    def live(self, id: str) -> Listed | None:
        """The live entry with this very id."""
        return self._live.get(id)

    def with_alias(self, id: str) -> tuple[Listed, ...]:
        """The live entries that this id is an alias of."""
        return tuple(listed for listed in self._live.values() if id in listed.meta.aliases)

    def owner(self, id: str) -> Result[str | None, Error]:
        """The path of whatever has the id already, compared without case: an entry, an alias, the archive; None if free."""
        wanted = id.casefold()
        holders = [
            listed.path
            for listed in self._live.values()
            if any(wanted == taken.casefold() for taken in (listed.meta.id, *listed.meta.aliases))
        ]
        if holders:
            return Success(min(holders))
        for file in self._unreadable:
            if _named_id(file).casefold() == wanted:
                return Success(file.path) if file.io_error is None else Failure(file.io_error)
        return self._archived_ids().map(
            lambda archived: next((each.path for id, each in archived.items() if id.casefold() == wanted), None)
        )

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
        found = self._archived_ids().map(lambda archived: archived.get(id))
        return Failure(self._archive_trouble) if found == Success(None) and self._archive_trouble else found

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the versions of an id, oldest first."""
        drafted = [path for path, state in self._after.items() if state and path.startswith(f"{ARCHIVE}/{id}/")]
        return self._shelves.versions(id).map(lambda paths: tuple(sorted({*paths, *drafted}, key=version_ms)))

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
        if shelf not in self._names:
            listed = self._shelves.names(shelf)
            if isinstance(listed, Failure):
                return listed
            self._names[shelf] = self._with_drafted(shelf, listed.unwrap())
        return Success(folded_name(name) not in self._names[shelf])

    def _archived_ids(self) -> Result[dict[str, Listed], Error]:
        if self._archived is None:
            listing = self._shelves.archived()
            if isinstance(listing, Failure):
                return listing
            self._archived = {each.meta.id: each for each in listing.unwrap().entries}
            self._archive_trouble = next((each.io_error for each in listing.unwrap().unreadable if each.io_error), None)
        return Success(self._archived)

    def _with_drafted(self, shelf: str, names: Iterable[str]) -> set[str]:
        folded = {folded_name(name) for name in names}
        for path, state in self._after.items():
            directory, _, name = path.rpartition("/")
            if directory == shelf:
                (folded.discard if state is None else folded.add)(folded_name(name))
        return folded


def _named_id(file: UnreadableFile) -> str:
    return id_in_name(file.path.rpartition("/")[2]) or ""
