"""What consolidate leaves out because a person had it forgotten (P28)."""

from __future__ import annotations

from returns.result import Result, Success

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.change_set import ChangeSet
from agent_memory.domain.forgetting.relearning import without_forgotten
from agent_memory.domain.forgetting.tombstone import EntryTombstone, forgotten_note
from agent_memory.domain.inbox_entry import FileSnapshot, InboxEntry, InlineNote, session_id_of
from agent_memory.errors import Error
from agent_memory.pipelines.consolidate_io import ConsolidateIo


def why_forgotten(io: ConsolidateIo, entry: InboxEntry) -> Result[str | None, Error]:
    """Why the entry is not to be looked at, if so: its session was forgotten, or its note, which was put down before."""
    if io.tombstones is None:
        return Success(None)
    note = entry.retrieval
    if isinstance(note, InlineNote):
        return io.tombstones.of_entries().map(
            lambda known: (
                None if forgotten_note(known, note.title, note.body, entry.at_ms) is None else "the note was forgotten"
            )
        )
    session_id = session_id_of(entry)
    if session_id is None or isinstance(note, FileSnapshot):
        return Success(None)
    return io.tombstones.of_session(entry.harness, session_id).map(
        lambda tombstone: None if tombstone is None else "the session was forgotten"
    )


def unforgotten(io: ConsolidateIo, change_set: ChangeSet, request: SessionRequest) -> Result[ChangeSet, Error]:
    """The change set without what says again what was forgotten. A person's inline note is not among it: what of it was
    forgotten was never asked about (`why_forgotten`), and what came later is meant."""
    if io.tombstones is None or isinstance(request.entry.retrieval, InlineNote):
        return Success(change_set)
    shown = {each.meta.id: each for each in request.shown}

    def kept(known: tuple[EntryTombstone, ...]) -> ChangeSet:
        return without_forgotten(change_set, known, request.window, request.entry.at_ms, shown)

    return io.tombstones.of_entries().map(kept)
