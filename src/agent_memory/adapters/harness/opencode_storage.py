"""The sessions in the files that opencode kept before 1.2: `session/<project>/<session>.json`,
`message/<session>/<message>.json`, `part/<message>/<part>.json`. Ids ascend, and name the files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.first_history import MaybeHistory, history_unless_empty
from agent_memory.adapters.harness.line_transcripts import session_after
from agent_memory.adapters.harness.opencode_session import OpencodeSession
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, is_session_id, transcript
from agent_memory.domain.history import SessionMark
from agent_memory.domain.results import sealed
from agent_memory.errors import Error, HistoryUnavailable
from agent_memory.values import frozen

_SUFFIX = ".json"


@frozen
class Storage:
    """One `storage` directory, whose files are admitted like transcripts (P27)."""

    roots: TranscriptRoots
    path: str
    size_bytes: int = 1
    """It is a directory: never empty as a file may be."""


class _FailingFileError(Exception):
    """A file that is there and cannot be read now."""

    def __init__(self, error: Error) -> None:
        super().__init__()
        self.error = error


def history_in_storage(storage: Storage, session_id: str, mark: SessionMark | None) -> MaybeHistory:
    """The session's turns after the mark; None where there is no file of it."""
    try:
        path = _session_path(storage, session_id)
        if path is None:
            return Success(None)
        session = session_after(mark, partial(OpencodeSession, session_id), partial(_fill, storage, path, session_id))
    except _FailingFileError as failing:
        return Failure(failing.error)
    except OSError as error:
        return Failure(HistoryUnavailable(session_id, f"{storage.path} cannot be read: {error.strerror}"))
    return history_unless_empty(session, storage, "opencode")


def _session_path(storage: Storage, session_id: str) -> str | None:
    if not is_session_id(session_id):
        return None
    sessions = f"{storage.path}/session"
    paths = (f"{sessions}/{project}/{session_id}{_SUFFIX}" for project in _names(sessions))
    return next((path for path in paths if lies_there(path)), None)


def _fill(storage: Storage, path: str, session_id: str, session: OpencodeSession) -> None:
    about = _object(storage, path, session)
    if about is not None:
        session.take("session", about)
    for message_id in _ids(f"{storage.path}/message/{session_id}"):
        message = _object(storage, f"{storage.path}/message/{session_id}/{message_id}{_SUFFIX}", session)
        if message is None:
            continue
        session.take("message", {**message, "id": message_id})
        for part_id in _ids(f"{storage.path}/part/{message_id}"):
            if session.done:
                return
            part = _object(storage, f"{storage.path}/part/{message_id}/{part_id}{_SUFFIX}", session)
            if part is not None:
                session.take("part", {**part, "id": part_id})


def _ids(directory: str) -> Iterator[str]:
    ids = (name.removesuffix(_SUFFIX) for name in _names(directory) if name.endswith(_SUFFIX))
    return (id for id in ids if is_session_id(id))


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _object(storage: Storage, path: str, session: OpencodeSession) -> Mapping[str, object] | None:
    with transcript(storage.roots, path, session.session_id) as opened:
        found: Result[OpenTranscript, Error] = opened
        match sealed(found):
            case Success(file):
                if file.size_bytes > MAX_LINE_BYTES:
                    session.turns.skip("line-too-long")
                    return None
                # Indented over many lines, as one.
                pieces = read_lines(file.descriptor, file.size_bytes)
                text = b"\n".join(bytes(piece.data) for piece in pieces if isinstance(piece, Line))
            case Failure(error):
                raise _FailingFileError(error)
    objects = objects_in(text)
    if len(objects.found) != 1 or objects.broken:
        session.turns.skip("line-too-complex" if objects.too_many_values else "bad-line")
        return None
    return objects.found[0]
