"""Stands for an agent command that the configuration does not allow to be called."""

from __future__ import annotations

from attrs import frozen
from returns.result import Failure, Result

from agent_memory.domain.agent_request import AgentReply, AgentRequest
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error


@frozen
class UnusableAgent:
    """An `Agent` that answers nothing, and says why. What asks nobody can be done with it."""

    error: Error
    name: str = "unusable"
    status: Status = Status.CONSOLIDATED
    max_prompt_chars: int | None = None
    """No prompt is made for it."""

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        """See the port."""
        return Failure(self.error)
