"""Looks at the shelves of one root, of which one of a moment ago may serve again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from returns.result import Result, Success

from agent_memory.adapters.disk.directory_state import DirectoryLook, directory_known_by
from agent_memory.adapters.disk.listed_names import names_inside
from agent_memory.adapters.store.shelf_names import ShelfLook, look_at_shelf
from agent_memory.errors import Error
from agent_memory.values import evolve, frozen

LATELY_NS = 5_000_000_000
"""How old a look may be that serves again."""


@frozen
class _Kept:
    """A look, and what is known of its directory and its time."""

    look: ShelfLook
    directory: tuple[int, ...] | None
    """See `DirectoryLook.directory`."""
    at_ns: int
    """See `DirectoryLook.at_ns`."""
    written: frozenset[str] = frozenset()
    """The paths of what was written here since."""


class ShelfLooks:
    """Looks at what is on a shelf of a real root: one `stat` a file."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._kept: dict[str, _Kept] = {}
        self._seen: dict[str, DirectoryLook] = {}

    def take(self, shelf: str, seen: DirectoryLook) -> None:
        """The next look is this one, if it is at most `LATELY_NS` old, and no name has come, gone or been given to another
        file since it was taken: for whoever has looked since the call began, and has no need to look again. A file that was
        written in place meanwhile looks as it did."""
        self._seen[shelf] = seen

    def look(self, shelf: str, *, lately: bool = False) -> Result[ShelfLook, Error]:
        """What is there now, or was there at the look that was handed over since the last one (`take`). With `lately` that of
        at most `LATELY_NS` ago will do, as long as no name has come, gone or been given to another file since: what we write,
        and most editors, give it to another. A file that was written in place meanwhile looks as it did."""
        now_ns = time.monotonic_ns()
        directory = directory_known_by(f"{self._root}/{shelf}")
        seen = self._seen.pop(shelf, None)
        if lately and (kept := self._lately(shelf, directory, now_ns)) is not None:
            return Success(kept)
        before = self._kept.pop(shelf, None)
        if seen is not None and not _serves(seen, directory, now_ns):
            seen = None
        at_ns = now_ns if seen is None else seen.at_ns

        def keep(look: ShelfLook) -> ShelfLook:
            self._kept[shelf] = _Kept(look, directory, at_ns)
            return look

        return look_at_shelf(self._root, shelf, None if before is None else before.look.files, seen).map(keep)

    def share(self, shelf: str, look: ShelfLook, files: Mapping[str, int]) -> None:
        """Keep these files, which are equal, in place of those of a look: paths of 50,000 notes are in memory once then."""
        kept = self._kept.get(shelf)
        if kept is not None and kept.look is look:
            self._kept[shelf] = evolve(kept, look=evolve(look, files=files))

    def wrote(self, paths: Sequence[str]) -> None:
        """These files were written, or taken away, by whoever looks here."""
        for shelf, kept in self._kept.items():
            here = (path for path in paths if path.rpartition("/")[0] == shelf)
            self._kept[shelf] = evolve(kept, written=kept.written.union(here))

    def last(self, shelf: str) -> tuple[ShelfLook, frozenset[str]] | None:
        """The last look, if it is at most `LATELY_NS` old, and the paths of what was written here since. What others have
        done since is in neither: only for who finds it at the next look."""
        kept = self._kept.get(shelf)
        if kept is None or time.monotonic_ns() - kept.at_ns > LATELY_NS:
            return None
        return kept.look, kept.written

    def names(self, shelf: str) -> Result[Iterable[str], Error]:
        """Every name that is on a shelf now, whatever it is, in no order: to be gone through once."""
        look = self._lately(shelf, directory_known_by(f"{self._root}/{shelf}"), time.monotonic_ns())
        if look is None:
            return names_inside(self._root, shelf).map(iter)
        return Success(chain((path[len(shelf) + 1 :] for path in look.files), (each.name for each in look.others)))

    def _lately(self, shelf: str, directory: tuple[int, ...] | None, now_ns: int) -> ShelfLook | None:
        kept = self._kept.get(shelf)
        return kept.look if kept is not None and _serves(kept, directory, now_ns) else None


def _serves(look: _Kept | DirectoryLook, directory: tuple[int, ...] | None, now_ns: int) -> bool:
    """Whether a look serves again while its directory is known by this."""
    return directory is not None and look.directory == directory and now_ns - look.at_ns <= LATELY_NS
