"""The two directories of a store, listed: `topics/` and `archive/`. Nothing that is not a regular file is opened (P21).

`topics/` is flat. A directory, link or special file there that looks like an entry is reported, never followed or
descended into: what lies deeper would be loaded into every agent's context without the person having put it there.
Hidden names and files that are not `.md` are other programs' business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from agent_memory.adapters.database.following import FollowedFiles, Seen, standing
from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS, look_at_file, printable
from agent_memory.domain.entry import Listed, Listing, UnreadableFile
from agent_memory.domain.text.file_name import NOTE_ENDING
from agent_memory.domain.text.ids import is_id

_VERSION = re.compile(r"(?:0|[1-9]\d{0,18})\.md", re.ASCII)

_path = attrgetter("path")


class Shelves:
    """Listings of a real root."""

    def __init__(self, root: str, files: FollowedFiles) -> None:
        self.root = root
        self._files = files

    def live(self) -> Listing:
        """Every entry of `topics/`, by path. Of two files with one id one is the entry, the other is reported."""
        shelf = self._files.seen(TOPICS)
        return one_an_id([*shelf.files.values(), *shelf.odd, *self._unseen(shelf.directories)])

    def archived(self) -> Listing:
        """The newest archived file of each id: its retired entry, else the newest of its versions."""
        shelf = self._files.seen(ARCHIVE)
        retired = {each.meta.id for each in shelf.files.values() if isinstance(each, Listed)}
        of_versions = {path: id for path in shelf.directories if is_id(id := path.rpartition("/")[2])}
        versions = [self.versions(id)[::-1] for id in of_versions.values() if id not in retired]
        others = [path for path in shelf.directories if path not in of_versions]
        return one_an_id([*shelf.files.values(), *self._newest(versions), *shelf.odd, *self._unseen(others)])

    def versions(self, id: str) -> tuple[str, ...]:
        """Paths of the archived versions of an id, oldest first."""
        directory = f"{ARCHIVE}/{id}"
        names = names_below(self.root, directory, lambda name: _VERSION.fullmatch(name) is not None)
        return tuple(sorted((f"{directory}/{name}" for name in names), key=version_ms))

    def names(self, shelf: str) -> tuple[str, ...]:
        """Every name in one of the two, whatever it is."""
        return names_below(self.root, shelf)

    def _newest(self, versions: Sequence[Sequence[str]]) -> Iterator[Seen]:
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
        look = look_at_file(self.root, path)
        return self._files.read(path) if isinstance(look, int) else look

    def _unseen(self, directories: Iterable[str]) -> Iterator[UnreadableFile]:
        for path in directories:
            if _may_hold_notes(f"{self.root}/{path}"):
                yield UnreadableFile(printable(path), ("it is a directory, and the notes in it are not seen",))


def version_ms(path: str) -> int:
    """The time of a version, which is its name, in epoch ms."""
    return int(path.rpartition("/")[2].removesuffix(NOTE_ENDING))


def one_an_id(seen: Iterable[Seen]) -> Listing:
    """Sorted by path. Of several files with one id the one that states it and bears it in its name is the entry: copies
    that synchronising programs make have it in the middle of theirs."""
    in_order = sorted(seen, key=_path)
    by_id: dict[str, Listed] = {}
    problems = [each for each in in_order if isinstance(each, UnreadableFile)]
    entries = (each for each in in_order if isinstance(each, Listed))
    for each in sorted(entries, key=lambda each: standing(each.provisional_id, each.meta.id, each.path)):
        if (first := by_id.setdefault(each.meta.id, each)) is not each:
            problems.append(UnreadableFile(each.path, (f"it has the id {each.meta.id}, as has {first.path}",)))
    return Listing(tuple(sorted(by_id.values(), key=_path)), tuple(sorted(problems, key=_path)))


def _may_hold_notes(directory: str) -> bool:
    try:
        return any(name.endswith(NOTE_ENDING) for name in os.listdir(directory))
    except OSError:
        return True
