"""`memory forget`."""

from __future__ import annotations

import argparse

from agent_memory.app import Memory
from agent_memory.cli.arguments import ENTRY, add_choice, add_flag, add_id, set_command
from agent_memory.cli.console import Console
from agent_memory.cli.dialogue import is_agreed, open_here
from agent_memory.documents import fields_of
from agent_memory.errors import UsageInvalid
from agent_memory.note.note import Harness
from agent_memory.results import unwrap
from agent_memory.rules.forgotten import (
    ForgetTarget,
    SessionKey,
    lines_of,
    sentence_of as forgetting_in_words,
    what_stays,
)


def configure_forget(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    add_id(what, ENTRY, optional=True)
    what.add_argument("--session", metavar="ID", help="everything that comes only from this session")
    add_choice(parser, "--harness", Harness, "the harness of the session, if several have the same id")
    add_flag(parser, "--purge", "also rewrite the git history")
    add_flag(parser, "--dry-run", "show what would go and change nothing")
    add_flag(parser, "--yes", "do not ask")
    epilog = (
        "This is the only command that deletes. It removes the notes with all their versions, what the inbox, runs "
        "and kept histories hold of them, and every link to them. What other sessions taught as well stays, and is "
        "shown. A mark in state/forgotten/ keeps the same from being learnt again; remove its file to allow it. Runs "
        "that had a part in it cannot be undone any more. Only you can run this, not an agent. Exit codes: 0, 2 if "
        "there is no terminal to ask on, 20 for an unknown id, 75 if a run is at work."
    )
    set_command(parser, _forget, epilog, "memory forget --session T-1234 --purge --dry-run")


def _forget(arguments: argparse.Namespace, console: Console) -> None:
    memory = open_here(console)
    told = unwrap(memory.look_at_forgetting(_target(memory, arguments)))
    console.out(*lines_of(told))
    if not arguments.dry_run:
        question = f"{forgetting_in_words(told, done=False)} Go on?"
        if not arguments.yes and not is_agreed(console, question):
            console.warn("Nothing was changed.")
            return
        told = unwrap(memory.forget(told))
    done = not arguments.dry_run
    session, shared = told.target.session, memory.shared_here()
    remarks = (
        *what_stays(told),
        *(
            f"This repository still shares {id} with your team: `memory unshare {id}` takes it out."
            for id in told.ids
            if id in shared
        ),
    )
    document = {
        "done": done,
        "session": None if session is None else {"id": session.session_id, "harness": session.harness},
        "purge": told.target.purge,
        **fields_of(told, "notes", "shared", "mentions"),
        "unlinked": list(told.linked),
        **fields_of(told.work, "inbox", "runs", "marks"),
        "histories": [{"harness": harness, "session": id} for harness, id in told.work.histories],
        "remarks": list(remarks),
    }
    console.answer(document, forgetting_in_words(told, done=done), *remarks)


def _target(memory: Memory, arguments: argparse.Namespace) -> ForgetTarget:
    if arguments.session is None:
        if arguments.harness is not None:
            raise UsageInvalid("--harness goes with --session only")
        return ForgetTarget(arguments.id, purge=arguments.purge)
    wanted: str = arguments.session
    if not wanted.strip():
        raise UsageInvalid("--session needs an id")
    found = next((each.session_id for each in unwrap(memory.find_session(wanted))), wanted)
    if found != wanted and arguments.yes:
        raise UsageInvalid(f"{wanted!r} is only the beginning of the id {found}", "With --yes, give the whole id.")
    return ForgetTarget(session=SessionKey(found, arguments.harness), purge=arguments.purge)
