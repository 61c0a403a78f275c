"""Tombstones in memory, for tests and for programs that forget nothing."""

from __future__ import annotations

from returns.result import Result, Success

from agent_memory.domain.forgetting import EntryTombstone, SessionTombstone, StateTombstone
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error


class DictTombstones:
    """`ports.Tombstones` over a mapping."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[Harness | None, str], SessionTombstone] = {}
        self._entries: dict[str, EntryTombstone] = {}

    def of_session(self, harness: Harness, session_id: str) -> Result[SessionTombstone | None, Error]:
        return Success(self._sessions.get((harness, session_id)) or self._sessions.get((None, session_id)))

    def of_entries(self) -> Result[tuple[EntryTombstone, ...], Error]:
        return Success(tuple(self._entries[id] for id in sorted(self._entries)))

    def put(self, tombstone: SessionTombstone | EntryTombstone | StateTombstone) -> Result[None, Error]:
        if isinstance(tombstone, EntryTombstone):
            self._entries[tombstone.id] = tombstone
        elif isinstance(tombstone, SessionTombstone):
            self._sessions[tombstone.harness, tombstone.session_id] = tombstone
        return Success(None)
