"""Histories of opencode sessions: an export that is named, its database, its older files, else `opencode export`
(`opencode-session`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import child_environment
from agent_memory.adapters.agent.child_process import Finished, run_child
from agent_memory.adapters.disk.json_lines import objects_in
from agent_memory.adapters.disk.lines import MAX_LINE_BYTES, Line, read_lines
from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.any_json import mapping_at, objects_at
from agent_memory.adapters.harness.first_history import MaybeHistory, history_unless_empty
from agent_memory.adapters.harness.line_transcripts import not_looked_for, read_transcript, session_after
from agent_memory.adapters.harness.opencode_database import history_in_database, is_opencode_database
from agent_memory.adapters.harness.opencode_session import OpencodeSession
from agent_memory.adapters.harness.read_only_database import read_database
from agent_memory.adapters.harness.transcript_roots import OpenTranscript, TranscriptRoots, is_session_id, transcript
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, SessionFile
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error, HistoryUnavailable, HistoryUnreadable, StoreIo, TranscriptRefused
from agent_memory.results import sealed

TIMEOUT_SECONDS = 60.0
MAX_EXPORT_BYTES = MAX_LINE_BYTES
OPENCODE_VARIABLES = ("OPENCODE_DB", "OPENCODE_CHANNEL", "OPENCODE_DISABLE_CHANNEL_DB", "OPENCODE_CONFIG")

_SAID_CHARS = 200

RunsOpencode = Callable[[Sequence[str], str], Result[Finished, StoreIo]]
"""Runs one command in a directory to its end, within bounds of time and output."""


@frozen
class OpencodeCommand:
    """Runs `opencode`, without a shell and without plugins, within `TIMEOUT_SECONDS` and `MAX_EXPORT_BYTES`."""

    environ: Mapping[str, str]

    def __call__(self, argv: Sequence[str], cwd: str) -> Result[Finished, StoreIo]:
        """See `run_child`."""
        return run_child(
            argv,
            stdin=b"",
            env=child_environment(self.environ, OPENCODE_VARIABLES, {"OPENCODE_PURE": "1"}),
            cwd=cwd,
            timeout_seconds=TIMEOUT_SECONDS,
            max_stdout_bytes=MAX_EXPORT_BYTES,
        )


@frozen
class OpencodeSessions:
    """Reads `opencode.db` (and those of other channels, `opencode-*.db`) in one of the `roots`, then `storage`. The
    command is asked only where there is no database, or none that can be read, and no file: it starts all of opencode.

    Sessions with a parent, which are sub-agents', are automated. Errors: see `read_database` and `line_transcripts`.
    """

    roots: TranscriptRoots
    run: RunsOpencode
    database: str | None = None
    """What `$OPENCODE_DB` names."""

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        if not isinstance(entry.retrieval, SessionFile) or entry.retrieval.method != "opencode-session":
            raise TypeError(f"{entry.retrieval.method} is no opencode session")
        session_id, path = entry.retrieval.session_id, entry.retrieval.session_path
        if not is_session_id(session_id):
            return Failure(HistoryUnreadable(session_id, "it is not the id of an opencode session"))
        if path is not None and lies_there(path) and not is_opencode_database(os.path.basename(path)):
            return read_transcript(self.roots, path, session_id, partial(_read_export, mark))
        failure: Error | None = None
        try:
            databases = list(self._databases())
        except OSError as refused:
            return Failure(not_looked_for(session_id, refused))
        for look in self._looks(databases, session_id, mark):
            match sealed(look):
                case Success(history):
                    if history is not None:
                        return Success(history)
                case Failure(error):
                    failure = failure or error
        if isinstance(failure, TranscriptRefused):
            return Failure(failure)
        if databases and failure is None:
            where = ", ".join(databases)
            return Failure(
                HistoryUnavailable(session_id, f"opencode knows no such session in {where}", is_missing=True)
            )
        exported = self._export(session_id, entry.context.cwd, mark)
        return exported if isinstance(exported, Success) or failure is None else Failure(failure)

    def _looks(self, databases: list[str], session_id: str, mark: SessionMark | None) -> Iterator[MaybeHistory]:
        failed = False
        for database in databases:
            found = read_database(self.roots, database, session_id, partial(history_in_database, session_id, mark))
            failed = failed or isinstance(found, Failure)
            yield found
        if not failed:  # a file may be older than what a database holds
            for root in self.roots.roots:
                yield history_in_storage(Storage(self.roots, f"{root}/storage"), session_id, mark)

    def _databases(self) -> Iterator[str]:
        if self.database is not None and lies_there(self.database):
            yield self.database
        for root in self.roots.roots:
            for name in _database_names(root):
                if f"{root}/{name}" != self.database:
                    yield f"{root}/{name}"

    def _export(self, session_id: str, cwd: str | None, mark: SessionMark | None) -> Result[History, Error]:
        directory = cwd if cwd is not None and os.path.isdir(cwd) else "/"
        match sealed(self.run(("opencode", "export", session_id), directory)):
            case Failure(error):
                return Failure(HistoryUnavailable(session_id, _not_started(error)))
            case Success(finished):
                return _exported(finished, session_id, mark)


def _database_names(root: str) -> list[str]:
    try:
        names = os.listdir(root)
    except (FileNotFoundError, NotADirectoryError):
        return []
    # That of no channel comes first.
    return sorted(filter(is_opencode_database, names), key=lambda name: (name != "opencode.db", name))


def _exported(finished: Finished, session_id: str, mark: SessionMark | None) -> Result[History, Error]:
    if finished.timed_out:
        return Failure(HistoryUnavailable(session_id, f"opencode did not answer within {TIMEOUT_SECONDS:g} s"))
    if finished.stdout_capped:
        size = f"its export is larger than {MAX_EXPORT_BYTES // 2**20} MiB"
        return Failure(HistoryUnavailable(session_id, size))
    if finished.exit_status != 0:
        return Failure(HistoryUnavailable(session_id, _said(finished)))
    history = _history_of(finished.stdout, session_id, mark)
    return Failure(HistoryUnavailable(session_id, "opencode printed no session for it")) if history is None else history


def _read_export(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    if file.size_bytes > MAX_EXPORT_BYTES:
        return Failure(HistoryUnreadable(file.path, f"it is larger than {MAX_EXPORT_BYTES // 2**20} MiB"))
    with os.fdopen(file.descriptor, "rb", closefd=False) as opened:
        history = _history_of(opened.read(MAX_EXPORT_BYTES), session_id, mark)
    problem = f"it is no export of this session; `opencode export {session_id}` prints one"
    return Failure(HistoryUnreadable(file.path, problem)) if history is None else history


def _history_of(data: bytes, session_id: str, mark: SessionMark | None) -> Result[History, Error] | None:
    """What an export says; None where it is no export of this session."""
    export = next((each for each in objects_in(data).found if isinstance(each.get("messages"), list)), None)
    if export is None or mapping_at(export, "info").get("id", session_id) != session_id:
        return None
    return Success(
        session_after(mark, partial(OpencodeSession, session_id), partial(fill_from_export, export)).history()
    )


def fill_from_export(export: Mapping[str, object], session: OpencodeSession) -> None:
    """Give a session what an export holds: `{info, messages[{info, parts[]}]}`."""
    session.take("session", mapping_at(export, "info"))
    for message in objects_at(export, "messages"):
        session.take("message", mapping_at(message, "info"))
        for part in objects_at(message, "parts"):
            session.take("part", part)
        if session.done:
            return


def _said(finished: Finished) -> str:
    words = (finished.stderr_tail or finished.stdout[-_SAID_CHARS * 4 :]).decode("utf-8", "replace")
    said = one_line(redact(words).text, _SAID_CHARS)
    return f"opencode ended with status {finished.exit_status}" + (f": {said}" if said else "")


def _not_started(error: StoreIo) -> str:
    if error.errno_name in ("ENOENT", "EACCES", "ENOTDIR"):
        return "there is no session of opencode here, and the command opencode cannot be found or run"
    return f"opencode could not be started: {error.reason}"


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
