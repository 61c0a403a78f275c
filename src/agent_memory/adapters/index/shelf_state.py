"""How the notes on both shelves look from outside: what tells whether an index is up to date, without opening a file."""

from __future__ import annotations

from collections.abc import Iterable

from agent_memory.adapters.disk.directory_state import directory_looks
from agent_memory.adapters.index.look_ahead import looked_ahead, shelf_paths
from agent_memory.values import frozen


@frozen
class SeenShelves:
    """One look at both shelves."""

    state: bytes
    """What tells one state of them from another."""
    looks: tuple[list[int], ...]
    """How everything on each looks (`directory_state.directory_looks`)."""


def state_ahead(root: str) -> bytes | None:
    """The state that a process of its own has looked at (`look_ahead`), of a real root; None where none could."""
    states = looked_ahead(root)
    return None if states is None else joined_state(states)


def see_shelves(root: str) -> SeenShelves | None:
    """What is there now; None where something cannot be looked at."""
    try:
        found = [directory_looks(path) for path in shelf_paths(root)]
    except OSError:
        return None
    return SeenShelves(joined_state(state for state, _, _ in found), tuple(looks for _, _, looks in found))


def joined_state(states: Iterable[int]) -> bytes:
    """The state of both shelves, of that of each."""
    return b" ".join(b"%d" % state for state in states)
