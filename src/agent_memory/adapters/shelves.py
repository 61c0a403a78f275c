"""The two shelves of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it on the shelf.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.entry_files import ARCHIVE, TOPICS, read_image, understand, unreadable
from agent_memory.adapters.io_errors import store_io
from agent_memory.adapters.listing_cache import ListingCache
from agent_memory.adapters.paths import directory_inside, known_by, oddity
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.ids import is_id
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.formats.listing_rows import Row

_ENDING = ".md"
_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

Seen = Listed | UnreadableFile


class Shelves:
    """Listings of a real root, with their caches."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._caches = {shelf: ListingCache(root, shelf) for shelf in (TOPICS, ARCHIVE)}

    def live(self) -> Result[Listing, Error]:
        """Every entry of `topics/`, by path. Of two files with one id the first is the entry, the other is reported."""
        reading = _Reading(self._root, self._caches[TOPICS])
        return _scan(self._root, TOPICS).map(lambda found: _one_an_id(reading.done([*reading.files(TOPICS, found)])))

    def archived(self) -> Result[Listing, Error]:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        reading = _Reading(self._root, self._caches[ARCHIVE])
        return _scan(self._root, ARCHIVE).bind(lambda found: self._archived(reading, found))

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        return _scan(self._root, directory).map(
            lambda found: tuple(
                sorted((f"{directory}/{e.name}" for e in found if _VERSION.fullmatch(e.name)), key=version_ms)
            )
        )

    def names(self, shelf: str) -> Result[tuple[str, ...], Error]:
        """Every name on a shelf, whatever it is."""
        return _scan(self._root, shelf).map(lambda found: tuple(entry.name for entry in found))

    def _archived(self, reading: _Reading, found: Sequence[os.DirEntry[str]]) -> Result[Listing, Error]:
        seen = [*reading.files(ARCHIVE, (entry for entry in found if not _is_version_directory(entry)))]
        retired = {each.meta.id for each in seen if isinstance(each, Listed)}
        for entry in found:
            if _is_version_directory(entry) and entry.name not in retired:
                match sealed(self.versions(entry.name)):
                    case Failure(error):
                        return Failure(error)
                    case Success(paths):
                        seen += reading.newest(paths)
        return Success(_one_an_id(reading.done(seen)))


class _Reading:
    """One pass over a shelf: what the cache knows is not read again."""

    def __init__(self, root: str, cache: ListingCache) -> None:
        self._root = root
        self._cache = cache
        self._rows: dict[str, Row] = {}

    def files(self, shelf: str, found: Iterable[os.DirEntry[str]]) -> Iterable[Seen]:
        """What is to be said about the names on a shelf."""
        for entry in found:
            name = entry.name
            if name.startswith("."):
                continue
            seen: Seen | None = None
            if name.endswith(_ENDING):
                seen = self._look(f"{shelf}/{name}", entry)
            elif entry.is_dir(follow_symlinks=False) and _holds_notes(entry.path):
                seen = UnreadableFile(
                    f"{shelf}/{_printable(name)}", ("it is a directory, and the notes in it are not seen",)
                )
            if seen is not None:
                yield seen

    def newest(self, paths: Sequence[str]) -> Iterable[Seen]:
        """The newest version of an id that can be read, after those that cannot."""
        for path in reversed(paths):
            seen = self._look(path, None)
            if seen is not None:
                yield seen
            if isinstance(seen, Listed):
                return

    def done(self, seen: list[Seen]) -> list[Seen]:
        """The same, once the cache knows what was read."""
        self._cache.keep(self._rows)
        return seen

    def _look(self, path: str, entry: os.DirEntry[str] | None) -> Seen | None:
        if not path.isprintable() and not _is_text(path):
            return UnreadableFile(_printable(path), ("its name is not UTF-8",))
        try:
            status = os.lstat(f"{self._root}/{path}") if entry is None else entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            return unreadable(path, store_io(error, "read", path))
        if not stat.S_ISREG(status.st_mode):
            return UnreadableFile(path, (oddity(status.st_mode) or "",))
        row = self._cache.recall(path, known_by(status)) or self._read(path)
        if isinstance(row, Row):
            self._rows[path] = row
            return row.seen
        return row

    def _read(self, path: str) -> Row | UnreadableFile | None:
        read_at_ns = time.time_ns()
        match sealed(read_image(self._root, path)):
            case Failure(error):
                return unreadable(path, error)
            case Success(image):
                if image is None:
                    return None
                match sealed(understand(path, image.data, image.mtime_ns)):
                    case Failure(problem):
                        return Row(image.known_by, read_at_ns, unreadable(path, problem))
                    case Success(stored):
                        return Row(image.known_by, read_at_ns, stored.listed)


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(_ENDING))


def _scan(root: str, directory: str) -> Result[tuple[os.DirEntry[str], ...], Error]:
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                with os.scandir(path) as found:
                    return Success(tuple(found))
            except FileNotFoundError:
                return Success(())
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _one_an_id(seen: Iterable[Seen]) -> Listing:
    """Sorted by path. An id that a file states goes before one that it would only be given."""
    problems = []
    by_id: dict[str, Listed] = {}
    for each in sorted(seen, key=_rank):
        if isinstance(each, UnreadableFile):
            problems.append(each)
        elif (first := by_id.setdefault(each.meta.id, each)) is not each:
            problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
    return Listing(
        tuple(sorted(by_id.values(), key=lambda listed: listed.path)),
        tuple(sorted(problems, key=lambda problem: problem.path)),
    )


def _rank(seen: Seen) -> tuple[bool, str]:
    return isinstance(seen, Listed) and seen.provisional_id, seen.path


def _is_version_directory(entry: os.DirEntry[str]) -> bool:
    return is_id(entry.name) and entry.is_dir(follow_symlinks=False)


def _holds_notes(directory: str) -> bool:
    try:
        return any(name.endswith(_ENDING) for name in os.listdir(directory))
    except OSError:
        return True  # it may


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
