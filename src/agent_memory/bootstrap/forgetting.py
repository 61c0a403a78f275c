"""How forgetting is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import those_there
from agent_memory.adapters.forgetting.forgetter import Forgetter
from agent_memory.adapters.forgetting.forgetting_look import Found
from agent_memory.adapters.forgetting.purge_rules import purge_rules
from agent_memory.adapters.git.file_history import is_in_history
from agent_memory.adapters.git.history_purge import purge_history
from agent_memory.adapters.records.state_keys_files import path_of
from agent_memory.domain.forgetting.forgetting import ForgetTarget, Forgetting
from agent_memory.domain.state_value import key_problem
from agent_memory.errors import Error, StateInvalid, StateNotFound
from agent_memory.results import as_result
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.app import Memory


def look_at_forgetting(memory: Memory, target: ForgetTarget) -> Result[Found, Error]:
    """As `Memory.look_at_forgetting` has it."""
    return as_result(memory.only_a_person)("forget").bind(lambda _: forgetter(memory).look(target))


def forget(memory: Memory, seen: Found) -> Result[Forgetting, Error]:
    """As `Memory.forget` has it."""
    allowed = as_result(memory.only_a_person)("forget")
    if isinstance(allowed, Failure):
        return allowed
    with memory.locks.run() as held:
        finished = held.bind(lambda _: as_result(memory.finish_all)())
        return finished.bind(lambda _: forgetter(memory).forget_what_was_seen(seen))


def purge_state(memory: Memory, key: str) -> Result[None, Error]:
    """As `Memory.purge_state` has it."""
    path = path_of(key)

    def purged(is_known: bool) -> Result[None, Error]:
        return forgetter(memory).purge_state(path) if is_known else Failure(StateNotFound(key))

    allowed = as_result(memory.only_a_person)("state delete --purge")
    if isinstance(allowed, Failure):
        return allowed
    if (problem := key_problem(key)) is not None:
        return Failure(StateInvalid((problem,)))
    with memory.locks.run() as held:
        finished = held.bind(lambda _: as_result(memory.finish_all)())
        there = finished.bind(lambda _: those_there(memory.real_root, (path,)))
        known = there.bind(lambda some: Success(True) if some else is_in_history(memory.git_process, path))
        return known.bind(purged)


def forgetter(memory: Memory) -> Forgetter:
    """What forgets, and carries on where a forgetting crashed."""
    return Forgetter(
        root=memory.root,
        histories=memory.kept_histories,
        recorder=memory.recorder,
        locks=memory.locks,
        clock=memory.clock,
        purge=lambda work: purge_rules(memory.real_root, work).bind(
            lambda rules: purge_history(memory.root, memory.environ, rules)
        ),
        publish=lambda: as_result(memory.tolerate)(memory.publish()),
        tell=lambda error: memory.warn(describe(error)),
    )
