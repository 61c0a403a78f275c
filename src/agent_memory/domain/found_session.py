"""A past session, as it was found where its harness keeps it, and what it was seen to hold, so that it need not be read again while its
transcript stays as it is."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.history import SessionMark
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


@frozen
class SeenSession:
    """Facts about the turns after a mark; none of their text. Instants are epoch ms."""

    harness: str
    looks: str
    """`FoundSession.looks` when it was read."""
    after: str
    """The record id of the mark after which it was read; empty without a mark."""
    own_call: bool = False
    automated: bool = False
    has_turns: bool = False
    ended_at_ms: int | None = None
    cwd: str | None = None
    branch: str | None = None
    chars: int = 0
    calls: int = 0
    asked: str = ""
    """What `calls` depends on beside the session."""
    is_partial: bool = False
    first_id: str = ""
    """Of the first turn."""
    unique_ids: tuple[str, ...] = ()
    """Record ids that only it and its copies have; of harnesses whose copies share them."""

    def is_of(self, found: FoundSession, mark: SessionMark | None) -> bool:
        """Whether it says what reading the session after this mark would say."""
        return bool(found.looks) and (self.looks, self.after) == (found.looks, after_of(mark))


def after_of(mark: SessionMark | None) -> str:
    """How a mark is told in `SeenSession.after`."""
    return "" if mark is None else mark.last_record_id
