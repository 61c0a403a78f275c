"""Histories of Codex threads, from the rollouts that it keeps (`codex-session`)."""

from __future__ import annotations

from functools import partial

from returns.result import Result

from agent_memory.adapters.harness.codex_session import CodexSession
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session, read_transcript
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

_MAX_DEPTH = 4
"""Rollouts are in `sessions/<year>/<month>/<day>/`; a root may be the directory around `sessions`."""


@frozen
class CodexSessions:
    """Reads rollouts inside `roots`, one line at a time (P25, P27).

    A sub-agent's rollout that an entry of its root session names is passed over for the root's own, which has the
    sub-agent's answer. Errors: see `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "codex-session", find_rollout, partial(self._read, mark))

    def _read(self, mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
        session = read_session(file, mark, partial(CodexSession, session_id))
        if session.root_id == session_id:
            path = find_rollout(self.roots, session_id)
            if path is not None and path != file.path:
                return read_transcript(self.roots, path, session_id, partial(_read_root, mark))
        return history_in(session, file, "Codex")


def find_rollout(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest `rollout-…-<session id>.jsonl`; None where there is none."""
    if not is_session_id(session_id):
        return None
    end = f"-{session_id}.jsonl"
    found = transcripts_below(roots, lambda name: name.startswith("rollout-") and name.endswith(end), _MAX_DEPTH)
    return found[0] if found else None


def _read_root(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    return history_in(read_session(file, mark, partial(CodexSession, session_id)), file, "Codex")
