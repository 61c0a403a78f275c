"""`memory capture`."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.durable import close_quietly
from agent_memory.adapters.forgetting.forgetting_files import TombstoneFiles
from agent_memory.adapters.harness import history_sources
from agent_memory.adapters.inbox.inbox_exit import put_snapshot
from agent_memory.adapters.surroundings.own_calls import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.app import Memory
from agent_memory.domain.inbox_entry import (
    SESSION_METHODS,
    Context,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Retrieval,
    SessionFile,
    retrieval_of,
    session_id_of,
)
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import ActRefused, Error, HistoryUnavailable, SessionForgotten, UsageInvalid
from agent_memory.ports import Inbox
from agent_memory.results import sealed
from agent_memory.surfaces.cli.opening import add_choice, with_memory
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.hook import run_hook
from agent_memory.surfaces.texts import tags_of, text_of


def configure(parser: argparse.ArgumentParser) -> None:
    note = parser.add_argument_group("a note")
    note.add_argument("--title", help="what it is about, on one line")
    note.add_argument("--body", help="the note itself; `-` reads it from standard input")
    note.add_argument("--tags", help="separated by commas or spaces")
    add_choice(note, "--kind", Kind, "what it is")
    session = parser.add_argument_group("a session")
    add_choice(session, "--harness", Harness, "the agent program it ran in")
    session.add_argument("--thread-id", "--session", dest="session", metavar="ID", help="the harness's id of it")
    session.add_argument("--transcript", metavar="PATH", help="its file, where the harness keeps one")
    session.add_argument(
        "--hook", action="store_true", help="read a hook's payload from standard input; always exits 0"
    )
    parser.add_argument("--file", metavar="PATH", help="a text file, of which a redacted copy is kept")
    parser.epilog = (
        "Examples:\n"
        '  memory capture --title "Deploys" --body "They run from main only" --tags deploy,ci\n'
        "  memory capture --harness amp --thread-id T-1234\n"
        "  memory capture --harness claude-code --hook < payload.json"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.hook:
        run_hook(["--harness", arguments.harness or "", "--hook"])

    def capture(memory: Memory) -> int:
        match sealed(_captured(memory, arguments)):
            case Failure(error):
                return console.fail(error)
            case Success(name):
                console.document({"captured": name})
                console.out(f"Captured as inbox/{name}; `memory consolidate` turns it into notes.")
                return 0

    return with_memory(console, capture)


def _captured(memory: Memory, arguments: argparse.Namespace) -> Result[str, Error]:
    captor = Captor(memory.inbox, str(memory.root), memory.caller, memory.environ, memory.cwd, memory.clock.now_ms())
    note = [name for name in ("title", "body", "tags", "kind") if getattr(arguments, name) is not None]
    if arguments.file is not None:
        others = [
            *note,
            *(name for name in ("harness", "session", "transcript") if getattr(arguments, name) is not None),
        ]
        if others:
            return _usage(f"--file stands alone, without --{others[0]}")
        return capture_file(captor, arguments.file)
    harness = None if arguments.harness is None else Harness(arguments.harness)
    if note:
        return _note_captured(captor, arguments, harness)
    if arguments.session is None:
        return _usage("There is nothing to capture")
    if harness is None:
        return _usage("A session needs its harness, as in --harness amp")
    known = Success(None) if arguments.transcript else _is_somewhere(memory, harness, arguments.session)
    return known.bind(lambda _: capture_session(captor, harness, arguments.session, arguments.transcript))


def _is_somewhere(memory: Memory, harness: Harness, session: str) -> Result[None, Error]:
    """HistoryUnavailable for a session of which no transcript is there, and nothing was kept: no run would ever find it. A
    harness that has to be asked for its sessions is asked by the run."""
    retrieval = retrieval_of(harness, session, None)
    if not isinstance(retrieval, SessionFile) or harness is Harness.OPENCODE:
        return Success(None)
    entry = InboxEntry(memory.clock.now_ms(), harness, retrieval, Context(cwd=memory.cwd))
    source = history_sources(memory.surroundings())[retrieval.method]
    match sealed(source.fetch(entry, None)):
        case Failure(HistoryUnavailable(is_missing=True) as missing):
            kept = memory.kept_histories.fetch(harness, session, None)
            return Success(None) if isinstance(kept, Failure) or kept.unwrap() is not None else Failure(missing)
        case _:
            return Success(None)


def _note_captured(captor: Captor, arguments: argparse.Namespace, harness: Harness | None) -> Result[str, Error]:
    missing = [f"--{name}" for name in ("title", "body") if getattr(arguments, name) is None]
    if missing:
        return _usage(f"A note needs {' and '.join(missing)} too")
    if arguments.transcript is not None:
        return _usage("A note has no --transcript")
    match sealed(text_of(arguments.body)):
        case Failure(error):
            return Failure(error)
        case Success(body):
            kind = None if arguments.kind is None else Kind(arguments.kind)
            note = Note(arguments.title, body, arguments.tags or "", kind, arguments.session)
            return capture_inline(captor, note, harness)


def _usage(problem: str) -> Failure[Error]:
    return Failure(UsageInvalid(problem, "See `memory capture --help`."))


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
