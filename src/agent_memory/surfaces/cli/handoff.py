"""`memory handoff`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Failure, Success

from agent_memory.app import Memory
from agent_memory.domain.handing_over.words import handover_text
from agent_memory.domain.instants import iso_of
from agent_memory.domain.vocabulary import Harness
from agent_memory.pipelines.handing_over import Kept, Taken
from agent_memory.results import sealed, unwrap
from agent_memory.surfaces.cli.opening import add_choice, open_here
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="a session (default: the newest of this place)")
    add_choice(parser, "--harness", Harness, "the agent program the session ran in")
    add_choice(parser, "--to", Harness, "word it for the agent program that takes over")
    parser.add_argument("--no-store", action="store_true", help="print it, and keep no note of it")
    parser.epilog = (
        "What was asked, done, decided and is open, and the files, read from the session's own transcript; no agent "
        "command is called. Of a session that was cut off in the last seven days also the last words. It ends with the "
        "harness's own command to resume. Secrets are taken out. The note of it expires after seven days, and is brought "
        "up to date when the session goes on.\n\nExamples:\n"
        "  memory handoff --to codex | codex exec -\n"
        "  memory handoff --session 5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d --no-store"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    harness = None if arguments.harness is None else Harness(arguments.harness)
    taken = unwrap(memory.take_over(_whole(memory, arguments.session), harness))
    return _report(memory, console, taken, arguments)


def _whole(memory: Memory, session_id: str | None) -> str | None:
    """The id of the session that is meant, where a person gave only its beginning."""
    known = () if session_id is None else memory.find_session(session_id).value_or(())
    return known[0].session_id if known else session_id


def _report(memory: Memory, console: Console, taken: Taken, arguments: argparse.Namespace) -> int:
    to = None if arguments.to is None else Harness(arguments.to)
    text = handover_text(taken.handover, to)
    kept = Kept(None, "--no-store")
    if not arguments.no_store:
        match sealed(memory.keep_handover(taken)):
            case Failure(error):  # the handoff itself is there, and is what was asked for
                console.err(f"memory: {describe(error)}")
                kept = Kept(None, error.code)
            case Success(stored):
                kept = stored
    console.out(text)
    console.document(_document(taken, text, kept))
    return 0


def _document(taken: Taken, text: str, kept: Kept) -> dict[str, Any]:
    handover = taken.handover
    return {
        "harness": handover.harness,
        "session": handover.session_id,
        "cwd": handover.cwd,
        "branch": handover.branch,
        "endedAt": None if handover.ended_at_ms is None else iso_of(handover.ended_at_ms),
        "asked": list(handover.handoff.asked),
        "done": list(handover.handoff.done),
        "decided": list(handover.decided),
        "open": list(handover.handoff.open),
        "files": list(handover.handoff.files),
        "lastWords": [{"role": each.role, "text": each.text} for each in handover.exchanges],
        "resume": handover.resume,
        "text": text,
        "stored": kept.id,
        "notStoredBecause": kept.why_not or None,
    }
