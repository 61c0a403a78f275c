"""Past sessions: where they are, what they said, how far they have been consolidated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from returns.result import Result

    from agent_memory.domain.found_session import FoundSession, SeenSession
    from agent_memory.domain.history import History, SessionMark
    from agent_memory.domain.inbox_entry import InboxEntry
    from agent_memory.domain.kept_history import KeptSession
    from agent_memory.domain.vocabulary import Harness
    from agent_memory.errors import Error


class HistorySource(Protocol):
    """How to get the history of a session, for one retrieval method or several."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark (all of them without one)."""
        ...


class SessionFinder(Protocol):
    """The past sessions of one harness, as far as they can be told without reading them."""

    def find(self, since_ms: int | None) -> Iterator[Result[FoundSession, Error]]:
        """Every session that changed at or after `since_ms`, in any order; a sub-agent's own is none. What cannot be
        listed is an error among them, never silence (P6); a harness that was never used here has no sessions."""
        ...


class SeenSessions(Protocol):
    """What was seen in past sessions, so that one whose transcript stays as it is need not be read again. Derived."""

    def recall(self, found: FoundSession, mark: SessionMark | None) -> SeenSession | None:
        """What reading the session after this mark showed; None where that is not known, or the transcript changed."""
        ...

    def keep(self, found: FoundSession, seen: SeenSession) -> None:
        """Remember it, for good once `save` is called."""
        ...

    def save(self, harnesses: frozenset[str]) -> None:
        """Keep what was recalled or kept, and what is known of other harnesses; a session of these that was neither is
        gone."""
        ...


class KeptHistories(Protocol):
    """The redacted histories of consolidated sessions, so that a second look needs no transcript (P20, P28)."""

    def keep(self, history: History, after_record_id: str | None) -> Result[None, Error]:
        """Keep one more part of a session: its turns after this record, from the beginning without one. Durable, and the
        same part twice is kept once. Above the cap the sessions kept longest ago go, whole. It must be redacted already."""
        ...

    def fetch(self, harness: Harness, session_id: str, mark: SessionMark | None) -> Result[History | None, Error]:
        """The kept turns after the mark, at most about 16 MiB of them (`remaining` then); None where there is none, and,
        without a mark, where the beginning of the session is not kept."""
        ...

    def sessions(self) -> Result[tuple[KeptSession, ...], Error]:
        """What is kept, the longest kept first; nothing is opened."""
        ...

    def forget(self, harness: Harness, session_id: str) -> Result[None, Error]:
        """Remove all that is kept of a session; one of which nothing is kept counts as removed."""
        ...


class SessionMarks(Protocol):
    """How far each session has been consolidated."""

    def get(self, harness: Harness, session_id: str) -> Result[SessionMark | None, Error]:
        """The session's mark; None for a session never seen. A damaged mark is an error, never None (P6)."""
        ...

    def put(self, mark: SessionMark) -> Result[None, Error]:
        """Replace the mark, durably."""
        ...

    def all(self) -> Iterator[Result[SessionMark, Error]]:
        """Every mark there is, one at a time; a damaged one is an error among them, never left out (P6)."""
        ...


class Places(Protocol):
    """Where sessions took place."""

    def scope_of(self, cwd: str | None) -> str:
        """The scope key of the repository around a directory (design §3.2), or `global`."""
        ...
