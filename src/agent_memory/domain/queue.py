"""The queue's values: what waits, what trouble it had, what became of it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from attrs import field, frozen

from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.inbox_rules import id_problem, shown
from agent_memory.domain.instants import Instant

_SPARSE = {"sparse": True}


def _count_problem(value: int) -> str | None:
    return f"is {shown(value)}, expected a whole number from 0" if value < 0 else None


Count: TypeAlias = Annotated[int, _count_problem]


@frozen
class Trouble:
    """What an entry has been through, kept outside its file (which never changes). Nothing is recorded for a fresh one."""

    attempts: Count = field(default=0, metadata=_SPARSE)
    """Faults of the session itself, on content with `fingerprint`."""
    timeouts: Count = field(default=0, metadata=_SPARSE)
    """Time-outs in a row on that content; three count as one attempt."""
    unavailable_since_ms: Count | None = field(default=None, metadata=_SPARSE)
    """When the history was first found not to be there; seven days count as one attempt."""
    not_before_ms: Count = field(default=0, metadata=_SPARSE)
    """Backoff: not tried again earlier, and sorted behind the others until then."""
    fingerprint: str = field(default="", metadata=_SPARSE)
    """Of the content that was tried; other content starts the counts afresh."""
    code: str = field(default="", metadata=_SPARSE)
    message: str = field(default="", metadata=_SPARSE)


@frozen
class Pending:
    """One session (or note) to look at: its newest entry, and the names of all entries folded into it."""

    entry: InboxEntry
    name: str
    """File name of the newest."""
    names: tuple[str, ...]
    """File names of all of them, oldest first, the newest last."""
    trouble: Trouble = Trouble()


@frozen
class Quarantined:
    """An inbox file that is no valid entry, moved to `inbox/.failed/` with its reason beside it."""

    name: str
    reason: str


@frozen
class Loaded:
    """The queue in the order in which it is to be worked: least attempted first, then oldest."""

    pending: tuple[Pending, ...]
    quarantined: tuple[Quarantined, ...] = ()
    waiting: int = 0
    """Entries left out because of the limit or their backoff."""
    unreadable: tuple[Quarantined, ...] = ()
    """Files that the operating system would not let us read; left where they are, since they may be whole (P6)."""
    reason: str = ""
    """Why the first of those in their backoff was set back, as a sentence."""


@frozen
class KnownSessions:
    """The sessions in the inbox, by queue key (`fold.queue_key`)."""

    waiting: frozenset[str] = frozenset()
    asked_again: frozenset[str] = frozenset()
    """Those of them that are to be looked at again as a whole."""
    given_up_at_ms: dict[str, int] = field(factory=dict[str, int])
    """When they were given up, the last time."""


Verdict = Literal[
    "written", "skipped", "unchanged", "refused", "unavailable", "timed-out", "gave-up", "own-call", "paused", "planned"
]


@frozen
class Outcome:
    """What became of one pending session in one run; stored with the processed inbox entry."""

    verdict: Verdict
    run_id: Annotated[str, id_problem]
    at_ms: Instant
    entry_ids: tuple[Annotated[str, id_problem], ...] = field(default=(), metadata=_SPARSE)
    """Created or updated."""
    reason: str = field(default="", metadata=_SPARSE)
    dropped: tuple[str, ...] = field(default=(), metadata=_SPARSE)
