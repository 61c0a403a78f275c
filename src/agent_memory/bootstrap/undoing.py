"""How an undo is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.bootstrap.person_only import by_a_person
from agent_memory.bootstrap.unfinished import finish_forgetting, finish_runs
from agent_memory.domain.undo_run import Undone
from agent_memory.errors import Error
from agent_memory.pipelines.undo import undo as undo_with
from agent_memory.pipelines.undo_io import UndoIo

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def undo(memory: Memory, name: str | None, *, dry_run: bool) -> Result[Undone, Error]:
    """As `Memory.undo` has it."""
    allowed = Success(None) if dry_run else by_a_person(memory, "undo")
    if isinstance(allowed, Failure):
        return allowed
    with memory.locks.run() as held:
        ready = held if dry_run else held.bind(lambda _: finish_forgetting(memory))
        return ready.bind(lambda _: undo_with(undo_io(memory), name, dry_run=dry_run))


def undo_io(memory: Memory) -> UndoIo:
    """All that an undo acts on."""
    return UndoIo(
        store=memory.store,
        log=memory.log,
        targets=memory.targets,
        recorder=memory.recorder,
        records=memory.defrag_records,
        clock=memory.clock,
        finish_interrupted=lambda: finish_runs(memory),
        new_run_id=memory.new_run_id,
    )
