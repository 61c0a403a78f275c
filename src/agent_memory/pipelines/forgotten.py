"""What consolidate leaves out because a person had it forgotten (P28)."""

from __future__ import annotations

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.change_set import ChangeSet
from agent_memory.domain.forgetting.tombstone import forgotten_note, without_forgotten
from agent_memory.domain.inbox_entry import FileSnapshot, InboxEntry, InlineNote, session_id_of
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.results import as_result, unwrap


@as_result
def why_forgotten(io: ConsolidateIo, entry: InboxEntry) -> str | None:
    """Why the entry is not to be looked at, if so: its session was forgotten, or its note, which was put down before."""
    if io.tombstones is None:
        return None
    note = entry.retrieval
    if isinstance(note, InlineNote):
        known = unwrap(io.tombstones.of_entries())
        said = forgotten_note(known, note.title, note.body, entry.at_ms)
        return None if said is None else "the note was forgotten"
    session_id = session_id_of(entry)
    if session_id is None or isinstance(note, FileSnapshot):
        return None
    tombstone = unwrap(io.tombstones.of_session(entry.harness, session_id))
    return None if tombstone is None else "the session was forgotten"


@as_result
def unforgotten(io: ConsolidateIo, change_set: ChangeSet, request: SessionRequest) -> ChangeSet:
    """The change set without what says again what was forgotten. A person's inline note is not among it: what of it was
    forgotten was never asked about (`why_forgotten`), and what came later is meant."""
    if io.tombstones is None or isinstance(request.entry.retrieval, InlineNote):
        return change_set
    shown = {each.meta.id: each for each in request.shown}
    known = unwrap(io.tombstones.of_entries())
    return without_forgotten(change_set, known, request.window, request.entry.at_ms, shown)
