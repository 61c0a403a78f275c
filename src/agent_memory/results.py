"""Converts between exceptions, which our own code raises, and `Result`, which callers of a public function get.

@as_result                                  # a public function, a port's method, a machine's step
def read(self, id: str) -> StoredEntry: ...  # callers get Result[StoredEntry, Error]

entry = unwrap(store.read(id))              # inside: the value, or the error is raised
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar, cast

from returns.result import Failure, Result, Success

from agent_memory.errors import Error

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E")


def as_result(function: Callable[P, T]) -> Callable[P, Result[T, Error]]:
    """Returns the function with its value in `Success`, and a raised `Error` in `Failure`. Other exceptions are bugs."""

    @wraps(function)
    def returned(*args: P.args, **kwargs: P.kwargs) -> Result[T, Error]:
        try:
            return Success(function(*args, **kwargs))
        except Error as error:
            # The error outlives the call; its traceback would keep all of the call's values alive.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            return Failure(error)

    return returned


def unwrap(result: Result[T, Error]) -> T:
    """Returns the value of a `Success`; raises the error of a `Failure`."""
    match sealed(result):
        case Success(value):
            return value
        case Failure(error):
            raise error


def sealed(result: Result[T, E]) -> Success[T] | Failure[E]:
    """Returns the same result, typed as the union of its two cases: without it `case Success(v)` binds `Any`."""
    return cast("Success[T] | Failure[E]", result)


def warning_of(result: Result[object, Error]) -> tuple[str, ...]:
    """Returns the sentence of a failure that should not stop the caller, as a warning; nothing for a success."""
    return (str(result.failure()),) if isinstance(result, Failure) else ()
