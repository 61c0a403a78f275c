"""The room of `memory scope`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_memory.adapters.surroundings.known_places import known_places
from agent_memory.adapters.surroundings.places_files import PlacesFiles
from agent_memory.adapters.surroundings.repository import Repository

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory
    from agent_memory.scope_keeping import ScopeKeeping


def scope_keeping(memory: Memory) -> ScopeKeeping:
    """See `Memory.scopes`."""
    from agent_memory.scope_keeping import ScopeKeeping  # not for every command that comes to a known place

    return ScopeKeeping(
        memory.store,
        memory.log,
        memory.recorder,
        memory.locks,
        memory.clock,
        memory.environ,
        known_places(memory.environ, memory.real_root),
        memory.new_run_id,
        lambda keep: memory.publish(keep=keep),
        memory.warn,
    )


def arriving(memory: Memory) -> PlacesFiles:
    """See `Memory.arriving`."""
    known = known_places(memory.environ, memory.real_root)

    def arrive(repository: Repository) -> None:
        if known is not None and not known.has(repository):
            scope_keeping(memory).arrive(repository)

    return PlacesFiles(memory.environ, arrive)
