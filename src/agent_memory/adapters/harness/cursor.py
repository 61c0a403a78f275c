"""Histories of Cursor conversations, of the editor and of its command line (`cursor-session`)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import partial

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.lines import Line, LongLine, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.cursor_plain_text import plain_text_pieces
from agent_memory.adapters.harness.cursor_session import CursorSession
from agent_memory.adapters.harness.cursor_siblings import TRANSCRIPTS, is_delegated, is_sub_agents
from agent_memory.adapters.harness.cursor_store import DATABASE, MISSING_BUBBLE, history_in_store
from agent_memory.adapters.harness.line_transcripts import history_in, not_looked_for, read_session, read_transcript
from agent_memory.adapters.harness.read_only_database import read_database
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    file_beside,
    is_session_id,
    transcript,
)
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.json_shape import is_object
from agent_memory.errors import Error, HistoryUnavailable
from agent_memory.values import frozen

_ID_OF_LINE = re.compile(r"\d+-[0-9a-f]{16}", re.ASCII)
_SUFFIXES = (".jsonl", ".txt")
_PROJECT_FILE = ".workspace-trusted"
_MAX_PROJECT_FILE_BYTES = 64 * 1024

_Pieces = Callable[[int, int], Iterator[Line | LongLine]]


@frozen
class CursorSessions:
    """Reads a conversation from the editor's store in one of the `roots`, and where that does not know it, or has lost
    some of it, from its transcript: `<project>/agent-transcripts/<id>/<id>.jsonl`, or in older versions `<id>.jsonl` or
    `<id>.txt` in `agent-transcripts`. What was begun from the transcript goes on from there: its records have other ids.

    Sub-agents' conversations are automated. Errors: see `read_database` and `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        retrieval = entry.retrieval
        if not isinstance(retrieval, SessionFile) or retrieval.method != "cursor-session":
            raise TypeError(f"{retrieval.method} is not cursor-session")
        from_transcript = mark is not None and _ID_OF_LINE.fullmatch(mark.last_record_id) is not None
        try:
            path = self._transcript_path(retrieval)
            stored = None if from_transcript and path is not None else self._stored(retrieval, mark)
        except OSError as error:
            return Failure(not_looked_for(retrieval.session_id, error))
        if path is None or _is_whole(stored):
            return stored or self._absent(retrieval.session_id)
        read = read_transcript(self.roots, path, retrieval.session_id, partial(self._read, mark))
        return stored if isinstance(read, Failure) and isinstance(stored, Success) else read

    def _absent(self, session_id: str) -> Result[History, Error]:
        where = ", ".join(self.roots.roots) or "any known directory"
        return Failure(
            HistoryUnavailable(session_id, f"there is no conversation {session_id} in {where}", is_missing=True)
        )

    def _stored(self, retrieval: SessionFile, mark: SessionMark | None) -> Result[History, Error] | None:
        """What the first store says that knows the conversation; else the first failure; None where none knows it."""
        failure: Result[History, Error] | None = None
        for database in self._databases(retrieval.session_path):
            id = retrieval.session_id
            found = read_database(self.roots, database, id, partial(history_in_store, id, mark))
            if isinstance(found, Failure):
                failure = failure or found
            elif (history := found.unwrap()) is not None:
                return Success(history)
        return failure

    def _databases(self, named: str | None) -> list[str]:
        paths = [f"{root}/{DATABASE}" for root in self.roots.roots]
        named_one = [named] if named is not None and named.endswith(DATABASE) else []
        return [*named_one, *(path for path in paths if path != named and lies_there(path))]

    def _transcript_path(self, retrieval: SessionFile) -> str | None:
        named = retrieval.session_path
        if named is not None and not named.endswith(DATABASE) and lies_there(named):
            return named
        found = _found(self.roots, retrieval.session_id)
        return found if named is None or named.endswith(DATABASE) else found or named

    def _read(self, mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
        pieces: _Pieces = plain_text_pieces if file.path.endswith(".txt") else read_lines
        session = read_session(file, mark, partial(CursorSession, session_id), pieces)
        facts = session.facts
        facts.cwd = _project_path(self.roots, file.path)
        alone = session.prompts == 1
        facts.automated = is_sub_agents(file.path) or (
            alone and is_delegated(self.roots, file.path, session.first_prompt)
        )
        return history_in(session, file, "Cursor")


def _is_whole(stored: Result[History, Error] | None) -> bool:
    return isinstance(stored, Success) and not stored.unwrap().skipped.get(MISSING_BUBBLE)


def _found(roots: TranscriptRoots, session_id: str) -> str | None:
    """The newest transcript of this conversation."""
    if not is_session_id(session_id):
        return None
    names = [name for suffix in _SUFFIXES for name in (f"{session_id}/{session_id}{suffix}", f"{session_id}{suffix}")]
    directories = [directory for root in roots.roots for directory in _directories(root)]
    paths = (f"{directory}/{name}" for directory in directories for name in names)
    return max((path for path in paths if lies_there(path)), key=lambda path: os.lstat(path).st_mtime, default=None)


def _directories(root: str) -> Iterator[str]:
    """Where conversations may be below a root that holds projects, is one, or holds a project's conversations."""
    yield root
    yield f"{root}/{TRANSCRIPTS}"
    try:
        with os.scandir(root) as entries:
            projects = [entry.path for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from (f"{project}/{TRANSCRIPTS}" for project in projects)


def _project_path(roots: TranscriptRoots, path: str) -> str | None:
    """Where the project is: its directory's name here cannot be turned back into a path, but a file in it says so. Raises
    OSError where that cannot be read: a note of it would hold everywhere (P6)."""
    project, found, _ = path.partition(f"/{TRANSCRIPTS}/")
    if not found:
        return None
    with transcript(roots, f"{project}/{_PROJECT_FILE}", "") as opened:
        file = file_beside(opened, path)
        if file is None:
            return None
        data = os.read(file.descriptor, _MAX_PROJECT_FILE_BYTES)
    return _path_in(data.decode("utf-8", "replace").strip())


def _path_in(text: str) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = {"workspacePath": text.splitlines()[0] if text else ""}
    path = value.get("workspacePath") if is_object(value) else None
    return path if isinstance(path, str) and path.startswith("/") else None
