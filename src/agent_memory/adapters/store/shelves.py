"""The two shelves of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it on the shelf.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, oddity
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, read_image, understand, unreadable
from agent_memory.adapters.store.listing_cache import ListingCache, row_of
from agent_memory.adapters.store.shelf_names import (
    NOTE_ENDING,
    FoundName,
    Looks,
    is_open_directory,
    is_text,
    keeping_all,
    looks_of,
    printable,
    scan_shelf,
)
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.results import sealed
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import Error
from agent_memory.formats.listing_rows import Row

_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

Seen = Listed | UnreadableFile


_UNKNOWN = UnreadableFile("", ())


_path = attrgetter("path")


Believed = Mapping[FoundName, Row]
"""By how a file looks from outside, what it holds: only of files that had rested when they were read."""


class Shelves:
    """Listings of a real root, with their caches."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._caches = {shelf: ListingCache(root, shelf) for shelf in (TOPICS, ARCHIVE)}
        self._last_live: tuple[Believed, Listing | None] = {}, None
        """The listing only where no name in it needs a second look while it looks the same."""
        self._last_archived: Believed = {}

    def live(self) -> Result[Listing, Error]:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""

        def listed(found: Sequence[FoundName]) -> Listing:
            believed, last = self._last_live
            shown = [each for each in found if each.looks is not None or is_open_directory(each)]
            if last is not None and len(shown) == len(believed) and all(map(believed.__contains__, shown)):
                return last
            reading = _Reading(self._root, self._caches[TOPICS], believed)
            listing = _one_an_id(reading.done(reading.files(TOPICS, shown)))
            self._last_live = reading.believed, listing if len(reading.believed) == len(shown) else None
            return listing

        return scan_shelf(self._root, TOPICS).map(listed)

    def archived(self) -> Result[Listing, Error]:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        reading = _Reading(self._root, self._caches[ARCHIVE], self._last_archived)
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
        self._last_archived = reading.believed
        return Success(_one_an_id(reading.done(seen)))


class _Reading:
    """One pass over a shelf: what the cache knows is not read again, and what the last pass believed not looked up again."""

    def __init__(self, root: str, cache: ListingCache, believed: Believed) -> None:
        self._root = root
        self._cache = cache
        self.believed = believed
        """Of the last pass; after `files` of this one."""
        self._rows: dict[str, Row] = {}

    def files(self, shelf: str, found: Sequence[FoundName]) -> list[Seen]:
        """What is to be said about the names on a shelf, in no order."""
        with keeping_all():
            rows = list(map(self.believed.get, found))
            self._rows = {row.seen.path: row for row in rows if row is not None}
            seen: list[Seen] = [row.seen for row in self._rows.values()]
            strange = {
                f"{shelf}/{each.name}": each
                for each, row in zip(found, rows, strict=True)
                if row is None and each.looks is not None
            }
            self._forget_others(found)
            known = [self._known(path, each.looks) for path, each in strange.items() if each.looks is not None]
        unknown = [path for path, each in zip(strange, known, strict=True) if each is _UNKNOWN]
        seen += (each for each in known if each is not None and each is not _UNKNOWN)
        seen += (each for path in unknown if (each := self._read(path)) is not None)
        self._believe(strange)
        return [*seen, *self._directories(shelf, found)]

    def _forget_others(self, found: Sequence[FoundName]) -> None:
        if len(self._rows) < len(self.believed):
            self.believed = {each: self.believed[each] for each in found if each in self.believed}

    def _believe(self, strange: Mapping[str, FoundName]) -> None:
        """Look no further at these either, where what was read of them is what they look like, and they had rested."""
        rows = ((each, self._rows.get(path)) for path, each in strange.items())
        fresh = {
            each: row
            for each, row in rows
            if row is not None and isinstance(each.looks, tuple) and row.known_by == each.looks[1]
        }
        if fresh:
            self.believed = {**self.believed, **fresh}

    def newest(self, paths: Sequence[str]) -> Iterable[Seen]:
        """The newest version of an id that can be read, after those that cannot."""
        for path in reversed(paths):
            seen = self._known(path, looks_of(f"{self._root}/{path}"))
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
            if is_open_directory(each) and _holds_notes(f"{self._root}/{shelf}/{each.name}"):
                problem = "it is a directory, and the notes in it are not seen"
                yield UnreadableFile(f"{shelf}/{printable(each.name)}", (problem,))

    def _known(self, path: str, looks: Looks | OSError) -> Seen | None:
        """What can be said without opening the file; None for one that is gone, `_UNKNOWN` for one that has to be read."""
        if not path.isprintable() and not is_text(path):
            return UnreadableFile(printable(path), ("its name is not UTF-8",))
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
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


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
        return any(name.endswith(NOTE_ENDING) for name in os.listdir(directory))
    except OSError:
        return True  # it may
