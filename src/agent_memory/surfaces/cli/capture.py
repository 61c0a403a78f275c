"""`memory capture`."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from returns.result import Success

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
from agent_memory.errors import ERRORS, ActRefused, HistoryUnavailable, SessionForgotten, UsageInvalid
from agent_memory.ports import Inbox
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_choice, open_here
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
    memory = open_here(console)
    name = _captured(memory, arguments)
    console.document({"captured": name})
    console.out(f"Captured as inbox/{name}; `memory consolidate` turns it into notes.")
    return 0


def _captured(memory: Memory, arguments: argparse.Namespace) -> str:
    captor = Captor(memory.inbox, str(memory.root), memory.caller, memory.environ, memory.cwd, memory.clock.now_ms())
    note = [name for name in ("title", "body", "tags", "kind") if getattr(arguments, name) is not None]
    if arguments.file is not None:
        session = [name for name in ("harness", "session", "transcript") if getattr(arguments, name) is not None]
        if others := [*note, *session]:
            raise _usage(f"--file stands alone, without --{others[0]}")
        return capture_file(captor, arguments.file)
    harness = None if arguments.harness is None else Harness(arguments.harness)
    if note:
        return _note_captured(captor, arguments, harness)
    if arguments.session is None:
        raise _usage("There is nothing to capture")
    if harness is None:
        raise _usage("A session needs its harness, as in --harness amp")
    if not arguments.transcript:
        _check_is_somewhere(memory, harness, arguments.session)
    return capture_session(captor, harness, arguments.session, arguments.transcript)


def _check_is_somewhere(memory: Memory, harness: Harness, session: str) -> None:
    """HistoryUnavailable for a session of which no transcript is there, and nothing was kept: no run would ever find it. A
    harness that has to be asked for its sessions is asked by the run."""
    retrieval = retrieval_of(harness, session, None)
    if not isinstance(retrieval, SessionFile) or harness is Harness.OPENCODE:
        return
    entry = InboxEntry(memory.clock.now_ms(), harness, retrieval, Context(cwd=memory.cwd))
    try:
        unwrap(history_sources(memory.surroundings())[retrieval.method].fetch(entry, None))
    except HistoryUnavailable as absent:
        if absent.is_missing and memory.kept_histories.fetch(harness, session, None) == Success(None):
            raise
    except ERRORS:
        return  # it is there; the run says what is wrong with it


def _note_captured(captor: Captor, arguments: argparse.Namespace, harness: Harness | None) -> str:
    missing = [f"--{name}" for name in ("title", "body") if getattr(arguments, name) is None]
    if missing:
        raise _usage(f"A note needs {' and '.join(missing)} too")
    if arguments.transcript is not None:
        raise _usage("A note has no --transcript")
    kind = None if arguments.kind is None else Kind(arguments.kind)
    note = Note(arguments.title, text_of(arguments.body), arguments.tags or "", kind, arguments.session)
    return capture_inline(captor, note, harness)


def _usage(problem: str) -> UsageInvalid:
    return UsageInvalid(problem, "See `memory capture --help`.")


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


def capture_inline(captor: Captor, note: Note, harness: Harness | None = None) -> str:
    """The name of the new inbox entry. Redacted before it is written (P20).

    The entry names the harness that was given, else the one that is calling; inside a harness it is never `manual`,
    so that what an agent says is never taken for a person's word.
    """
    retrieval = InlineNote(
        title=" ".join(_safe(note.title).split()),
        body=_safe(note.body).strip("\n"),
        tags=tags_of(note.tags),
        kind=note.kind,
        thread_id=note.thread_id,
    )
    named = captor.caller.harness if harness is None or harness is Harness.MANUAL else harness
    return _put(captor, named, retrieval)


def capture_session(captor: Captor, harness: Harness, session_id: str, transcript: str | None = None) -> str:
    """The name of the new inbox entry, which says where the session's history is."""
    if transcript is not None and f"{harness}-session" not in SESSION_METHODS:
        raise UsageInvalid(f"--transcript says nothing about a session of {harness}, which it keeps elsewhere")
    path = None if transcript is None else os.path.abspath(os.path.expanduser(transcript))
    retrieval = retrieval_of(harness, session_id, path)
    if retrieval is None:
        raise UsageInvalid(f"A session has a harness other than {harness}", "Name it with --harness.")
    return _put(captor, harness, retrieval)


def capture_file(captor: Captor, path: str) -> str:
    """The name of the new inbox entry, beside a redacted copy of the file: later changes of the file do not matter."""
    _check_allowed(captor)
    copy = unwrap(put_snapshot(captor.root, redact(_text_of(path)).text, path, captor.now_ms))
    return _put(captor, captor.caller.harness, FileSnapshot(copy))


def _safe(text: str) -> str:
    return redact(clean_text(text).text).text


def _put(captor: Captor, harness: Harness, retrieval: Retrieval) -> str:
    _check_allowed(captor)
    entry = InboxEntry(captor.now_ms, harness, retrieval, _context(captor))
    session_id = session_id_of(entry)
    if session_id is not None and not isinstance(retrieval, InlineNote):  # a note in a forgotten session is a new one
        tombstone = unwrap(TombstoneFiles(Path(captor.root)).of_session(harness, session_id))
        if tombstone is not None:
            raise SessionForgotten(session_id, tombstone.at_ms)
    return unwrap(captor.inbox.put(entry))


def _check_allowed(captor: Captor) -> None:
    """ActRefused inside an agent command of ours: the system never captures its own calls (P23)."""
    if is_own_call(captor.environ):
        raise ActRefused("capture", DEPTH_VARIABLE)
    if captor.cwd is not None and is_marked(captor.cwd):
        raise ActRefused("capture", "a file .agent-memory-child here or above")


def _context(captor: Captor) -> Context:
    if captor.cwd is None:
        return Context()
    found = read_repository(captor.cwd, captor.environ, home_of(captor.environ))
    return Context(cwd=captor.cwd, repo=found.repo, branch=found.branch, commit=found.commit)


def _text_of(path: str) -> str:
    """The text of a regular file that a person names; a symbolic link is followed, a FIFO never waited for."""
    try:
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise UsageInvalid(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UsageInvalid(f"{path} is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise UsageInvalid(f"{path} is larger than {MAX_FILE_BYTES >> 20} MiB")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_FILE_BYTES)
    except OSError as error:
        raise UsageInvalid(f"{path} cannot be read: {error.strerror}") from None
    finally:
        close_quietly(descriptor)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageInvalid(f"{path} is not text in UTF-8") from None
    if "\0" in text:
        raise UsageInvalid(f"{path} is not text")
    if not text.strip():
        raise UsageInvalid(f"{path} is empty")
    return text
