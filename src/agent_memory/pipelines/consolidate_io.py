"""All that the steps of consolidate act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from agent_memory.ports import (
    Agent,
    Clock,
    HistorySource,
    Inbox,
    Places,
    Recorder,
    RunRecords,
    SessionMarks,
    Store,
    Tombstones,
)


def _silent(_message: str) -> None:
    return


@frozen
class ConsolidateIo:
    """The adapters, and the few settings that steps need."""

    inbox: Inbox
    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    places: Places
    store: Store
    agent: Agent
    marks: SessionMarks
    recorder: Recorder
    runs: RunRecords
    clock: Clock
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    handoff_days: int = 7
    tombstones: Tombstones | None = None
    """What was forgotten; None where nothing ever is."""
    progress: Callable[[str], None] = _silent
