"""All that backfill and watch act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from agent_memory.domain.history import History, Turn
from agent_memory.domain.queue import KnownSessions
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import Clock, HistorySource, Inbox, SeenSessions, SessionFinder, SessionMarks, Tombstones

UNIQUE_ID_CHARS = 16
"""A shorter record id may be a count, which another session has too."""


def _silent(_message: str) -> None:
    return


@frozen
class BackfillIo:
    """The adapters, and the few facts about this machine that steps need."""

    finders: Mapping[Harness, SessionFinder]
    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    inbox: Inbox
    marks: SessionMarks
    clock: Clock
    calls_for: Callable[[History], int]
    """How often the agent command is asked about a history."""
    repo_of: Callable[[str], str | None]
    """The scope key of a directory; None where that is `global`."""
    is_private: Callable[[str], bool]
    """Whether a directory is one in which agent commands of ours run (P23)."""
    tombstones: Tombstones | None = None
    seen: SeenSessions | None = None
    """What was seen in sessions before; None where each is read again."""
    asked: str = ""
    """What `calls_for` depends on beside the history."""
    progress: Callable[[str], None] = _silent


@frozen
class Looking:
    """What all sessions are compared with. `seen` grows with each session that is looked at."""

    known: KnownSessions
    event: str
    """Of the inbox entries that come of it."""
    since_ms: int | None = None
    ends: frozenset[tuple[Harness, str]] = frozenset()
    """The records at which consolidated sessions end, of harnesses whose copies of a session share its record ids."""
    seen: IdSet = field(factory=IdSet)
    """Records of the sessions looked at so far."""
    first: dict[tuple[Harness, str], str | None] = field(factory=dict[tuple[Harness, str], "str | None"])
    """The transcript of each session that was looked at first."""


def is_unique(turn: Turn) -> bool:
    """Whether no other session has the record id by chance."""
    return len(turn.record_id) >= UNIQUE_ID_CHARS
