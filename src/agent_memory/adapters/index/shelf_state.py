"""How the notes on both shelves look from outside: what tells whether an index is up to date, without opening a file."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Mapping, Sequence

from returns.result import Failure, Result, Success

from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS
from agent_memory.adapters.store.shelves import FoundName, scan_shelf
from agent_memory.domain.results import sealed
from agent_memory.errors import Error
from agent_memory.values import frozen

_SHELVES = (TOPICS, ARCHIVE)


@frozen
class ShelfState:
    """All regular files of notes: `topics/*.md` and the retired ones, `archive/*.md`. Earlier versions are not searched."""

    fingerprint: bytes
    """Of names, times, sizes and inodes."""
    _found: tuple[Sequence[FoundName], ...]

    def known_by(self) -> Mapping[str, bytes]:
        """What each file is known by (`paths.known_by`), by its path relative to the root."""
        known: dict[str, bytes] = {}
        for shelf, found in zip(_SHELVES, self._found, strict=True):
            names = [(each.name, each.looks) for each in found if isinstance(each.looks, tuple)]
            if not "".join([name for name, _ in names]).isprintable():
                names = [(name, looks) for name, looks in names if _is_text(name)]
            known |= {f"{shelf}/{name}": looks[1] for name, looks in names if stat.S_ISREG(looks[0])}
        return known


def shelf_state(root: str) -> Result[ShelfState, Error]:
    """The state of a real root. A shelf that is not there is empty; one that cannot be listed is an error (P6)."""
    shelves: list[Sequence[FoundName]] = []
    digest = hashlib.blake2b(digest_size=32)
    for shelf in _SHELVES:
        match sealed(scan_shelf(root, shelf)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                shelves.append(found)
                looks = [each.looks for each in found if isinstance(each.looks, tuple)]
                digest.update(b"%d;" % len(looks))
                digest.update(b"".join([known_by for _, known_by in looks]))
                names = "/".join([each.name for each in found if each.looks is not None])
                digest.update(names.encode("utf-8", "surrogateescape"))
    return Success(ShelfState(digest.digest(), tuple(shelves)))


def _is_text(name: str) -> bool:
    return name.encode("utf-8", "replace").decode() == name
