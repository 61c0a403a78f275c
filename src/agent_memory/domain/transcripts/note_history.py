"""An inline note as a history of one turn."""

from __future__ import annotations

from hashlib import blake2b

from agent_memory.domain.history import History, Role, Turn
from agent_memory.domain.inbox_entry import InboxEntry, InlineNote
from agent_memory.domain.transcripts.turns import USER_TEXT_CHARS, excerpt, readable
from agent_memory.domain.vocabulary import Harness


def note_history(entry: InboxEntry, note: InlineNote) -> History:
    """One turn with the note's title and body: the person's if they wrote it at a terminal, else the agent's.

    The session id is made from the note, since the thread that the note may name has turns and a mark of its own.
    """
    text = excerpt(f"{note.title}\n\n{note.body}", USER_TEXT_CHARS)
    told = "\0".join((str(entry.at_ms), note.title, note.body)).encode("utf-8", "surrogatepass")
    id = f"note-{blake2b(told, digest_size=10).hexdigest()}"
    role = Role.USER if entry.harness is Harness.MANUAL else Role.AGENT
    turn = Turn(1, role, readable(text.text), id, entry.at_ms, clipped_chars=text.clipped_chars)
    return History(
        harness=entry.harness,
        session_id=id,
        turns=(turn,),
        title=note.title,
        cwd=entry.context.cwd,
        branch=entry.context.branch,
        started_at_ms=entry.at_ms,
        ended_at_ms=entry.at_ms,
    )
