"""One narrowing cast that makes `match` over a `Result` exact."""

from __future__ import annotations

from typing import TypeVar, cast

from returns.result import Failure, Result, Success

T = TypeVar("T")
E = TypeVar("E")


def sealed(result: Result[T, E]) -> Success[T] | Failure[E]:
    """The same value, typed as the union of its two cases: without it `case Success(v)` binds `Any`."""
    return cast("Success[T] | Failure[E]", result)
