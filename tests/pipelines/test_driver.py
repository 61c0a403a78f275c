"""The driver over a small chart of its own."""

from __future__ import annotations

import pytest
from returns.result import Failure, Result, Success
from statemachine import Event, State

from agent_memory.errors import Busy, Defect, Error
from agent_memory.machines import Model, Pipeline, drive
from agent_memory.results import sealed


class Countdown(Pipeline[int]):
    first = State(initial=True)
    second = State()
    completed = State(final=True)
    failed = State(final=True)
    advance = Event(first.to(second) | second.to(completed, cond="is_zero") | second.to(second))
    fail = Event(failed.from_(first, second))

    def is_zero(self, context: int) -> bool:
        return context == 0


def _decrement(context: int) -> Result[int, Error]:
    return Success(context - 1)


def _no_checkpoint(_state: str, _context: int) -> Result[None, Error]:
    return Success(None)


def _no_rescue(_state: str, _context: int, defect: Defect) -> Result[int, Error]:
    return Failure(defect)


def test_every_step_is_announced_before_it_is_taken() -> None:
    seen: list[tuple[str, int]] = []

    def note(state: str, context: int) -> Result[None, Error]:
        seen.append((state, context))
        return Success(None)

    machine = Countdown(Model(3))
    assert drive(machine, {"first": Success, "second": _decrement}, note, _no_rescue) == Success(0)
    assert seen == [("first", 3), ("second", 3), ("second", 2), ("second", 1)]


def test_a_failure_ends_the_machine_with_the_context_it_had() -> None:
    machine = Countdown(Model(3))
    busy = Busy("lock")
    assert drive(
        machine, {"first": _decrement, "second": lambda _: Failure(busy)}, _no_checkpoint, _no_rescue
    ) == Failure(busy)
    assert machine.model.context == 2
    assert machine.current_state_value == "failed"


def test_a_bug_in_a_step_becomes_a_defect_that_names_the_step() -> None:
    def broken(_context: int) -> Result[int, Error]:
        raise ZeroDivisionError("by nought")

    result = drive(Countdown(Model(3)), {"first": broken, "second": _decrement}, _no_checkpoint, _no_rescue)
    match sealed(result):
        case Failure(Defect(step, detail)):
            assert step == "first"
            assert "by nought" in detail
        case other:
            pytest.fail(repr(other))


def test_a_rescued_bug_lets_the_machine_go_on() -> None:
    def broken(_context: int) -> Result[int, Error]:
        raise ZeroDivisionError

    result = drive(
        Countdown(Model(3)), {"first": broken, "second": _decrement}, _no_checkpoint, lambda _s, _c, _d: Success(1)
    )
    assert result == Success(0)


def test_a_failing_checkpoint_fails_the_machine_before_the_step() -> None:
    taken: list[int] = []

    def step(context: int) -> Result[int, Error]:
        taken.append(context)
        return Success(context)

    busy = Busy("lock")
    result = drive(Countdown(Model(3)), {"first": step, "second": step}, lambda _s, _c: Failure(busy), _no_rescue)
    assert result == Failure(busy)
    assert taken == []


def test_a_machine_started_in_a_later_state_goes_on_from_there() -> None:
    machine = Countdown(Model(2), start_value="second")
    seen: list[str] = []

    def note(state: str, _context: int) -> Result[None, Error]:
        seen.append(state)
        return Success(None)

    assert drive(machine, {"first": Success, "second": _decrement}, note, _no_rescue) == Success(0)
    assert seen == ["second", "second"]
