"""A store as a batch of changes would leave it. Nothing is written here: `file_changes` says what is to be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter

from attrs import frozen

from agent_memory.adapters.store.entry_files import ARCHIVE, read_image
from agent_memory.adapters.store.shelves import Shelves, version_ms
from agent_memory.domain.change import Applied
from agent_memory.domain.entry import Listed, Listing, UnreadableFile, folded_ids
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.domain.text.file_name import folded_name, id_in_name
from agent_memory.errors import EntryNotFound, EntryUnreadable, Error

Write = tuple[str, FileState | None]
"""A path relative to the root, and what is to be there."""

_path = attrgetter("path")


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


@frozen
class Mark:
    """What was taken up to some point."""

    live: dict[str, Listed]
    after: dict[str, FileState | None]
    taken_names: dict[str, set[str]]
    archived: dict[str, Listed] | None


class Draft:
    """Files and live entries, with the acts that were taken so far. What was taken since a `mark` can be taken back."""

    def __init__(self, shelves: Shelves, live: Listing) -> None:
        self.root = shelves.root
        self._shelves = shelves
        self._listing = live
        self._live = {each.meta.id: each for each in live.entries}
        self._bearers: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of entries that have, or once had, an id or alias, by its folded form."""
        for each in live.entries:
            self._note(each)
        self._before: dict[str, FileState | None] = {}
        self._after: dict[str, FileState | None] = {}
        self._names: dict[str, set[str]] = {}
        """The folded names in each directory that was asked for."""
        self._archived: dict[str, Listed] | None = None
        self._archived_unreadable: tuple[UnreadableFile, ...] = ()

    def fresh(self) -> Draft:
        """A draft upon the same listing in which nothing was taken."""
        return Draft(self._shelves, self._listing)

    def take(self, act: Act) -> None:
        """Go on from what this act leaves."""
        for path, state in act.writes:
            self.put(path, state)
        if act.archived is not None:
            self._live.pop(act.archived.meta.id, None)
            self._archive()[act.archived.meta.id] = act.archived
        if act.restored is not None:
            self._archive().pop(act.restored, None)
        for listed in act.live:
            self.put_live(listed.meta.id, listed)

    def put(self, path: str, state: FileState | None) -> None:
        """Go on from a file that holds this."""
        self._after[path] = state
        directory, _, name = path.rpartition("/")
        if directory in self._names:
            (self._names[directory].discard if state is None else self._names[directory].add)(folded_name(name))

    def put_live(self, id: str, listed: Listed | None) -> None:
        """Go on with this entry live; None: with no live entry of the id."""
        if listed is None:
            self._live.pop(id, None)
        else:
            self._live[id] = listed
            self._note(listed)

    def mark(self) -> Mark:
        """A point to go back to."""
        names = {directory: set(names) for directory, names in self._names.items()}
        archived = None if self._archived is None else dict(self._archived)
        return Mark(dict(self._live), dict(self._after), names, archived)

    def go_back(self, mark: Mark) -> None:
        """Take back all that was taken since the mark."""
        self._live, self._after, self._names, self._archived = mark.live, mark.after, mark.taken_names, mark.archived

    def file_changes(self) -> tuple[FileChange, ...]:
        """All that is to be written, in the order of the acts."""
        changes = (FileChange(path, self._before[path], after) for path, after in self._after.items())
        return tuple(each for each in changes if hash_of(each.before) != hash_of(each.after))

    def state(self, path: str) -> FileState | None:
        """What is in the file, or would be."""
        if path in self._after:
            return self._after[path]
        if path not in self._before:
            image = read_image(self.root, path)
            self._before[path] = None if image is None else FileState(image.data, image.mtime_ns)
        return self._before[path]

    def live(self, id: str) -> Listed | None:
        """The live entry with this very id."""
        return self._live.get(id)

    def all_live(self) -> Iterator[Listed]:
        """Every live entry."""
        return iter(self._live.values())

    def bearers(self, id: str) -> tuple[Listed, ...]:
        """The live entries that have the id or the alias, compared without case, by path."""
        wanted = id.casefold()
        found = (self._live.get(each) for each in self._bearers.get(wanted, ()))
        return tuple(sorted((each for each in found if each is not None and wanted in folded_ids(each)), key=_path))

    def with_alias(self, id: str) -> tuple[Listed, ...]:
        """The live entries that this id is an alias of."""
        return tuple(listed for listed in self.bearers(id) if id in listed.meta.aliases)

    def owner(self, id: str) -> str | None:
        """The path of whatever has the id already, compared without case: an entry, an alias, the archive; None if free. Of
        what could not be read the name tells whose it is: an id is never given again (P15)."""
        wanted = id.casefold()
        for bearer in self.bearers(id):
            return bearer.path
        for file in self._listing.unreadable:
            if _named_id(file).casefold() == wanted:
                return _path_of_unreadable(file)
        for archived_id, archived in self._archive().items():
            if archived_id.casefold() == wanted:
                return archived.path
        for file in self._archived_unreadable:
            if wanted in (_named_id(file).casefold(), file.path.split("/")[1].casefold()):
                return _path_of_unreadable(file)
        return None

    def missing(self, id: str) -> Error:
        """Why there is no live entry with this id. "Not found" only where every file could be read (P6)."""
        for file in self._listing.unreadable:
            if file.io_error is not None:
                return file.io_error
            if _named_id(file) == id:
                return EntryUnreadable(file.path, file.problems)
        return EntryNotFound(id, self.archived(id) is not None)

    def archived(self, id: str) -> Listed | None:
        """The newest archived file of the id: what `read(id, archived=True)` shows."""
        found = self._archive().get(id)
        trouble = next((each.io_error for each in self._archived_unreadable if each.io_error is not None), None)
        if found is None and trouble is not None:
            raise trouble
        return found

    def versions(self, id: str) -> tuple[str, ...]:
        """Paths of the versions of an id, oldest first."""
        drafted = {path: state for path, state in self._after.items() if path.startswith(f"{ARCHIVE}/{id}/")}
        kept = {path for path, state in drafted.items() if state is not None}
        return tuple(sorted(set(self._shelves.versions(id)) - drafted.keys() | kept, key=version_ms))

    def kept_version(self, id: str, at_ms: int, state: FileState) -> Write:
        """Where these bytes are kept byte for byte: under their time, or the next free millisecond after it (P12)."""
        ms = max(at_ms, 0)
        while True:
            path = f"{ARCHIVE}/{id}/{ms}.md"
            existing = self.state(path)
            if existing is None or existing.data == state.data:
                return path, existing or state
            ms += 1

    def version_with(self, id: str, hash: str) -> str | None:
        """The version that holds exactly these bytes."""
        for path in reversed(self.versions(id)):
            state = self.state(path)
            if state is not None and content_hash(state.data) == hash:
                return path
        return None

    def is_free(self, directory: str, name: str) -> bool:
        """Whether a name may be given, on any file system."""
        if directory not in self._names:
            taken = set(map(folded_name, self._shelves.names(directory)))
            for path, state in self._after.items():
                parent, _, other = path.rpartition("/")
                if parent == directory:
                    (taken.discard if state is None else taken.add)(folded_name(other))
            self._names[directory] = taken
        return folded_name(name) not in self._names[directory]

    def _note(self, listed: Listed) -> None:
        for folded in folded_ids(listed):
            self._bearers[folded].add(listed.meta.id)

    def _archive(self) -> dict[str, Listed]:
        """The newest archived file of each id; listed when it is first asked for."""
        if self._archived is None:
            listing = self._shelves.archived()
            self._archived = {each.meta.id: each for each in listing.entries}
            self._archived_unreadable = listing.unreadable
        return self._archived


def _named_id(file: UnreadableFile) -> str:
    return id_in_name(file.path.rpartition("/")[2]) or ""


def _path_of_unreadable(file: UnreadableFile) -> str:
    if file.io_error is not None:
        raise file.io_error
    return file.path
