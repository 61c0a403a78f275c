"""An agent that says what the test wants it to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from attrs import define, field
from returns.result import Failure, Result, Success

from agent_memory.errors import Error
from agent_memory.note.note import Status
from agent_memory.rules.plan import AgentReply, AgentRequest

R = TypeVar("R", bound=AgentRequest)


@define
class ScriptedAgent(Generic[R]):
    """Gives the answers of a list in turn, the last one for ever."""

    answers: list[str | Error | Callable[[R], str]]
    name: str = "scripted"
    status: Status = Status.CONSOLIDATED
    max_prompt_chars: int | None = 60_000
    asked: list[R] = field(factory=list)

    def answer(self, request: Any) -> Result[AgentReply, Error]:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        if callable(answer):
            return Success(AgentReply(answer(request)))
        return Success(AgentReply(answer)) if isinstance(answer, str) else Failure(answer)
