"""The one driver of both machines, and the one place where an exception becomes a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, assert_never

from returns.result import Failure, Result, Success

from agent_memory.errors import Defect, Error
from agent_memory.machines.pipeline import Pipeline
from agent_memory.results import sealed

C = TypeVar("C")
Step = Callable[[C], Result[C, Error]]
Checkpoint = Callable[[str, C], Result[None, Error]]
Rescue = Callable[[str, C, Defect], Result[C, Error]]
Report = Callable[[C, Error | None], Result[None, Error]]


def drive(
    machine: Pipeline[C], steps: Mapping[str, Step[C]], checkpoint: Checkpoint[C], rescue: Rescue[C]
) -> Result[C, Error]:
    """The context in which the machine completed, or the error with which it failed.

    Before each step `checkpoint` is told the state and the context: a machine started anew with these two goes on from
    there. A bug in a step goes to `rescue`, which may know a context to go on with. The context at a failure stays in
    `machine.model.context`.
    """
    while not machine.is_terminated:
        state = str(machine.current_state_value)
        context = machine.model.context
        match sealed(_take(steps, checkpoint, rescue, state, context)):
            case Success(advanced):
                machine.advance(context=advanced)
            case Failure(error):
                machine.fail(error=error)
            case _ as never:
                assert_never(never)
    return Success(machine.model.context) if machine.model.error is None else Failure(machine.model.error)


def drive_and_report(
    machine: Pipeline[C],
    steps: Mapping[str, Step[C]],
    checkpoint: Checkpoint[C],
    rescue: Rescue[C],
    report: Report[C],
) -> Result[C, Error]:
    """As `drive`; `report` is told of the end, whatever it was. Its own failure is the result of a run that completed."""
    result = drive(machine, steps, checkpoint, rescue)
    error = result.failure() if isinstance(result, Failure) else None
    reported = report(machine.model.context, error)
    return result if error is not None else reported.bind(lambda _: result)


def _take(
    steps: Mapping[str, Step[C]], checkpoint: Checkpoint[C], rescue: Rescue[C], state: str, context: C
) -> Result[C, Error]:
    try:
        return checkpoint(state, context).bind(lambda _: steps[state](context))
    except Exception as bug:  # noqa: BLE001 - a bug in a step must end as a named value, with nothing lost
        return rescue(state, context, Defect(state, repr(bug)))
