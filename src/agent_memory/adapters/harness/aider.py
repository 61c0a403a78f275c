"""Histories of aider's runs, from the chat history that it keeps in a directory (`aider-session`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.lines import Line, LongLine, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.aider_session import AiderRuns, Run
from agent_memory.adapters.harness.line_transcripts import fetch_session, not_looked_for
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    file_beside,
    roots_of,
    transcript,
)
from agent_memory.adapters.harness.turn_drafts import NewFrom, new_after, new_after_lost_record
from agent_memory.adapters.surroundings.git_index import is_tracked
from agent_memory.domain.history import History, SessionMark, transcript_key
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile, session_id_of
from agent_memory.domain.text.id_set import IdSet
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, TranscriptRefused
from agent_memory.results import sealed

CHAT_FILE = ".aider.chat.history.md"
INPUT_FILE = ".aider.input.history"
"""Where aider keeps what was typed, each line behind a `+`, beside the chat history."""
CHAT_FILE_VARIABLE = "AIDER_CHAT_HISTORY_FILE"
TRACKED = "git tracks it, so that others may have written what it says"
_MAX_DIRECTORIES_ABOVE = 40
_NOTHING_NEW = NewFrom(after_number=1 << 62)


@frozen
class AiderChats:
    """Reads chat histories, one line at a time (P25, P27): anywhere below `home` those of aider's own name, and what
    `$AIDER_CHAT_HISTORY_FILE` names; others inside the `further` roots.

    A chat history that git tracks came with the repository, perhaps, and then its prompts are nobody's here.
    HistoryUnavailable: missing, empty so far, without the run. HistoryUnreadable: no chat history. TranscriptRefused: see
    `transcript`, and one that git tracks.
    """

    home: str | None
    further: tuple[str, ...] = ()
    named_file: str | None = None

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        path = entry.retrieval.session_path if isinstance(entry.retrieval, SessionFile) else None
        cwd = entry.context.cwd
        try:
            path = path if path is not None else self.above(cwd) if cwd is not None else self.named_file
        except OSError as error:
            return Failure(not_looked_for(session_id_of(entry) or "", error))
        roots = self._roots_for(path)
        return fetch_session(roots, entry, "aider-session", lambda _, __: path, partial(_read_history, roots, mark))

    def runs(self, path: str) -> Result[tuple[Run, ...], Error]:
        """The runs in a chat history that have a prompt, in order."""

        with transcript(self._roots_for(path), path, path) as opened:
            match sealed(opened):
                case Success(file):
                    try:
                        return Success(tuple(_read(file, AiderRuns("", "", _NOTHING_NEW)).runs))
                    except OSError as error:
                        return Failure(HistoryUnavailable(path, f"it cannot be read: {error.strerror}"))
                case Failure() as failure:
                    return failure

    def _roots_for(self, path: str | None) -> TranscriptRoots:
        named = [os.path.dirname(self.named_file)] if self.named_file and path == self.named_file else []
        own = ["~"] if path is not None and os.path.basename(path) == CHAT_FILE else []
        return roots_of(self.home, [*named, *own], self.further)

    def above(self, directory: str) -> str | None:
        """The chat history of a directory or of one above it; aider keeps it at the top of the work tree. Raises OSError where it
        cannot be told whether there is one: that of a directory further up is another's (P6)."""
        for _ in range(_MAX_DIRECTORIES_ABOVE):
            path = os.path.join(directory, CHAT_FILE)
            if lies_there(path):
                return path
            if directory in (self.home, os.path.dirname(directory)):
                return None
            directory = os.path.dirname(directory)
        return None


def aider_chats(environ: Mapping[str, str], home: str | None, further: tuple[str, ...] = ()) -> AiderChats:
    """The chat histories that this environment tells of."""
    named = environ.get(CHAT_FILE_VARIABLE, "")
    return AiderChats(home, further, named if named.startswith("/") else None)


def _read_history(
    roots: TranscriptRoots, mark: SessionMark | None, file: OpenTranscript, session_id: str
) -> Result[History, Error]:
    if is_tracked(file.path):
        return Failure(TranscriptRefused(file.path, TRACKED))
    cwd, key = os.path.dirname(file.path), transcript_key(file.path)
    mark = None if mark is None else mark.within(key)
    typed = _typed_lines(roots, f"{cwd}/{INPUT_FILE}")
    session = _read(file, AiderRuns(session_id, cwd, new_after(mark), typed))
    if mark is not None and not session.turns.past_mark and not session.turns.own_call:
        session = _read(file, AiderRuns(session_id, cwd, new_after_lost_record(mark), typed))
        session.turns.skip("mark-not-found")
    return _history_in(session, file).map(lambda history: evolve(history, transcript=key))


def _typed_lines(roots: TranscriptRoots, path: str) -> IdSet:
    """The lines that were typed into aider; none where git tracks them, since they may be others' then. A command that aider
    ran because the agent asked for it stands there too. Raises OSError where they cannot be read (P6)."""
    typed = IdSet()
    with transcript(roots, path, path) as opened:
        file = file_beside(opened, path)
        for line in read_lines(file.descriptor, file.size_bytes) if file and not is_tracked(path) else ():
            if isinstance(line, Line) and line.data.startswith(b"+") and not line.data.startswith(b"+/run "):
                for each in line.data[1:].decode("utf-8", "replace").splitlines():
                    typed.add(each.strip())
    return typed


def _read(file: OpenTranscript, session: AiderRuns) -> AiderRuns:
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    for line in read_lines(file.descriptor, file.size_bytes, keep_empty=True):
        if isinstance(line, LongLine):
            session.turns.skip("line-too-long")
        elif session.passes_over(line.data):
            continue
        elif line.finished:
            session.take_line(line.data.decode("utf-8", "replace").removesuffix("\r").removeprefix("\ufeff"))
        else:
            session.turns.skip("unfinished-line")
        if session.done:
            break
    session.end()
    return session


def _history_in(session: AiderRuns, file: OpenTranscript) -> Result[History, Error]:
    if session.found:
        return Success(session.history())
    begun = session.turns.known_records == 0 and session.turns.skipped.keys() == {"unfinished-line"}
    if file.size_bytes == 0 or begun:
        return Failure(HistoryUnavailable(session.session_id, f"{file.path} is empty so far", is_missing=True))
    if session.turns.known_records:
        return Failure(
            HistoryUnavailable(
                session.session_id, f"{file.path} does not hold that run, or no prompt yet", is_missing=True
            )
        )
    return Failure(HistoryUnreadable(file.path, "there is no run of aider in it"))
