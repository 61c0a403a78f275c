"""All that backfill and watch act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from agent_memory.domain.history import History
from agent_memory.domain.vocabulary import Harness
from agent_memory.ports import Clock, HistorySource, Inbox, SessionFinder, SessionMarks, Tombstones


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
    """The scope key of the repository that a directory is or was in; None where there is none."""
    is_private: Callable[[str], bool]
    """Whether a directory is one in which agent commands of ours run (P23)."""
    tombstones: Tombstones | None = None
    progress: Callable[[str], None] = _silent
