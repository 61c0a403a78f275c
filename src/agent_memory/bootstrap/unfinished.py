"""What a crash left half done is carried out before anything else begins.

Crashes are rare: whatever finishes them is loaded only where one left something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import is_there
from agent_memory.adapters.records.run_files import some_run_has
from agent_memory.errors import Error
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def finish_all(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of whatever crashed, and record what a person changed as theirs."""
    return (
        finish_sync(memory)
        .bind(lambda _: finish_undo(memory))
        .bind(lambda _: finish_runs(memory))
        .bind(lambda _: finish_forgetting(memory))
        .bind(lambda _: tolerated(memory, memory.recorder.adopt_hand_edits()))
    )


def finish_others(
    memory: Memory, dry_run: bool, finish: Callable[[Memory], Result[object, Error]]
) -> Result[object, Error]:
    """Carry out the rest of a sync, of an undo, of the other machine's run (`finish`) and of a forgetting; a dry run leaves
    them to others."""
    if dry_run:
        return Success(None)
    return (
        finish_sync(memory)
        .bind(lambda _: finish_undo(memory))
        .bind(lambda _: finish(memory))
        .bind(lambda _: finish_forgetting(memory))
    )


def finish_runs(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of whichever machine's run crashed."""
    return finish_consolidate(memory).bind(lambda _: finish_defrag(memory))


def finish_consolidate(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of a consolidation that crashed: its writes are not a person's, and nobody may take them for
    that."""

    def finished() -> Result[object, Error]:
        from agent_memory.adapters.agent.builtin_agent import BuiltinAgent
        from agent_memory.bootstrap.consolidating import consolidate_io
        from agent_memory.pipelines.consolidate import finish_interrupted

        return consolidate_io(memory, BuiltinAgent(), lambda _: None).bind(finish_interrupted)

    return _where(some_run_has(memory.root, "checkpoint.json"), finished)


def finish_defrag(memory: Memory) -> Result[object, Error]:
    """The same of a defrag."""

    def finished() -> Result[object, Error]:
        from agent_memory.adapters.agent.builtin_agent import BuiltinAgent
        from agent_memory.bootstrap.defragging import defrag_io
        from agent_memory.pipelines.defrag import finish_interrupted

        return defrag_io(memory, BuiltinAgent(), lambda _: None).bind(finish_interrupted)

    return _where(some_run_has(memory.root, "defrag.json"), finished)


def finish_undo(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of an undo that crashed."""

    def told(sentences: tuple[str, ...]) -> None:
        for sentence in sentences:
            memory.warn(sentence)

    if memory.log.undoing() == Success(None):
        return Success(None)
    from agent_memory.bootstrap.undoing import undo_io
    from agent_memory.pipelines.undo import finish_undo as finish_undo_with

    return finish_undo_with(undo_io(memory)).map(told)


def finish_sync(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of a merge of a sync that crashed: what it brought is nobody's hand edit."""

    def finished() -> Result[object, Error]:
        from agent_memory.bootstrap.syncing import finish_merge

        return finish_merge(memory)

    return _where(is_there(f"{memory.root}/runs/syncing.json"), finished)


def finish_forgetting(memory: Memory) -> Result[object, Error]:
    """Carry out the rest of a forgetting that crashed."""

    def finished() -> Result[object, Error]:
        from agent_memory.bootstrap.forgetting import forgetter

        return forgetter(memory).resume()

    return _where(is_there(f"{memory.root}/runs/forgetting.json"), finished)


def _where(left: Result[bool, Error], finished: Callable[[], Result[object, Error]]) -> Result[object, Error]:
    """Carry it out where a crash left it; that this cannot be told is an error (P6)."""
    return left.bind(lambda is_left: finished() if is_left else Success(None))


def tolerated(memory: Memory, done: Result[object, Error]) -> Result[None, Error]:
    """Success in any case, the person warned: git and managed sections can be brought up to date later (P4)."""
    if isinstance(done, Failure):
        memory.warn(describe(done.failure()))
    return Success(None)
