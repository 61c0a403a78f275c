"""Histories of GitHub Copilot CLI sessions, from the events that it keeps (`copilot-session`)."""

from __future__ import annotations

from functools import partial

from returns.result import Result

from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.copilot_session import CopilotSession
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    find_transcript,
    is_session_id,
)
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.errors import Error
from agent_memory.values import frozen

EVENTS_FILE = "events.jsonl"


@frozen
class CopilotSessions:
    """Reads `<session id>/events.jsonl` (since 1.0.11) or `<session id>.jsonl` inside `roots`, one line at a time (P25, P27).

    Errors: see `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "copilot-session", find_events, partial(_read, mark))


def find_events(roots: TranscriptRoots, session_id: str) -> str | None:
    """The file of the session's events, in its own directory before one of the older form; None where there is none."""
    if not is_session_id(session_id):
        return None
    own = (f"{root}/{session_id}/{EVENTS_FILE}" for root in roots.roots)
    return next((path for path in own if lies_there(path)), None) or find_transcript(roots, session_id)


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    return history_in(read_session(file, mark, partial(CopilotSession, session_id)), file, "Copilot")
