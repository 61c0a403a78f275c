"""How the notes on both shelves look from outside: what tells whether an index is up to date, without opening a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_memory.adapters.index.look_ahead import looked_ahead, shelf_looks
from agent_memory.values import frozen


@frozen
class SeenShelves:
    """One look at both shelves."""

    state: bytes
    """What tells one state of them from another."""
    looks: tuple[Sequence[int], ...]
    """How everything on each looks (`directory_state.DirectoryLook`)."""


def see_shelves(root: str) -> SeenShelves | None:
    """What is there, below a real root: as a process of its own has seen it since the call began (`look_ahead`), else now; None
    where something cannot be looked at."""
    try:
        found = looked_ahead(root) or shelf_looks(root)
    except OSError:
        return None
    return SeenShelves(joined_state(state for state, _ in found), tuple(looks for _, looks in found))


def joined_state(states: Iterable[int]) -> bytes:
    """The state of both shelves, of that of each."""
    return b" ".join(b"%d" % state for state in states)
