"""One look at the files of both shelves, for bringing the index into line with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from operator import not_
from stat import S_ISREG
from typing import TYPE_CHECKING, NamedTuple

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.directory_state import look_of
from agent_memory.adapters.disk.paths import directory_inside
from agent_memory.adapters.index.known_files import names_sum, path_sum
from agent_memory.adapters.index.look_ahead import shelf_paths
from agent_memory.adapters.index.shelf_state import SeenShelves, joined_state, see_shelves
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS
from agent_memory.adapters.store.shelf_names import ShelfLook, is_text, look_at_shelf
from agent_memory.domain.results import sealed
from agent_memory.domain.text.file_name import is_note_name
from agent_memory.errors import Error
from agent_memory.values import frozen

if TYPE_CHECKING:
    from agent_memory.adapters.store.shelf_looks import ShelfLooks

_SHELVES = (TOPICS, ARCHIVE)
_PREFIXES = tuple(f"{shelf}/" for shelf in _SHELVES)


class SeenFile(NamedTuple):
    """A file of a note, as it looks."""

    look: int | None
    """See `directory_state.look_of`; None where it changed since."""
    changed_at_ns: int


@frozen
class ShelfChanges:
    """How what is there differs from what was known."""

    unknown: Mapping[str, SeenFile]
    """The regular files of notes that look like no known one, by their paths."""
    others: Sequence[str]
    """What is there and is no note."""
    gone: set[int]
    """Looks that nothing has any more."""


@frozen
class ShelfNames:
    """What is directly on one shelf, in no order."""

    prefix: str
    """What makes a path of each name."""
    names: Sequence[str]
    looks: Sequence[int]
    """How each of them looks. Should the system list them in another order the second time, what changed is found all the
    same: by what nothing looks like any more, and by all paths; but it is looked for again the next time."""


@frozen
class ShelvesLook:
    """What both shelves look like from outside: `topics/*.md` and the retired ones, `archive/*.md`. Earlier versions are
    not searched."""

    root: str
    shelves: tuple[ShelfNames, ...]
    state: bytes | None
    """Of the same look: see `shelf_state`."""

    def count_unknown(self, known: set[int]) -> int:
        """How many on the shelves look like none of these."""
        return sum(len(shelf.looks) - sum(map(known.__contains__, shelf.looks)) for shelf in self.shelves)

    def changes(self, known: set[int]) -> ShelfChanges:
        """What is other than these looks. A note that is known is not looked at one by one."""
        unknown: dict[str, SeenFile] = {}
        others: list[str] = []
        for shelf in self.shelves:
            are_unknown = map(not_, map(known.__contains__, shelf.looks))
            for at in compress(range(len(shelf.looks)), are_unknown):
                path = shelf.prefix + shelf.names[at]
                seen = self._seen(path, path.rpartition("/")[2], shelf.looks[at])
                if seen is None:
                    others.append(path)
                else:
                    unknown[path] = seen
        gone = known.difference(*(shelf.looks for shelf in self.shelves))
        return ShelfChanges(unknown, others, gone)

    def _seen(self, path: str, name: str, look: int) -> SeenFile | None:
        if not is_note_name(name) or not (name.isprintable() or is_text(name)):
            return None
        try:
            status = os.lstat(f"{self.root}/{path}")
        except OSError:  # gone meanwhile, or not to be looked at: it is read, and what is wrong with it told
            return SeenFile(None, 0)
        if not S_ISREG(status.st_mode):
            return None
        now = look_of(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        return SeenFile(look if look == now else None, status.st_mtime_ns)

    def paths_total(self, others: Sequence[str]) -> int:
        """What the paths of all notes come to (`known_files.names_sum`), where these are none."""
        return sum(names_sum(each.prefix, each.names) for each in self.shelves) - sum(map(path_sum, others))

    def paths(self, others: Sequence[str]) -> Iterator[str]:
        """The paths of all notes, where these are none."""
        out = set(others)
        every = (each.prefix + name for each in self.shelves for name in each.names)
        return (path for path in every if path not in out)


def look_at_shelves(root: str, seen: SeenShelves | None) -> Result[ShelvesLook, Error]:
    """What is there, below a real root: as it was seen, and where it was not, now. A shelf that is not there is empty; one
    that cannot be listed is an error (P6)."""
    for shelf in _SHELVES:
        contained = directory_inside(root, shelf)
        if isinstance(contained, Failure):
            return contained
    seen = seen or see_shelves(root)
    if seen is None:  # one file that cannot be looked at hides no other
        return _one_by_one(root)
    try:
        names = [_names(path) for path in shelf_paths(root)]
    except OSError:
        return _one_by_one(root)
    if any(len(some) != len(looks) for some, looks in zip(names, seen.looks, strict=True)):
        return _one_by_one(root)  # something came or went meanwhile
    shelves = tuple(ShelfNames(*each) for each in zip(_PREFIXES, names, seen.looks, strict=True))
    return Success(ShelvesLook(root, shelves, seen.state))


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except FileNotFoundError:
        return []


def look_lately(root: str, looks: ShelfLooks) -> Result[ShelvesLook, Error]:
    """What is there, or was a moment ago (`ShelfLooks.look`): one look for the index and for a listing."""
    return _of_each(root, lambda shelf: looks.look(shelf, lately=True))


def written_since(looks: ShelfLooks) -> tuple[bytes, frozenset[str]] | None:
    """The state of both shelves a moment ago, and the paths of what was written here since (`ShelfLooks.last`); None where
    nothing was, or there was no such look."""
    found = [looks.last(shelf) for shelf in _SHELVES]
    states = [each[0].state for each in found if each is not None]
    known = [state for state in states if state is not None]
    written = frozenset[str]().union(*(each[1] for each in found if each is not None))
    return (joined_state(known), written) if len(known) == len(_SHELVES) and written else None


def _one_by_one(root: str) -> Result[ShelvesLook, Error]:
    return _of_each(root, lambda shelf: look_at_shelf(root, shelf))


def _of_each(root: str, look: Callable[[str], Result[ShelfLook, Error]]) -> Result[ShelvesLook, Error]:
    shelves, states = list[ShelfNames](), list[int | None]()
    for shelf in _SHELVES:
        match sealed(look(shelf)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                shelves.append(ShelfNames("", list(found.files), list(found.files.values())))
                states.append(found.state)
    known = [state for state in states if state is not None]
    return Success(ShelvesLook(root, tuple(shelves), joined_state(known) if len(known) == len(states) else None))
