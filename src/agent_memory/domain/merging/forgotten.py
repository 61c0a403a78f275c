"""What was forgotten on one of the machines stays forgotten on all of them (P28)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.forgetting.sources import SessionKey, share_of, without_session
from agent_memory.domain.forgetting.tombstone import EntryTombstone, SessionTombstone, forgotten_note


@frozen
class Forgotten:
    """All tombstones of both sides."""

    entries: Mapping[str, EntryTombstone] = field(factory=dict[str, EntryTombstone])
    sessions: tuple[SessionTombstone, ...] = ()
    states: Mapping[str, int] = field(factory=dict[str, int])
    """When state values were purged (epoch ms), by the paths of their files."""

    def takes_id(self, id: str | None) -> bool:
        return id is not None and id in self.entries

    def left_of(self, entry: MemoryEntry, *, is_new: bool) -> MemoryEntry | None:
        """What may stay of an entry: None, or the entry without the sessions that were forgotten among its sources. A new
        one that says what a forgotten note said, and was made before that was forgotten, goes, too."""
        tombstone = self.entries.get(entry.meta.id)
        if tombstone is not None and entry.meta.created_at_ms <= tombstone.at_ms:
            return None
        meta = entry.meta
        for each in self.sessions:
            session = SessionKey(each.session_id, each.harness)
            share = share_of(meta, session)
            if share == "all":
                return None
            if share == "some":
                meta = without_session(meta, session)
        if is_new and forgotten_note(self.entries.values(), meta.title, entry.body, meta.created_at_ms) is not None:
            return None
        return entry if meta is entry.meta else MemoryEntry(meta, entry.body)
