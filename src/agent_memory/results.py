"""The border between exceptions, which our own code raises, and `Result`, which a caller gets.

@as_result                                  # a public function, a method of a port, a step of a machine
def read(self, id: str) -> StoredEntry: ...  # its callers get Result[StoredEntry, Error]

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
    """Make `function` return what it returns as a `Success`, and an error of ours that it raises as a `Failure`. Any other
    exception is a bug and goes through."""

    @wraps(function)
    def returned(*args: P.args, **kwargs: P.kwargs) -> Result[T, Error]:
        try:
            return Success(function(*args, **kwargs))
        except Error as error:
            # A value outlives the call: with its traceback it would keep all that the call had in hand.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            return Failure(error)

    return returned


def unwrap(result: Result[T, Error]) -> T:
    """The value of a `Success`; the error of a `Failure` is raised."""
    match sealed(result):
        case Success(value):
            return value
        case Failure(error):
            raise error


def sealed(result: Result[T, E]) -> Success[T] | Failure[E]:
    """The same value, typed as the union of its two cases: without it `case Success(v)` binds `Any`."""
    return cast("Success[T] | Failure[E]", result)


def warning_of(result: Result[object, Error]) -> tuple[str, ...]:
    """The sentence for a failure that hinders nothing; none for a success."""
    return (str(result.failure()),) if isinstance(result, Failure) else ()
