"""What `memory capture` puts into the inbox when a person or an agent calls it by hand."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import close_quietly
from agent_memory.adapters.forgetting.tombstone_files import TombstoneFiles
from agent_memory.adapters.inbox.inbox_snapshots import put_snapshot
from agent_memory.adapters.surroundings.own_calls import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.inbox_entry import (
    SESSION_METHODS,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    retrieval_of,
    session_id_of,
)
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.redaction import redact
from agent_memory.domain.results import sealed
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import ActRefused, Error, SessionForgotten, UsageInvalid
from agent_memory.ports import Inbox
from agent_memory.surfaces.texts import tags_of
from agent_memory.values import frozen

MAX_FILE_BYTES = 16 << 20


@frozen
class Captor:
    """Who captures, where to, and from where."""

    inbox: Inbox
    root: str
    caller: Caller
    environ: Mapping[str, str]
    cwd: str | None
    now_ms: int


@frozen
class Note:
    """A note as it was given on the command line."""

    title: str
    body: str
    tags: str = ""
    """Separated by commas or spaces."""
    kind: Kind | None = None
    thread_id: str | None = None


def capture_inline(captor: Captor, note: Note, harness: Harness | None = None) -> Result[str, Error]:
    """The name of the new inbox entry. Redacted before it is written (P20).

    The entry names the harness that was given, else the one that is calling; inside a harness it is never `manual`,
    so that what an agent says is never taken for a person's word.
    """

    def put(tags: tuple[str, ...]) -> Result[str, Error]:
        retrieval = InlineNote(
            title=" ".join(_safe(note.title).split()),
            body=_safe(note.body).strip("\n"),
            tags=tags,
            kind=note.kind,
            thread_id=note.thread_id,
        )
        named = captor.caller.harness if harness is None or harness is Harness.MANUAL else harness
        return _put(captor, named, retrieval)

    return tags_of(note.tags).bind(put)


def capture_session(
    captor: Captor, harness: Harness, session_id: str, transcript: str | None = None
) -> Result[str, Error]:
    """The name of the new inbox entry, which says where the session's history is."""
    method = f"{harness}-session"
    if transcript is not None and method not in SESSION_METHODS:
        return Failure(
            UsageInvalid(f"--transcript says nothing about a session of {harness}, which it keeps elsewhere")
        )
    path = None if transcript is None else os.path.abspath(os.path.expanduser(transcript))
    retrieval = retrieval_of(harness, session_id, path)
    if retrieval is None:
        return Failure(UsageInvalid(f"A session has a harness other than {harness}", "Name it with --harness."))
    return _put(captor, harness, retrieval)


def capture_file(captor: Captor, path: str) -> Result[str, Error]:
    """The name of the new inbox entry, beside a redacted copy of the file: later changes of the file do not matter."""
    match sealed(_allowed(captor).bind(lambda _: _text_of(path))):
        case Failure(error):
            return Failure(error)
        case Success(text):
            copied = put_snapshot(captor.root, redact(text).text, path, captor.now_ms)
            return copied.bind(lambda relative: _put(captor, captor.caller.harness, FileSnapshot(relative)))


def _safe(text: str) -> str:
    return redact(clean_text(text).text).text


def _put(captor: Captor, harness: Harness, retrieval: Retrieval) -> Result[str, Error]:
    entry = InboxEntry(captor.now_ms, harness, retrieval, _context(captor))
    return _allowed(captor).bind(lambda _: _remembered(captor, entry)).bind(lambda _: captor.inbox.put(entry))


def _remembered(captor: Captor, entry: InboxEntry) -> Result[None, Error]:
    """SessionForgotten for a session that a person had forgotten (P28). A note in it is a new one, and is taken."""
    session_id = session_id_of(entry)
    if session_id is None or isinstance(entry.retrieval, InlineNote):
        return Success(None)
    found = TombstoneFiles(Path(captor.root)).of_session(entry.harness, session_id)
    return found.bind(
        lambda tombstone: Success(None) if tombstone is None else Failure(SessionForgotten(session_id, tombstone.at_ms))
    )


def _allowed(captor: Captor) -> Result[None, Error]:
    """ActRefused inside an agent command of ours: the system never captures its own calls (P23)."""
    if is_own_call(captor.environ):
        return Failure(ActRefused("capture", DEPTH_VARIABLE))
    if captor.cwd is not None and is_marked(captor.cwd):
        return Failure(ActRefused("capture", "a file .agent-memory-child here or above"))
    return Success(None)


def _context(captor: Captor) -> Context:
    if captor.cwd is None:
        return Context()
    found = read_repository(captor.cwd, captor.environ, home_of(captor.environ))
    return Context(cwd=captor.cwd, repo=found.repo, branch=found.branch, commit=found.commit)


def _text_of(path: str) -> Result[str, Error]:
    """The text of a regular file that a person names; a symbolic link is followed, a FIFO never waited for."""
    try:
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return Failure(UsageInvalid(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Failure(UsageInvalid(f"{path} is not a regular file"))
        if status.st_size > MAX_FILE_BYTES:
            return Failure(UsageInvalid(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB"))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return _decoded(path, file.read(MAX_FILE_BYTES))
    except OSError as error:
        return Failure(UsageInvalid(f"{path} cannot be read: {error.strerror}"))
    finally:
        close_quietly(descriptor)


def _decoded(path: str, data: bytes) -> Result[str, Error]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Failure(UsageInvalid(f"{path} is not text in UTF-8"))
    if "\0" in text:
        return Failure(UsageInvalid(f"{path} is not text"))
    return Success(text) if text.strip() else Failure(UsageInvalid(f"{path} is empty"))
