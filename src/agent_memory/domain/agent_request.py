"""What an agent is asked."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.history import History
from agent_memory.domain.inbox_entry import InboxEntry


@frozen
class AgentRequest:
    """One question: to a command it is `prompt`; the built-in reads the values behind the prompt instead."""

    prompt: str
    nonce: str
    entry: InboxEntry
    window: History
    shown: tuple[StoredEntry, ...] = ()
    """The entries shown in full in the prompt."""
    handoff_id: str | None = None
    """The session's earlier handoff (among `shown`), to be updated in place."""
    now_ms: int = 0
    final_window: bool = True
    """Whether the session, as far as it is known, ends with this window."""


@frozen
class AgentReply:
    """What the agent answered, as it came; redacted before it is stored or parsed."""

    text: str
    prompt_chars: int = 0
    """Characters sent to a command; 0 for the built-in and for a replayed reply."""
