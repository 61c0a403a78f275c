"""Reading a transcript file of one record a line: what the harnesses that write such files share (P25, P27)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import Line, LongLine, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, transcript
from agent_memory.adapters.harness.turn_drafts import NewFrom, new_after, new_after_lost_record
from agent_memory.domain.history import History, SessionMark, transcript_key
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile, SessionMethod
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable
from agent_memory.results import sealed

FindsTranscript = Callable[[TranscriptRoots, str], "str | None"]
"""The path of a session's transcript inside the roots, by the session's id; None where there is none. Raises OSError where
that cannot be looked for."""

ReadsPieces = Callable[[int, int], "Iterator[Line | LongLine]"]
"""The pieces of an open file of so many bytes, each of which holds one JSON object."""


class LineSession(Protocol):
    """Takes the objects of a transcript in the order of the file."""

    session_id: str
    turns: SessionTurns

    @property
    def done(self) -> bool:
        """Nothing that comes can matter."""
        ...

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object. Never raises for what it holds; every object is counted as known, unknown or skipped."""
        ...

    def history(self) -> History:
        """What the objects so far say."""
        ...


class Stored(Protocol):
    """What a session was read from."""

    @property
    def path(self) -> str: ...

    @property
    def size_bytes(self) -> int: ...


_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

Session = TypeVar("Session", bound=LineSession)


def fetch_session(
    roots: TranscriptRoots,
    entry: InboxEntry,
    method: SessionMethod,
    find: FindsTranscript,
    read: Callable[[OpenTranscript, str], Result[History, Error]],
) -> Result[History, Error]:
    """What `read` makes of the entry's transcript: the one that it names, else the one that `find` finds.

    HistoryUnavailable: no transcript (yet: `is_missing`), or a failing read. TranscriptRefused: see `transcript`.
    """
    retrieval = entry.retrieval
    if not isinstance(retrieval, SessionFile) or retrieval.method != method:
        raise TypeError(f"{retrieval.method} is not {method}")
    session_id = retrieval.session_id
    path = retrieval.session_path
    try:
        if path is None or not lies_there(path):  # moved with its project, perhaps
            path = find(roots, session_id) or path
    except OSError as error:
        return Failure(not_looked_for(session_id, error))
    if path is None:
        where = ", ".join(roots.roots) or "any known directory"
        return Failure(HistoryUnavailable(session_id, f"there is no transcript of it in {where}", is_missing=True))
    return read_transcript(roots, path, session_id, read)


def not_looked_for(session_id: str, error: OSError) -> HistoryUnavailable:
    """Why it is not known where a session's transcript is."""
    return HistoryUnavailable(
        session_id, f"{error.filename or 'a directory'} cannot be looked through: {error.strerror}"
    )


def read_transcript(
    roots: TranscriptRoots,
    path: str,
    session_id: str,
    read: Callable[[OpenTranscript, str], Result[History, Error]],
) -> Result[History, Error]:
    """What `read` makes of the transcript at `path`; a failing read is HistoryUnavailable."""
    with transcript(roots, path, session_id) as opened:
        match sealed(opened):
            case Success(file):
                try:
                    return read(file, session_id)
                except OSError as error:
                    return Failure(HistoryUnavailable(session_id, f"{path} cannot be read: {error.strerror}"))
            case Failure() as failure:
                return failure


def read_session(
    file: OpenTranscript,
    mark: SessionMark | None,
    begin: Callable[[NewFrom], Session],
    pieces: ReadsPieces = read_lines,
) -> Session:
    """The session with all that is new in the file. Read once, or again where the record of the mark is not in it. The mark
    of another file of the same session says nothing of this one."""
    own = None if mark is None else mark.within(transcript_key(file.path))
    return session_after(own, begin, lambda session: read_through(file, session, pieces))


def session_after(
    mark: SessionMark | None, begin: Callable[[NewFrom], Session], fill: Callable[[Session], object]
) -> Session:
    """The session with all that is new of what `fill` puts into it. It is filled once, or another is where the record of
    the mark did not come."""
    session = begin(new_after(mark))
    fill(session)
    if mark is not None and not session.turns.past_mark and not session.turns.own_call:
        session = begin(new_after_lost_record(mark))
        fill(session)
        session.turns.skip("mark-not-found")
    return session


def read_through(file: OpenTranscript, session: Session, pieces: ReadsPieces = read_lines) -> Session:
    """The session, after it took the file's objects one at a time. The whole file is read each time, so that a turn has
    the same number in every fetch; only what is new is kept. Raises OSError where a read fails."""
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    for piece in pieces(file.descriptor, file.size_bytes):
        if isinstance(piece, LongLine):
            session.turns.skip("line-too-long")
            continue
        _take_line(session, piece)
        if session.done:
            break
    return session


def history_in(session: LineSession, file: Stored, harness_name: str) -> Result[History, Error]:
    """The history, unless the file is not what it should be.

    HistoryUnavailable: empty, or with a first record still being written. HistoryUnreadable: nothing in it is a record of
    the harness, or most are of kinds that it did not write when this version was made and the person's or the agent's words
    are not among the others.
    """
    turns = session.turns
    transcript = transcript_key(file.path) if isinstance(file, OpenTranscript) else ""
    if turns.own_call:
        return Success(session.history())
    if turns.seems_strange:
        records = turns.unknown_records + turns.known_records
        unknown = f"{turns.unknown_records} of its {records} records are of kinds not known to this version"
        return Failure(
            HistoryUnreadable(
                file.path, f"{unknown}; the format of {harness_name} seems to have changed: update memory"
            )
        )
    if turns.known_records:
        return Success(evolve(session.history(), transcript=transcript))
    if file.size_bytes == 0:
        return Failure(HistoryUnavailable(session.session_id, f"{file.path} is empty so far", is_missing=True))
    if turns.skipped.keys() == {"unfinished-line"}:
        reason = f"the first record of {file.path} is still being written"
        return Failure(HistoryUnavailable(session.session_id, reason, is_missing=True))
    return Failure(HistoryUnreadable(file.path, f"there is no record of {harness_name} in it"))


def _take_line(session: LineSession, line: Line) -> None:
    if line.data[:2] in _UTF_16_MARKS:
        session.turns.skip("utf-16")
        return
    objects = objects_in(line.data, finished=line.finished)
    for value in objects.found:
        if not session.done:
            session.take_object(value)
    if objects.too_many_values:
        session.turns.skip("line-too-complex")
    elif objects.broken:
        is_stump = not line.finished and line.data.lstrip()[:1] == b"{"
        session.turns.skip("unfinished-line" if is_stump else "bad-line")
