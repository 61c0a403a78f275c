"""The one note that a session's handoff is kept in."""

from __future__ import annotations

from agent_memory.domain.entry import Meta
from agent_memory.domain.vocabulary import Harness, Kind


def is_handoff_of(meta: Meta, harness: Harness, session_id: str) -> bool:
    """Whether an entry is the handoff of this session."""
    if meta.kind is not Kind.HANDOFF:
        return False
    return any((each.harness, each.thread_id) == (harness, session_id) for each in meta.sources)
