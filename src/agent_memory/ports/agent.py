"""What answers a prompt, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from returns.result import Result

    from agent_memory.domain.agent_request import AgentReply, AgentRequest
    from agent_memory.domain.spend import Spend
    from agent_memory.domain.vocabulary import Status
    from agent_memory.errors import Error


class Agent(Protocol):
    """What answers a prompt (P9, P10)."""

    @property
    def name(self) -> str:
        """Which agent, for replay of stored replies and for session marks: `builtin`, a preset, `command:<hash>`."""
        ...

    @property
    def status(self) -> Status:
        """The status of what it writes: `captured` for the built-in, `consolidated` for a command."""
        ...

    @property
    def max_prompt_chars(self) -> int | None:
        """Longest prompt; None where a session is taken whole."""
        ...

    def answer(self, request: AgentRequest) -> Result[AgentReply, Error]:
        """The reply, unchecked."""
        ...


class SpendLedger(Protocol):
    """Calls to the agent command and their characters by UTC day; exact with several processes at once (P10)."""

    def reserve(self, at_ms: int, prompt_chars: int, max_calls_per_day: int) -> Result[None, Error]:
        """One call more is counted, durably; SpendExhausted, and nothing counted, once the day's calls are used up."""
        ...

    def give_back(self, at_ms: int, prompt_chars: int) -> Result[None, Error]:
        """Take back the reservation made at `at_ms`, of a call that could not be made."""
        ...

    def add_reply(self, at_ms: int, reply_chars: int) -> Result[None, Error]:
        """Count the characters of the reply to the call reserved at `at_ms`."""
        ...

    def days(self) -> Result[Spend, Error]:
        """What was spent on each of the last days, oldest first. A damaged ledger is an error, never nothing (P6)."""
        ...
