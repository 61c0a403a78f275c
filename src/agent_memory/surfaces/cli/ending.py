"""What most commands end with: the result shown, or the error and its exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.results import sealed
from agent_memory.surfaces.console import Console

T = TypeVar("T")


def told(done: Result[T, Error], console: Console, show: Callable[[T], None]) -> int:
    """The exit code: 0 once `show` has shown the value, else that of the error, which is told."""
    match sealed(done):
        case Failure(error):
            return console.fail(error)
        case Success(value):
            show(value)
            return 0
