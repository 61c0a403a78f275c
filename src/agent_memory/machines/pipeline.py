"""What both machines share: the model and the two events. A chart holds no effects, only states and transitions."""

from __future__ import annotations

from typing import Generic, TypeVar

from attrs import define
from statemachine import Event, StateChart

from agent_memory.errors import Error

C = TypeVar("C")


@define
class Model(Generic[C]):
    """Where a machine stands: the context of its run, its state, and the error that ended it."""

    context: C
    state: str | None = None
    error: Error | None = None


class Pipeline(StateChart[Model[C]]):
    """A chart with two events: `advance` carries the context that a step returned, `fail` its error.

    An unknown event, an event without a transition and an exception in a guard all raise.
    """

    allow_event_without_transition = False
    catch_errors_as_events = False
    atomic_configuration_update = True

    advance: Event
    fail: Event

    def on_advance(self, context: C) -> None:
        self.model.context = context

    def on_fail(self, error: Error) -> None:
        self.model.error = error
