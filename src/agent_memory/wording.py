"""The sentence of an error."""

from __future__ import annotations

from returns.result import Failure, Result

from agent_memory.errors import Error


def warning_of(result: Result[object, Error]) -> tuple[str, ...]:
    """The sentence for a failure that hinders nothing; none for a success."""
    return (str(result.failure()),) if isinstance(result, Failure) else ()


def describe(error: Error) -> str:
    """One plain sentence (or two short ones), without a final newline: what happened, where, what to do next."""
    return str(error)
