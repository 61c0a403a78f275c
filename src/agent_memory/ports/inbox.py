"""The queue of what is to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from returns.result import Result

    from agent_memory.domain.inbox_entry import InboxEntry
    from agent_memory.domain.queue import KnownSessions, Loaded, Outcome, Pending, Trouble
    from agent_memory.errors import Error


class Inbox(Protocol):
    """The queue on disk (P1, P3, P6, P7)."""

    def put(self, entry: InboxEntry) -> Result[str, Error]:
        """The name under which the entry is now durable."""
        ...

    def names(self) -> Result[tuple[str, ...], Error]:
        """Names of all pending entries in the order of their time stamps; nothing is opened."""
        ...

    def load(self, limit: int | None, now_ms: int) -> Result[Loaded, Error]:
        """The folded queue in working order; malformed files are quarantined, the rest goes on."""
        ...

    def note(self, pending: Pending, trouble: Trouble) -> Result[None, Error]:
        """Remember trouble; the entry stays pending."""
        ...

    def retire(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Move all its files to `.processed/` with the outcome added. Done already counts as done."""
        ...

    def give_up(self, pending: Pending, outcome: Outcome) -> Result[None, Error]:
        """Move all its files to `.failed/` with the outcome beside them."""
        ...

    def retry_failed(self) -> Result[int, Error]:
        """Bring back what was given up (not what was malformed); the number of entries, their counts cleared."""
        ...

    def known(self) -> Result[KnownSessions, Error]:
        """Which sessions wait, and which were given up. Changes nothing, and needs no lock; malformed files are left."""
        ...
