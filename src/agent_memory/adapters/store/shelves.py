"""The two shelves of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it on the shelf.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import errno
import gc
import os
import re
import stat
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import NamedTuple

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, close_quietly, directory_inside, known_by, oddity
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, read_image, understand, unreadable
from agent_memory.adapters.store.listing_cache import ListingCache, row_of
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.results import sealed
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import Error
from agent_memory.formats.listing_rows import Row

_ENDING = ".md"
_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

Seen = Listed | UnreadableFile


Looks = tuple[int, bytes]
"""What a file looks like from outside: its `st_mode`, and what it is known by."""


_UNKNOWN = UnreadableFile("", ())


class FoundName(NamedTuple):
    """A name in a directory, and what is known of it without opening it."""

    name: str
    is_directory: bool
    looks: Looks | OSError | None
    """Only of names that notes have."""


_path = attrgetter("path")


class Shelves:
    """Listings of a real root, with their caches."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._caches = {shelf: ListingCache(root, shelf) for shelf in (TOPICS, ARCHIVE)}

    def live(self) -> Result[Listing, Error]:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""
        reading = _Reading(self._root, self._caches[TOPICS])
        return scan_shelf(self._root, TOPICS).map(lambda found: _one_an_id(reading.done(reading.files(TOPICS, found))))

    def archived(self) -> Result[Listing, Error]:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        reading = _Reading(self._root, self._caches[ARCHIVE])
        return scan_shelf(self._root, ARCHIVE).bind(lambda found: self._archived(reading, found))

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        return scan_shelf(self._root, directory).map(
            lambda found: tuple(
                sorted((f"{directory}/{e.name}" for e in found if _VERSION.fullmatch(e.name)), key=version_ms)
            )
        )

    def names(self, shelf: str) -> Result[tuple[str, ...], Error]:
        """Every name on a shelf, whatever it is."""
        return names_inside(self._root, shelf)

    def _archived(self, reading: _Reading, found: Sequence[FoundName]) -> Result[Listing, Error]:
        seen = reading.files(ARCHIVE, [each for each in found if not _is_version_directory(each)])
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

    def files(self, shelf: str, found: Sequence[FoundName]) -> list[Seen]:
        """What is to be said about the names on a shelf, in no order."""
        notes = [(f"{shelf}/{each.name}", each.looks) for each in found if each.looks is not None]
        with keeping_all():
            seen = [self._known(path, looks) for path, looks in notes]
        unknown = [path for (path, _), each in zip(notes, seen, strict=True) if each is _UNKNOWN]
        return [
            *(each for each in seen if each is not None and each is not _UNKNOWN),
            *(each for path in unknown if (each := self._read(path)) is not None),
            *self._directories(shelf, found),
        ]

    def newest(self, paths: Sequence[str]) -> Iterable[Seen]:
        """The newest version of an id that can be read, after those that cannot."""
        for path in reversed(paths):
            seen = self._known(path, _looks(f"{self._root}/{path}"))
            if seen is _UNKNOWN:
                seen = self._read(path)
            if seen is not None:
                yield seen
            if isinstance(seen, Listed):
                return

    def done(self, seen: list[Seen]) -> list[Seen]:
        """The same, once the cache knows what was read."""
        self._cache.keep(self._rows)
        return seen

    def _directories(self, shelf: str, found: Iterable[FoundName]) -> Iterator[Seen]:
        for each in found:
            if (
                each.is_directory
                and not each.name.startswith(".")
                and _holds_notes(f"{self._root}/{shelf}/{each.name}")
            ):
                problem = "it is a directory, and the notes in it are not seen"
                yield UnreadableFile(f"{shelf}/{_printable(each.name)}", (problem,))

    def _known(self, path: str, looks: Looks | OSError) -> Seen | None:
        """What can be said without opening the file; None for one that is gone, `_UNKNOWN` for one that has to be read."""
        if not path.isprintable() and not is_text(path):
            return UnreadableFile(_printable(path), ("its name is not UTF-8",))
        if isinstance(looks, OSError):
            return None if looks.errno == errno.ENOENT else unreadable(path, store_io(looks, "read", path))
        mode, known_by = looks
        if not stat.S_ISREG(mode):
            return UnreadableFile(path, (oddity(mode) or "",))
        row = self._cache.recall(path, known_by)
        if row is None:
            return _UNKNOWN
        self._rows[path] = row
        return row.seen

    def _read(self, path: str) -> Seen | None:
        read_at_ns = time.time_ns()
        match sealed(read_image(self._root, path)):
            case Failure(error):
                return unreadable(path, error)
            case Success(image):
                if image is None:
                    return None
                seen = _seen(path, image)
                self._rows[path] = row_of(image, read_at_ns, seen)
                return seen


def _seen(path: str, image: FileImage) -> Seen:
    match sealed(understand(path, image.data, image.mtime_ns)):
        case Success(stored):
            return stored.listed
        case Failure(problem):
            return unreadable(path, problem)


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(_ENDING))


@contextmanager
def keeping_all() -> Generator[None, None, None]:
    """Without the cyclic collector: it would look again and again through many small values, all of which are kept.

    They end in its oldest generation without having been looked at (freezing and thawing moves lists, nothing else).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def scan_shelf(root: str, directory: str) -> Result[tuple[FoundName, ...], Error]:
    """Every name in a directory of a real root, in no order; none where there is no such directory."""
    match sealed(directory_inside(root, directory)):
        case Failure(refused):
            return Failure(refused)
        case Success(path):
            try:
                # Through its descriptor each `stat` looks up one name, and not the whole path again.
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    with keeping_all(), os.scandir(descriptor) as found:
                        return Success(tuple(map(_found, found)))
                finally:
                    close_quietly(descriptor)
            except FileNotFoundError:
                return Success(())
            except OSError as error:
                return Failure(store_io(error, "list", path))


def _found(entry: os.DirEntry[str]) -> FoundName:
    name = entry.name
    if name.startswith(".") or not name.endswith(_ENDING):
        return FoundName(name, entry.is_dir(follow_symlinks=False), None)
    try:
        status = entry.stat(follow_symlinks=False)
        return FoundName(name, False, (status.st_mode, known_by(status)))
    except OSError as error:
        return FoundName(name, False, error)


def _looks(path: str) -> Looks | OSError:
    try:
        status = os.lstat(path)
        return status.st_mode, known_by(status)
    except OSError as error:
        return error


def _one_an_id(seen: Iterable[Seen]) -> Listing:
    """Sorted by path. Of several files with one id the one that states it and bears it in its name is the entry: copies
    that synchronising programs make have it in the middle of theirs."""
    in_order = sorted(seen, key=_path)
    entries = [each for each in in_order if isinstance(each, Listed)]
    problems = [each for each in in_order if isinstance(each, UnreadableFile)]
    by_id = {each.meta.id: each for each in entries}
    if len(by_id) < len(entries):
        by_id = dict[str, Listed]()
        for each in sorted(entries, key=standing):
            if (first := by_id.setdefault(each.meta.id, each)) is not each:
                problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
        entries = sorted(by_id.values(), key=_path)
    return Listing(tuple(entries), tuple(sorted(problems, key=_path)))


def standing(listed: Listed) -> tuple[bool, bool, str]:
    """Of several files with one id the one with the least of these is the entry."""
    named = id_in_name(listed.path.rpartition("/")[2])
    return (listed.provisional_id, named != listed.meta.id, listed.path)


def _is_version_directory(found: FoundName) -> bool:
    return found.is_directory and is_id(found.name)


def _holds_notes(directory: str) -> bool:
    try:
        return any(name.endswith(_ENDING) for name in os.listdir(directory))
    except OSError:
        return True  # it may


def is_text(path: str) -> bool:
    """Whether it is UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
