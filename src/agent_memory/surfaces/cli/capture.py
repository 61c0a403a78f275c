"""`memory capture`."""

from __future__ import annotations

import argparse

from returns.result import Failure, Result, Success

from agent_memory.adapters.harness import history_sources
from agent_memory.bootstrap import Memory
from agent_memory.domain.inbox_entry import Context, InboxEntry, SessionFile, retrieval_of
from agent_memory.domain.results import sealed
from agent_memory.domain.vocabulary import Harness, Kind
from agent_memory.errors import Error, HistoryUnavailable, UsageInvalid
from agent_memory.surfaces.capturing import Captor, Note, capture_file, capture_inline, capture_session
from agent_memory.surfaces.cli.opening import add_choice, with_memory
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.hook import run_hook
from agent_memory.surfaces.texts import text_of


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
