"""`memory capture`: a note, a session or a file for the inbox."""

from __future__ import annotations

import argparse
import os

from attrs import evolve
from returns.result import Success

from agent_memory.adapters.disk.paths import read_image
from agent_memory.adapters.disk.root import home_of
from agent_memory.adapters.harness import history_sources
from agent_memory.adapters.inbox.inbox_files import put_snapshot
from agent_memory.adapters.surroundings.own_calls import DEPTH_VARIABLE, is_marked, is_own_call
from agent_memory.adapters.surroundings.repository import read_repository
from agent_memory.app import Memory
from agent_memory.domain.queue import (
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
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.plain_text import clean_text
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import (
    ActRefused,
    Error,
    HistoryUnavailable,
    PathRefused,
    SessionForgotten,
    StoreIo,
    UsageInvalid,
)
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_choice, add_flag, set_command, tags_of, text_of
from agent_memory.surfaces.cli.dialogue import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.hook import run_hook


def configure_capture(parser: argparse.ArgumentParser) -> None:
    note = parser.add_argument_group("a note")
    note.add_argument("--title", help="what it is about, on one line")
    note.add_argument("--body", help="the note itself; `-` reads it from standard input")
    note.add_argument("--tags", help="separated by commas or spaces")
    add_choice(note, "--kind", Kind, "what it is")
    session = parser.add_argument_group("a session")
    add_choice(session, "--harness", Harness, "the agent program it ran in")
    session.add_argument("--thread-id", "--session", dest="session", metavar="ID", help="the harness's id of it")
    session.add_argument("--transcript", metavar="PATH", help="its file, where the harness keeps one")
    add_flag(session, "--hook", "read a hook's payload from standard input; always exits 0")
    parser.add_argument("--file", metavar="PATH", help="a text file, of which a redacted copy is kept")
    epilog = (
        "Examples:\n"
        '  memory capture --title "Deploys" --body "They run from main only" --tags deploy,ci\n'
        "  memory capture --harness amp --thread-id T-1234\n"
        "  memory capture --harness claude-code --hook < payload.json"
    )
    set_command(parser, _run, epilog)


def _run(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.hook:
        run_hook(["--harness", arguments.harness or "", "--hook"])
    name = _captured(open_here(console), arguments)
    said = f"Captured as inbox/{name}; `memory consolidate` turns it into notes."
    console.answer({"captured": name}, said)


def _captured(memory: Memory, arguments: argparse.Namespace) -> str:
    note = [name for name in ("title", "body", "tags", "kind") if getattr(arguments, name) is not None]
    session = [name for name in ("harness", "session", "transcript") if getattr(arguments, name) is not None]
    if arguments.file is not None:
        if others := [*note, *session]:
            raise _usage(f"--file stands alone, without --{others[0]}")
        return _put_file(memory, arguments.file)
    if note:
        missing = [f"--{name}" for name in ("title", "body") if name not in note]
        if missing:
            raise _usage(f"A note needs {' and '.join(missing)} too")
        if arguments.transcript is not None:
            raise _usage("A note has no --transcript")
        body, tags = text_of(arguments.body), tags_of(arguments.tags or "")
        inline = InlineNote(arguments.title, body, tags, arguments.kind, arguments.session)
        return put_note(memory, inline, arguments.harness)
    if arguments.session is None:
        raise _usage("There is nothing to capture")
    if arguments.harness is None:
        raise _usage("A session needs its harness, as in --harness amp")
    if not arguments.transcript:
        _check_is_somewhere(memory, arguments.harness, arguments.session)
    return _put_session(memory, arguments.harness, arguments.session, arguments.transcript)


def _usage(problem: str) -> UsageInvalid:
    return UsageInvalid(problem, "See `memory capture --help`.")


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
    except Error:
        return  # it is there; the run says what is wrong with it


def put_note(memory: Memory, note: InlineNote, harness: Harness | None = None) -> str:
    """The name of the new inbox entry. Redacted before it is written (P20). The entry names the harness that was given, else
    the one that is calling; inside a harness it is never `manual`, so that what an agent says is never taken for a person's
    word."""
    safe = evolve(note, title=" ".join(_safe(note.title).split()), body=_safe(note.body).strip("\n"))
    return _put(memory, memory.caller.harness if harness in (None, Harness.MANUAL) else harness, safe)


def _put_session(memory: Memory, harness: Harness, session_id: str, transcript: str | None) -> str:
    """The entry says where the session's history is."""
    if transcript is not None and f"{harness}-session" not in SESSION_METHODS:
        raise UsageInvalid(f"--transcript says nothing about a session of {harness}, which it keeps elsewhere")
    path = None if transcript is None else os.path.abspath(os.path.expanduser(transcript))
    retrieval = retrieval_of(harness, session_id, path)
    if retrieval is None:
        raise UsageInvalid(f"A session has a harness other than {harness}", "Name it with --harness.")
    return _put(memory, harness, retrieval)


def _put_file(memory: Memory, path: str) -> str:
    """Beside the entry lies a redacted copy of the file: later changes of the file do not matter."""
    _check_allowed(memory)
    copy = unwrap(put_snapshot(str(memory.root), redact(_text_of(path)).text, path, memory.clock.now_ms()))
    return _put(memory, memory.caller.harness, FileSnapshot(copy))


def _put(memory: Memory, harness: Harness, retrieval: Retrieval) -> str:
    _check_allowed(memory)
    context = Context()
    if memory.cwd is not None:
        found = read_repository(memory.cwd, memory.environ, home_of(memory.environ))
        context = Context(cwd=memory.cwd, repo=found.repo, branch=found.branch, commit=found.commit)
    entry = InboxEntry(memory.clock.now_ms(), harness, retrieval, context)
    session_id = session_id_of(entry)
    if session_id is not None and not isinstance(retrieval, InlineNote):  # a note in a forgotten session is a new one
        tombstone = unwrap(memory.tombstones.of_session(harness, session_id))
        if tombstone is not None:
            raise SessionForgotten(session_id, tombstone.at_ms)
    return unwrap(memory.inbox.put(entry))


def _check_allowed(memory: Memory) -> None:
    """ActRefused inside an agent command of ours: the system never captures its own calls (P23)."""
    if is_own_call(memory.environ):
        raise ActRefused("capture", DEPTH_VARIABLE)
    if memory.cwd is not None and is_marked(memory.cwd):
        raise ActRefused("capture", "a file .agent-memory-child here or above")


def _safe(text: str) -> str:
    return redact(clean_text(text).text).text


MAX_FILE_BYTES = 16 << 20


def _text_of(path: str) -> str:
    """The text of a regular file that a person names; a symbolic link is followed, a FIFO never waited for."""
    try:
        image = read_image(os.path.realpath(os.path.expanduser(path)), MAX_FILE_BYTES)
        text = "" if image is None else image.data.decode("utf-8-sig")
    except (PathRefused, StoreIo) as error:
        raise UsageInvalid(f"{path} cannot be read: {error.reason}") from None
    except UnicodeDecodeError:
        raise UsageInvalid(f"{path} is not text in UTF-8") from None
    if image is None:
        raise UsageInvalid(f"{path} cannot be read: No such file or directory")
    if "\0" in text:
        raise UsageInvalid(f"{path} is not text")
    if not text.strip():
        raise UsageInvalid(f"{path} is empty")
    return text
