"""What a past session was seen to hold, so that it need not be read again while its transcript stays as it is."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import SessionMark


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
