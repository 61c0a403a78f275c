"""How the notes on both shelves look from outside: what tells whether an index is up to date, without opening a file."""

from __future__ import annotations

import stat
from collections.abc import Mapping

from returns.result import Failure, Result, Success

from agent_memory.adapters.index.look_ahead import looked_ahead, shelf_states
from agent_memory.adapters.store.entry_files import ARCHIVE, TOPICS
from agent_memory.domain.results import sealed
from agent_memory.errors import Error

_SHELVES = (TOPICS, ARCHIVE)


def shelf_state(root: str) -> bytes | None:
    """What tells one state of both shelves of a real root from another; None where something cannot be looked at."""
    try:
        return b"%d %d" % (looked_ahead(root) or shelf_states(root))
    except OSError:
        return None


def known_files(root: str) -> Result[Mapping[str, bytes], Error]:
    """What each regular file of a note is known by (`paths.known_by`), by its path relative to the real root: `topics/*.md`
    and the retired ones, `archive/*.md`. Earlier versions are not searched. A shelf that is not there is empty; one that
    cannot be listed is an error (P6)."""
    # Most searches find nothing changed, and do without.
    from agent_memory.adapters.store.shelves import is_text, scan_shelf

    known: dict[str, bytes] = {}
    for shelf in _SHELVES:
        match sealed(scan_shelf(root, shelf)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                names = [(each.name, each.looks) for each in found if isinstance(each.looks, tuple)]
                if not "".join([name for name, _ in names]).isprintable():
                    names = [(name, looks) for name, looks in names if is_text(name)]
                known |= {f"{shelf}/{name}": looks[1] for name, looks in names if stat.S_ISREG(looks[0])}
    return Success(known)
