"""A store as the changes so far would leave it. Nothing is written here: `file_changes` says what is to be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from functools import cache
from operator import attrgetter

from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.store.entry_files import ARCHIVE, read_image
from agent_memory.adapters.store.following import FollowedFiles, version_ms
from agent_memory.domain.entry import Listed, UnreadableFile, folded_ids
from agent_memory.domain.recording.file_change import FileChange, FileState, content_hash, hash_of
from agent_memory.domain.text.file_name import folded_name, id_in_name
from agent_memory.errors import EntryExists, EntryNotFound, EntryUnreadable, Error

_path = attrgetter("path")


class Draft:
    """Files and live entries. Whoever may have to take changes back makes them in a copy."""

    def __init__(self, files: FollowedFiles) -> None:
        self.root = files.root
        self._versions_on_disk = files.versions
        self._listing = files.live()
        self._archive_listing = cache(files.archived)  # listed when it is first asked for
        self._before: dict[str, FileState | None] = {}
        self._bearers: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of entries that have, or once had, an id or alias, by its folded form."""
        # What follows is what changes; all else copies share.
        self._live = {each.meta.id: each for each in self._listing.entries}
        for each in self._listing.entries:
            self._note(each)
        self._after: dict[str, FileState | None] = {}
        self._archived: dict[str, Listed | None] = {}
        """By id, where it is not as the archive is listed."""
        self._names: dict[str, set[str]] = {}
        """The folded names in each directory that was asked for."""

    def copy(self) -> Draft:
        """Another draft that goes on from here."""
        other = copy(self)
        other._live, other._after, other._archived = dict(self._live), dict(self._after), dict(self._archived)
        other._names = {directory: set(names) for directory, names in self._names.items()}
        return other

    # -- changes ------------------------------------------------------------------------------------------------------

    def put(self, path: str, state: FileState | None) -> None:
        """The file holds this from now on."""
        self._after[path] = state
        directory, _, name = path.rpartition("/")
        if directory in self._names:
            (self._names[directory].discard if state is None else self._names[directory].add)(folded_name(name))

    def put_new(self, id: str, path: str, state: FileState) -> None:
        """The same where nothing else may be overwritten: EntryExists."""
        before = self.state(path)
        if before is not None and before.data != state.data:
            raise EntryExists(id, path)
        self.put(path, state)

    def put_live(self, id: str, listed: Listed | None) -> None:
        """The live entry of the id from now on; None for none."""
        if listed is None:
            self._live.pop(id, None)
        else:
            self._live[id] = listed
            self._note(listed)

    def put_archived(self, id: str, listed: Listed | None) -> None:
        """The retired entry of the id from now on; None for none."""
        self._archived[id] = listed

    def keep_version(self, id: str, at_ms: int, state: FileState) -> str:
        """Keep these bytes byte for byte, under their time or the next free millisecond after it (P12); where."""
        ms = max(at_ms, 0)
        while True:
            path = f"{ARCHIVE}/{id}/{ms}.md"
            existing = self.state(path)
            if existing is None or existing.data == state.data:
                self.put(path, existing or state)
                return path
            ms += 1

    def file_changes(self) -> tuple[FileChange, ...]:
        """All that is to be written, in the order in which it was put."""
        changes = (FileChange(path, self._disk_state(path), after) for path, after in self._after.items())
        return tuple(each for each in changes if hash_of(each.before) != hash_of(each.after))

    # -- files --------------------------------------------------------------------------------------------------------

    def state(self, path: str) -> FileState | None:
        """What is in the file, or would be."""
        return self._after[path] if path in self._after else self._disk_state(path)

    def _disk_state(self, path: str) -> FileState | None:
        if path not in self._before:
            image = read_image(self.root, path)
            self._before[path] = None if image is None else FileState(image.data, image.mtime_ns)
        return self._before[path]

    def is_free(self, directory: str, name: str) -> bool:
        """Whether a name may be given, on any file system."""
        if directory not in self._names:
            taken = set(map(folded_name, names_below(self.root, directory)))
            for path, state in self._after.items():
                parent, _, other = path.rpartition("/")
                if parent == directory:
                    (taken.discard if state is None else taken.add)(folded_name(other))
            self._names[directory] = taken
        return folded_name(name) not in self._names[directory]

    def versions(self, id: str) -> tuple[str, ...]:
        """Paths of the versions of an id, oldest first."""
        drafted = {path: state for path, state in self._after.items() if path.startswith(f"{ARCHIVE}/{id}/")}
        kept = {path for path, state in drafted.items() if state is not None}
        return tuple(sorted(set(self._versions_on_disk(id)) - drafted.keys() | kept, key=version_ms))

    def version_with(self, id: str, hash: str) -> str | None:
        """The version that holds exactly these bytes."""
        for path in reversed(self.versions(id)):
            state = self.state(path)
            if state is not None and content_hash(state.data) == hash:
                return path
        return None

    # -- entries ------------------------------------------------------------------------------------------------------

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

    def archived(self, id: str) -> Listed | None:
        """The newest archived file of the id: what `read(id, archived=True)` shows."""
        listing = self._archive_listing()
        found = self._archived[id] if id in self._archived else listing.by_id.get(id)
        trouble = next((each.io_error for each in listing.unreadable if each.io_error is not None), None)
        if found is None and trouble is not None:
            raise trouble
        return found

    def missing(self, id: str) -> Error:
        """Why there is no live entry with this id. "Not found" only where every file could be read (P6)."""
        for file in self._listing.unreadable:
            if file.io_error is not None:
                return file.io_error
            if _named_id(file) == id:
                return EntryUnreadable(file.path, file.problems)
        return EntryNotFound(id, self.archived(id) is not None)

    def owner(self, id: str) -> str | None:
        """The path of whatever has the id already, compared without case: an entry, an alias, the archive; None if free. Of
        what could not be read the name tells whose it is: an id is never given again (P15)."""
        wanted = id.casefold()
        for bearer in self.bearers(id):
            return bearer.path
        for file in self._listing.unreadable:
            if _named_id(file).casefold() == wanted:
                return _path_of_unreadable(file)
        listing = self._archive_listing()
        for archived_id, archived in {**listing.by_id, **self._archived}.items():
            if archived is not None and archived_id.casefold() == wanted:
                return archived.path
        for file in listing.unreadable:
            if wanted in (_named_id(file).casefold(), file.path.split("/")[1].casefold()):
                return _path_of_unreadable(file)
        return None

    def _note(self, listed: Listed) -> None:
        for folded in folded_ids(listed):
            self._bearers[folded].add(listed.meta.id)


def _named_id(file: UnreadableFile) -> str:
    return id_in_name(file.path.rpartition("/")[2]) or ""


def _path_of_unreadable(file: UnreadableFile) -> str:
    if file.io_error is not None:
        raise file.io_error
    return file.path
