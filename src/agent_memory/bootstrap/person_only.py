"""Acts that are a person's alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.errors import ActRefused, Error

if TYPE_CHECKING:
    from agent_memory.bootstrap.memory import Memory


def by_a_person(memory: Memory, act: str) -> Result[None, Error]:
    """ActRefused where an agent is calling."""
    variable = memory.caller.variable
    return Success(None) if variable is None else Failure(ActRefused(act, variable))
