"""What `memory inject` is asked for."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.vocabulary import Harness


@frozen
class InjectRequest:
    """What to bring before an agent. What is None is decided by the config."""

    query: str | None = None
    """Notes that have to do with this; without it those that every session is to know."""
    profile: str | None = None
    """A profile of the config or a built-in one; `session-start`, or with a query `query`."""
    budget: int | None = None
    """Tokens at most, whatever the profile says."""
    session: str | None = None
    """Its id: what it was given before is left out, and what it is given now is remembered."""
    harness: Harness | None = None
    """The session's; the calling one where it is not named."""
