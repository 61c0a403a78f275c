"""All that the steps of consolidate act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from agent_memory.domain.tagging.tag_vocabulary import TagVocabulary
from agent_memory.known_notes import KnownNotes
from agent_memory.ports import (
    Agent,
    Clock,
    HistorySource,
    Inbox,
    KeptHistories,
    Places,
    Recorder,
    RunRecords,
    SessionMarks,
    Store,
    Tombstones,
    UsageLedger,
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
    kept: KeptHistories | None = None
    """None where no histories are kept."""
    ledger: UsageLedger | None = None
    """None where nobody counts what agents look at."""
    vocabulary: Callable[[], TagVocabulary] = TagVocabulary
    """The tags that a person has accepted or renamed."""
    known: KnownNotes | None = None
    """What finds notes about the same subject; without it the listing does."""
    progress: Callable[[str], None] = _silent
