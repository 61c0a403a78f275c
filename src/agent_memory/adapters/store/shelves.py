"""The two shelves of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it on the shelf.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Container, Iterable, Mapping, Sequence, Set as AbstractSet
from itertools import compress, repeat
from operator import attrgetter, is_, ne
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.disk.paths import FileImage, look_known_by, oddity
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, read_image, understand, unreadable
from agent_memory.adapters.store.listing_cache import ListingCache, believed_by
from agent_memory.adapters.store.listing_changes import FEW, brought_up_to_date
from agent_memory.adapters.store.shelf_looks import ShelfLooks
from agent_memory.adapters.store.shelf_names import (
    OtherName,
    ShelfLook,
    is_open_directory,
    is_text,
    looks_of,
    printable,
)
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.packed_entries import Entries, Packed, Unpacking, column_of, unpacking
from agent_memory.domain.results import sealed
from agent_memory.domain.text.file_name import NOTE_ENDING, id_in_name
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import Error
from agent_memory.formats.listing_rows import NEVER, Rows, Seen
from agent_memory.garbage import keeping_all
from agent_memory.values import evolve

_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")
_id = attrgetter("meta.id")


class Shelves:
    """Listings of a real root, with their caches."""

    def __init__(self, root: str, looks: ShelfLooks | None = None) -> None:
        self._root = root
        self._caches = {shelf: ListingCache(root, shelf) for shelf in (TOPICS, ARCHIVE)}
        self._looks = looks or ShelfLooks(root)
        self._last_live: Listing | None = None
        """Only where nothing needs a second look while it looks the same, and each id has one file."""

    def live(self, *, lately: bool = False) -> Result[Listing, Error]:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported. `lately`: see
        `ShelfLooks.look`."""

        def listed(found: ShelfLook) -> Listing:
            cache = self._caches[TOPICS]
            is_plain = not any(each.oddity is not None or is_open_directory(each) for each in found.others)
            last = self._last_live if is_plain else None
            if last is not None and found.files == cache.rows().looks:
                self._looks.share(TOPICS, found, cache.rows().looks)
                return last
            reading = _Reading(self._root, cache)
            reading.files(TOPICS, found)
            self._looks.share(TOPICS, found, reading.shared_with(found.files))
            reading.done()
            listing = None if last is None else brought_up_to_date(last, reading.known, reading.touched, reading.fresh)
            if listing is None:
                listing, is_one_each = reading.listing()
                is_plain &= is_one_each
            self._last_live = listing if is_plain else None
            return listing

        return self._looks.look(TOPICS, lately=lately).map(listed)

    def archived(self, *, lately: bool = False) -> Result[Listing, Error]:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        return self._looks.look(ARCHIVE, lately=lately).bind(self._archived)

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        names = names_inside(self._root, directory, lambda name: _VERSION.fullmatch(name) is not None)
        return names.map(lambda found: tuple(sorted((f"{directory}/{name}" for name in found), key=version_ms)))

    def names(self, shelf: str) -> Result[Iterable[str], Error]:
        """Every name on a shelf, whatever it is, in no order: to be gone through once."""
        return self._looks.names(shelf)

    def _archived(self, found: ShelfLook) -> Result[Listing, Error]:
        reading = _Reading(self._root, self._caches[ARCHIVE])
        of_versions = [each.name for each in found.others if _is_version_directory(each)]
        others = [each for each in found.others if not _is_version_directory(each)]
        reading.files(ARCHIVE, evolve(found, others=others))
        retired: frozenset[str] = reading.ids() if of_versions else frozenset()
        for id in of_versions:
            if id not in retired:
                match sealed(self.versions(id)):
                    case Failure(error):
                        return Failure(error)
                    case Success(paths):
                        reading.newest(paths)
        reading.done()
        return Success(reading.listing()[0])


class _Reading:
    """One pass over a shelf: what the cache knows is not read again."""

    def __init__(self, root: str, cache: ListingCache) -> None:
        self._root = root
        self._cache = cache
        self._known = cache.rows()
        self._looks: dict[str, int] = {}
        self._seen: Unpacking[Seen] = unpacking({})
        self.touched: set[str] = set()
        """The paths of which not the same is known as before."""
        self.fresh: list[Seen] = []
        """What was found out about them now."""
        self._others: list[Seen] = []

    @property
    def known(self) -> Container[str]:
        """The paths of which something was known before, unless that was of many and is gone."""
        return self._known.seen

    def files(self, shelf: str, found: ShelfLook) -> None:
        """Go through the names on a shelf."""
        with keeping_all():
            looks = self._known.looks
            self.touched.update(compress(looks, map(ne, looks.values(), map(found.files.get, looks))))
            if len(self.touched) > FEW:
                self._cache.forget(self.touched)
                self._known = self._cache.rows()
            # In the order of the rows, which is that of a listing: it is sorted the sooner.
            self._looks, self._seen = {**self._known.looks}, unpacking(self._known.seen)
            for path in self.touched & self._looks.keys():
                del self._looks[path], self._seen.rows[path]
            unread = self.touched & found.files.keys()
            if len(self._looks) + len(unread) < len(found.files):  # there are more, of which nothing was known
                unread = found.files.keys() - self._looks.keys()
        self.fresh = _present(map(self._read, unread))
        self._others = _present(self._other(f"{shelf}/{each.name}", each) for each in found.others)

    def shared_with(self, files: Mapping[str, int]) -> Mapping[str, int]:
        """The same files, by paths that are those of the rows where these have them."""
        differing = [path for path in self.touched if self._looks.get(path) != files.get(path)]
        if not differing:
            return self._looks
        shared = {**self._looks}
        for path in differing:
            if path in files:
                shared[path] = files[path]
            else:
                shared.pop(path, None)
        return shared

    def newest(self, paths: Sequence[str]) -> None:
        """Go through the versions of an id: the newest that can be read, after those that cannot."""
        for path in reversed(paths):
            looks = looks_of(f"{self._root}/{path}")
            seen = self._recalled(path, looks) if isinstance(looks, int) else _odd(path, looks.why)
            if seen is not None:
                self.fresh.append(seen)
            if isinstance(seen, Listed):
                return

    def done(self) -> None:
        """Let the cache know what was read."""
        self._cache.keep(Rows(self._looks, self._seen), self.touched)

    def ids(self) -> frozenset[str]:
        """Those of all entries so far."""
        return frozenset(column_of(self._entries(), "meta.id"))

    def listing(self) -> tuple[Listing, bool]:
        """All that was found, by path; whether there is one file for each id."""
        rows = self._seen.rows
        problems: list[Seen] = [self._seen[path] for path in self._unreadable()]
        problems += (
            each for each in self.fresh if rows.get(each.path) is not each and isinstance(each, UnreadableFile)
        )
        problems += self._others
        entries = self._entries()
        ids = column_of(entries, "meta.id")
        if len(set(ids)) < len(ids):
            return one_an_id([*entries, *problems]), False
        return Listing(entries, one_an_id(problems).unreadable), True

    def _entries(self) -> Entries:
        rows: dict[str, Any] = self._seen.rows
        unreadable = self._unreadable()
        paths = sorted(rows.keys() - unreadable) if unreadable else sorted(rows)
        packed: Packed[Any] = self._seen.packed  # what cannot be read is never packed
        return Entries(list(map(rows.__getitem__, paths)), packed)

    def _unreadable(self) -> AbstractSet[str]:
        rows = self._seen.rows
        return frozenset(compress(rows, map(is_, map(type, rows.values()), repeat(UnreadableFile))))

    def _recalled(self, path: str, looks: int) -> Seen | None:
        if self._known.looks.get(path) != looks:
            return self._read(path)
        self.touched.add(path)
        self._looks[path] = looks
        self._seen.rows[path] = seen = self._known.seen[path]
        return seen

    def _read(self, path: str) -> Seen | None:
        """What the file holds; None for one that is gone."""
        self.touched.add(path)
        if not path.isprintable() and not is_text(path):
            return _nameless(path)
        read_at_ns = time.time_ns()
        match sealed(read_image(self._root, path)):
            case Failure(error):
                return unreadable(path, error)
            case Success(image):
                if image is None:
                    return None
                believed = believed_by(image, read_at_ns)
                self._looks[path] = look_known_by(believed) if believed else NEVER
                self._seen.rows[path] = seen = _seen(path, image)
                return seen

    def _other(self, path: str, found: OtherName) -> Seen | None:
        """What is to be said about what is no note."""
        if found.oddity is not None:
            return _odd(path, found.oddity)
        if is_open_directory(found) and _holds_notes(f"{self._root}/{path}"):
            return UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))
        return None


def _present(seen: Iterable[Seen | None]) -> list[Seen]:
    return [each for each in seen if each is not None]


def _odd(path: str, why: int | OSError) -> UnreadableFile | None:
    """What is to be said about what has the name of a note and is none; nothing about what is gone."""
    if not path.isprintable() and not is_text(path):
        return _nameless(path)
    if isinstance(why, OSError):
        return None if why.errno == errno.ENOENT else unreadable(path, store_io(why, "read", path))
    return UnreadableFile(path, (oddity(why) or "",))


def _nameless(path: str) -> UnreadableFile:
    return UnreadableFile(printable(path), ("its name is not UTF-8",))


def _seen(path: str, image: FileImage) -> Seen:
    match sealed(understand(path, image.data, image.mtime_ns)):
        case Success(stored):
            return stored.listed
        case Failure(problem):
            return unreadable(path, problem)


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def one_an_id(seen: Iterable[Seen]) -> Listing:
    """Sorted by path. Of several files with one id the one that states it and bears it in its name is the entry: copies
    that synchronising programs make have it in the middle of theirs."""
    in_order = sorted(seen, key=_path)
    entries = [each for each in in_order if isinstance(each, Listed)]
    problems = [] if len(entries) == len(in_order) else [each for each in in_order if isinstance(each, UnreadableFile)]
    if len(set(map(_id, entries))) < len(entries):
        by_id: dict[str, Listed] = {}
        for each in sorted(entries, key=standing):
            if (first := by_id.setdefault(each.meta.id, each)) is not each:
                problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
        entries = sorted(by_id.values(), key=_path)
    return Listing(tuple(entries), tuple(sorted(problems, key=_path)))


def standing(listed: Listed) -> tuple[bool, bool, str]:
    """Of several files with one id the one with the least of these is the entry."""
    named = id_in_name(listed.path.rpartition("/")[2])
    return (listed.provisional_id, named != listed.meta.id, listed.path)


def _is_version_directory(found: OtherName) -> bool:
    return found.is_directory and is_id(found.name)


def _holds_notes(directory: str) -> bool:
    try:
        return any(name.endswith(NOTE_ENDING) for name in os.listdir(directory))
    except OSError:
        return True  # it may
