"""Notes that are in the inbox entry itself (`inline`)."""

from __future__ import annotations

from attrs import frozen
from returns.result import Result, Success

from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, InlineNote
from agent_memory.domain.transcripts.note_history import note_history
from agent_memory.errors import Error


@frozen
class InlineNotes:
    """There is nothing to fetch, so that nothing can fail."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The note as one turn. A note is consolidated as a whole: it has no mark."""
        del mark
        if not isinstance(entry.retrieval, InlineNote):
            raise TypeError(f"{entry.retrieval.method} is no inline note")
        return Success(note_history(entry, entry.retrieval))
