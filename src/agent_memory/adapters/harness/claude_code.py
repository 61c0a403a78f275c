"""Histories of Claude Code sessions, from the transcripts that it keeps (`claude-code-session`)."""

from __future__ import annotations

import os

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import Line, LongLine, read_lines
from agent_memory.adapters.harness.claude_records import read_record
from agent_memory.adapters.harness.claude_session import ClaudeSession, NewFrom, new_after, new_after_lost_record
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, find_transcript, transcript
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable


@frozen
class ClaudeCodeSessions:
    """Reads transcripts inside `roots`, one line at a time (P25, P27).

    The whole file is read each time, so that a turn has the same number in every fetch; only what is new is kept. A last
    line that is still being written is left for the next time. Order is that of the file, without what was rewound away
    or retracted. Left out by default, and counted: sub-agents' own turns (their final answers are tool turns), records of
    another session that a fork or resumption copied into the file, the harness's own texts.

    HistoryUnavailable: no transcript (yet), an empty one, or a failing read. HistoryUnreadable: not one record of Claude
    Code in it. TranscriptRefused: see `transcript`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        retrieval = entry.retrieval
        if not isinstance(retrieval, SessionFile):
            raise TypeError(f"{retrieval.method} is not kept in a Claude Code transcript")
        session_id = retrieval.session_id
        path = retrieval.session_path
        if path is None or not os.path.lexists(path):  # moved with its project, perhaps
            path = find_transcript(self.roots, session_id) or path
        if path is None:
            where = ", ".join(self.roots.roots) or "any known directory"
            return Failure(HistoryUnavailable(session_id, f"there is no transcript {session_id}.jsonl in {where}"))
        return self._read(path, session_id, mark)

    def _read(self, path: str, session_id: str, mark: SessionMark | None) -> Result[History, Error]:
        with transcript(self.roots, path, session_id) as opened:
            match sealed(opened):
                case Success(file):
                    try:
                        session = _session(file, session_id, mark)
                    except OSError as error:
                        return Failure(HistoryUnavailable(session_id, f"{path} cannot be read: {error.strerror}"))
                    return _history(session, file)
                case Failure() as failure:
                    return failure


def _session(file: OpenTranscript, session_id: str, mark: SessionMark | None) -> ClaudeSession:
    """Read once, or again where it turns out that the file holds none of the ids it was read for."""
    new_from, any_session = new_after(mark), False
    session = _read_through(file, session_id, new_from, any_session)
    if session.all_foreign:
        any_session = True
        session = _read_through(file, session_id, new_from, any_session)
        session.skip("session-id-mismatch")
    if mark is not None and session.lost_its_mark and not session.own_call:
        session = _read_through(file, session_id, new_after_lost_record(mark), any_session)
        session.skip("mark-not-found")
    return session


def _read_through(file: OpenTranscript, session_id: str, new_from: NewFrom, any_session: bool) -> ClaudeSession:
    session = ClaudeSession(session_id, new_from, any_session=any_session)
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    for line in read_lines(file.descriptor, file.size_bytes):
        if isinstance(line, LongLine):
            session.skip("line-too-long")
            continue
        _take_line(session, line)
        if session.full or session.own_call:
            break
    return session


def _take_line(session: ClaudeSession, line: Line) -> None:
    objects = objects_in(line.data, finished=line.finished)
    for value in objects.found:
        record = read_record(value)
        if record is None:
            session.skip("bad-record")
        elif not session.full:
            session.take(record)
    if objects.too_many_values:
        session.skip("line-too-complex")
    elif objects.broken:
        session.skip("bad-line" if line.finished else "unfinished-line")


def _history(session: ClaudeSession, file: OpenTranscript) -> Result[History, Error]:
    if not session.found_nothing:
        return Success(session.history())
    if file.size_bytes == 0:
        return Failure(HistoryUnavailable(session.session_id, f"{file.path} is empty so far"))
    if session.history().skipped.keys() == {"unfinished-line"}:
        return Failure(
            HistoryUnavailable(session.session_id, f"the first record of {file.path} is still being written")
        )
    return Failure(HistoryUnreadable(file.path, "there is no record of Claude Code in it"))
