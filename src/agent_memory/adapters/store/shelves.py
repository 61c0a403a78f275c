"""The two shelves of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it on the shelf.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter

from returns.result import Failure, Result, Success

from agent_memory.adapters.database.following import FollowedFiles, Seen, SeenShelf, standing
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.disk.paths import oddity
from agent_memory.adapters.disk.root_files import names_inside
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, unreadable
from agent_memory.adapters.store.shelf_names import OtherName, is_open_directory, is_text, looks_of, printable
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.text.file_name import NOTE_ENDING
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import Error
from agent_memory.results import sealed

_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")


class Shelves:
    """Listings of a real root."""

    def __init__(self, root: str, files: FollowedFiles) -> None:
        self._root = root
        self._files = files
        self._last_live: tuple[SeenShelf, Listing] | None = None

    def live(self) -> Result[Listing, Error]:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""

        def listed(shelf: SeenShelf) -> Listing:
            last = self._last_live
            if last is not None and last[0] is shelf and not shelf.others:
                return last[1]
            listing = one_an_id([*shelf.files.values(), *self._odd(TOPICS, shelf.others)])
            self._last_live = shelf, listing
            return listing

        return self._files.seen(TOPICS).map(listed)

    def archived(self) -> Result[Listing, Error]:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        return self._files.seen(ARCHIVE).bind(self._archived)

    def versions(self, id: str) -> Result[tuple[str, ...], Error]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        names = names_inside(self._root, directory, lambda name: _VERSION.fullmatch(name) is not None)
        return names.map(lambda found: tuple(sorted((f"{directory}/{name}" for name in found), key=version_ms)))

    def names(self, shelf: str) -> Result[Iterable[str], Error]:
        """Every name on a shelf, whatever it is, in no order: to be gone through once."""
        return self._files.names(shelf)

    def _archived(self, shelf: SeenShelf) -> Result[Listing, Error]:
        of_versions = [each.name for each in shelf.others if _is_version_directory(each)]
        others = [each for each in shelf.others if not _is_version_directory(each)]
        retired = {each.meta.id for each in shelf.files.values() if isinstance(each, Listed)}
        newest = list[Sequence[str]]()
        for id in of_versions:
            if id not in retired:
                match sealed(self.versions(id)):
                    case Failure(error):
                        return Failure(error)
                    case Success(paths):
                        newest.append(paths[::-1])
        return Success(one_an_id([*shelf.files.values(), *self._newest(newest), *self._odd(ARCHIVE, others)]))

    def _newest(self, versions: Sequence[Sequence[str]]) -> Iterable[Seen]:
        """Of each of these the first that can be read, after those that cannot."""
        known = self._files.versions([paths[0] for paths in versions if paths])
        for paths in versions:
            for path in paths:
                seen = known.get(path) or self._version(path)
                if seen is not None:
                    yield seen
                if isinstance(seen, Listed):
                    break

    def _version(self, path: str) -> Seen | None:
        looked = looks_of(f"{self._root}/{path}")
        return self._files.read(path) if isinstance(looked, int) else _odd(path, looked.why)

    def _odd(self, shelf: str, others: Sequence[OtherName]) -> Iterable[UnreadableFile]:
        """What is to be said about what is no note."""
        for each in others:
            path = f"{shelf}/{each.name}"
            if each.oddity is not None:
                if (odd := _odd(path, each.oddity)) is not None:
                    yield odd
            elif is_open_directory(each) and _holds_notes(f"{self._root}/{path}"):
                yield UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))


def _odd(path: str, why: int | OSError) -> UnreadableFile | None:
    """What is to be said about what has the name of a note and is none; nothing about what is gone."""
    if not path.isprintable() and not is_text(path):
        return UnreadableFile(printable(path), ("its name is not UTF-8",))
    if isinstance(why, OSError):
        return None if why.errno == errno.ENOENT else unreadable(path, store_io(why, "read", path))
    return UnreadableFile(path, (oddity(why) or "",))


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def one_an_id(seen: Iterable[Seen]) -> Listing:
    """Sorted by path. Of several files with one id the one that states it and bears it in its name is the entry: copies
    that synchronising programs make have it in the middle of theirs."""
    in_order = sorted(seen, key=_path)
    entries = [each for each in in_order if isinstance(each, Listed)]
    problems = [each for each in in_order if isinstance(each, UnreadableFile)]
    if len({each.meta.id for each in entries}) < len(entries):
        by_id: dict[str, Listed] = {}
        for each in sorted(entries, key=lambda each: standing(each.provisional_id, each.meta.id, each.path)):
            if (first := by_id.setdefault(each.meta.id, each)) is not each:
                problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
        entries = sorted(by_id.values(), key=_path)
    return Listing(tuple(entries), tuple(sorted(problems, key=_path)))


def _is_version_directory(found: OtherName) -> bool:
    return found.is_directory and is_id(found.name)


def _holds_notes(directory: str) -> bool:
    try:
        return any(name.endswith(NOTE_ENDING) for name in os.listdir(directory))
    except OSError:
        return True  # it may
