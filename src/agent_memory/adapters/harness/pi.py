"""Histories of Pi sessions, from the files that it keeps (`pi-session`)."""

from __future__ import annotations

from functools import partial

from returns.result import Result

from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.pi_session import PiSession
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    is_session_id,
    transcripts_below,
)
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.errors import Error
from agent_memory.values import frozen

_MAX_DEPTH = 2
"""Sessions are in `sessions/<directory>/`; a root may be the directory around `sessions`."""


@frozen
class PiSessions:
    """Reads session files inside `roots`, one line at a time (P25, P27). Errors: see `line_transcripts`."""

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "pi-session", find_session, partial(_read, mark))


def find_session(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest `<time>_<session id>.jsonl`; None where there is none."""
    if not is_session_id(session_id):
        return None
    end = f"_{session_id}.jsonl"
    found = transcripts_below(roots, lambda name: name.endswith(end), _MAX_DEPTH)
    return found[0] if found else None


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    session = read_session(file, mark, lambda new_from: PiSession(session_id, new_from))
    if session.full:
        # What was kept may all be on a branch that was left, and what counts come later.
        on_path = session.on_path
        session = read_session(file, mark, lambda new_from: PiSession(session_id, new_from, on_path))
    return history_in(session, file, "Pi")
