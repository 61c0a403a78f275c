"""Histories of Claude Code sessions, from the transcripts that it keeps (`claude-code-session`)."""

from __future__ import annotations

from functools import partial

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.harness.claude_session import ClaudeSession
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, find_transcript
from agent_memory.adapters.harness.turn_drafts import NewFrom
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.errors import Error


@frozen
class ClaudeCodeSessions:
    """Reads transcripts inside `roots`, one line at a time (P25, P27).

    A last line that is still being written is left for the next time. Order is that of the file, without what was rewound
    away or retracted. Left out by default, and counted: sub-agents' own turns (their final answers are tool turns),
    records of another session that a fork or resumption copied into the file, the harness's own texts.

    Errors: see `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "claude-code-session", find_transcript, partial(_read, mark))


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    def begin(new_from: NewFrom) -> ClaudeSession:
        return ClaudeSession(session_id, new_from, any_session=any_session)

    # A file whose records all name another session was found under this one's name: it is read as a whole.
    any_session = False
    session = read_session(file, mark, begin)
    if session.all_foreign:
        any_session = True
        session = read_session(file, mark, begin)
        session.turns.skip("session-id-mismatch")
    return history_in(session, file, "Claude Code")
