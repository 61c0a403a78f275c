"""Every port: what the pipelines and the service ask of the outside world. Implementations are in `adapters`.

Each has an implementation in `adapters`; tests stand in for some of them, by the same contract.
Values are imported for type checkers alone: whatever has a port would load every one there is, and `memory list` needs few.
"""

from __future__ import annotations

from agent_memory.ports.agent import Agent, SpendLedger
from agent_memory.ports.bookkeeping import (
    KeptVocabulary,
    StateKeys,
    Tombstones,
    UsageLedger,
)
from agent_memory.ports.clock import Clock
from agent_memory.ports.inbox import Inbox
from agent_memory.ports.index import Embedder, Index, Meanings
from agent_memory.ports.runs import DefragRecords, Replies, RunLog, RunRecords
from agent_memory.ports.sessions import HistorySource, KeptHistories, Places, SeenSessions, SessionFinder, SessionMarks
from agent_memory.ports.store import Locks, Recorder, Store
from agent_memory.ports.targets import Targets

__all__ = [
    "Agent",
    "Clock",
    "DefragRecords",
    "Embedder",
    "HistorySource",
    "Inbox",
    "Index",
    "KeptHistories",
    "KeptVocabulary",
    "Locks",
    "Meanings",
    "Places",
    "Recorder",
    "Replies",
    "RunLog",
    "RunRecords",
    "SeenSessions",
    "SessionFinder",
    "SessionMarks",
    "SpendLedger",
    "StateKeys",
    "Store",
    "Targets",
    "Tombstones",
    "UsageLedger",
]
