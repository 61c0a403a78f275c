"""How forgetting is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_memory.adapters.disk.paths import those_there
from agent_memory.adapters.forgetting.forgetter import Forgetter, Found
from agent_memory.adapters.git.git_history import is_in_history
from agent_memory.adapters.git.history_purge import purge_history
from agent_memory.adapters.records.bookkeeping_files import path_of
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
from agent_memory.domain.state_value import key_problem
from agent_memory.errors import StateInvalid, StateNotFound
from agent_memory.results import as_result, unwrap
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.app import Memory

_REWRITER = "agent_memory.adapters.forgetting.purging"


@as_result
def look_at_forgetting(memory: Memory, target: ForgetTarget) -> Found:
    """As `Memory.look_at_forgetting` has it."""
    memory.only_a_person("forget")
    return forgetter(memory).look(target)


@as_result
def forget(memory: Memory, seen: Found) -> Forgetting:
    """As `Memory.forget` has it."""
    memory.only_a_person("forget")
    with memory.locks.run() as held:
        unwrap(held)
        memory.finish_all()
        return forgetter(memory).forget_what_was_seen(seen)


@as_result
def purge_state(memory: Memory, key: str) -> None:
    """As `Memory.purge_state` has it."""
    path = path_of(key)
    memory.only_a_person("state delete --purge")
    if (problem := key_problem(key)) is not None:
        raise StateInvalid((problem,))
    with memory.locks.run() as held:
        unwrap(held)
        memory.finish_all()
        if not (unwrap(those_there(memory.real_root, (path,))) or is_in_history(memory.git_process, path)):
            raise StateNotFound(key)
        forgetter(memory).purge_state(path)


def forgetter(memory: Memory) -> Forgetter:
    """What forgets, and carries on where a forgetting crashed."""
    return Forgetter(
        root=memory.root,
        histories=memory.kept_histories,
        recorder=memory.recorder,
        locks=memory.locks,
        clock=memory.clock,
        purge=lambda: purge_history(memory.root, memory.environ, (_REWRITER, str(memory.root))),
        publish=lambda: memory.tolerate(memory.publish()),
        tell=lambda error: memory.warn(describe(error)),
    )
