"""A past session, as it was found where its harness keeps it."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.inbox_entry import AmpThread, SessionFile, SessionRetrieval
from agent_memory.domain.vocabulary import Harness


@frozen
class FoundSession:
    """What can be told of a session without reading it. Instants are epoch ms."""

    harness: Harness
    retrieval: SessionRetrieval
    """How to get its history."""
    changed_at_ms: int
    """When its transcript last changed, by whatever keeps it."""
    size_bytes: int | None = None
    """Of its transcript, where it has a file of its own."""
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    """When its last turn was, where that is known to the harness itself. A file's time is none: any touch changes it."""
    cwd: str | None = None
    shares_record_ids: bool = False
    """A fork or a resumed copy of a session has the record ids of what it copied, and no other session has them."""

    looks: str = ""
    """Size, time and number of the one file that holds all of it: while they stay, so does what it says. Empty where it has
    none."""

    @property
    def session_id(self) -> str:
        """The harness's own id."""
        return self.retrieval.thread_id if isinstance(self.retrieval, AmpThread) else self.retrieval.session_id

    @property
    def path(self) -> str | None:
        """Its transcript, where it has a file of its own."""
        return self.retrieval.session_path if isinstance(self.retrieval, SessionFile) else None
