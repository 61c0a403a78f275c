"""`memory forget`."""

from __future__ import annotations

import argparse
from typing import Any

from agent_memory.app import Memory
from agent_memory.domain.forgetting import ForgetTarget, Forgetting, SessionKey, lines_of, sentence_of, what_stays
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_choice, entry_id, open_here
from agent_memory.surfaces.cli.setup import is_agreed, require_terminal
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("id", metavar="ID", nargs="?", type=entry_id, help="an entry: id__a1b2c3, a1b2c3, or its file")
    what.add_argument("--session", metavar="ID", help="everything that comes from this session alone")
    add_choice(parser, "--harness", Harness, "of the session, where several harnesses have the same id")
    parser.add_argument("--purge", action="store_true", help="rewrite the git history, too")
    parser.add_argument("--dry-run", action="store_true", help="show what would go and change nothing")
    parser.add_argument("--yes", action="store_true", help="do it without asking")
    parser.epilog = (
        "The one command that deletes: notes with all their versions, what the inbox, the runs and kept histories hold of "
        "them, and every link to them. What a note shares with other sessions stays, and is shown. A tombstone keeps the "
        "same from being learnt again; remove its file in state/forgotten/ to allow it. Runs that had a part in it cannot "
        "be undone any more. For a person: refused where an agent is calling. Exit codes: 0, 2 where nobody can be asked, "
        "20 for an id that is unknown, 75 when a run is at work."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    seen = unwrap(memory.look_at_forgetting(_target(memory, arguments)))
    _show(console, seen.told)
    if arguments.dry_run:
        return _end(console, seen.told, done=False)
    if not arguments.yes:
        require_terminal(console, "memory forget")
        if not is_agreed(console, f"{sentence_of(seen.told, done=False)} Go on?"):
            console.err("memory: Nothing was changed.")
            return 1
    return _end(console, unwrap(memory.forget(seen)), done=True)


def _target(memory: Memory, arguments: argparse.Namespace) -> ForgetTarget:
    if arguments.session is None:
        if arguments.harness is not None:
            raise UsageInvalid("--harness belongs to --session")
        return ForgetTarget(arguments.id, purge=arguments.purge)
    named = None if arguments.harness is None else Harness(arguments.harness)
    wanted: str = arguments.session
    if not wanted.strip():
        raise UsageInvalid("--session needs an id")
    found = next((each.session_id for each in unwrap(memory.find_session(wanted))), wanted)
    if found != wanted and arguments.yes:
        raise UsageInvalid(f"{wanted!r} only begins the id {found}", "With --yes, give all of it.")
    return ForgetTarget(session=SessionKey(found, named), purge=arguments.purge)


def _show(console: Console, forgetting: Forgetting) -> None:
    for line in lines_of(forgetting):
        console.out(line)


def _end(console: Console, forgetting: Forgetting, *, done: bool) -> int:
    console.out(sentence_of(forgetting, done=done))
    for sentence in what_stays(forgetting):
        console.out(sentence)
    console.document(_document(forgetting, done=done))
    return 0


def _document(forgetting: Forgetting, *, done: bool) -> dict[str, Any]:
    session = forgetting.target.session
    return {
        "done": done,
        "session": None if session is None else {"id": session.session_id, "harness": session.harness},
        "purge": forgetting.target.purge,
        "notes": [
            {
                "id": each.id,
                "title": None if each.secret else each.title,
                "paths": list(each.paths),
                "versionsOnly": each.stays,
            }
            for each in forgetting.notes
        ],
        "shared": [{"id": each.id, "title": each.title, "others": list(each.others)} for each in forgetting.shared],
        "unlinked": list(forgetting.linked),
        "inbox": list(forgetting.inbox),
        "runs": list(forgetting.runs),
        "histories": [{"harness": harness, "session": id} for harness, id in forgetting.histories],
        "marks": list(forgetting.marks),
        "mentions": [
            {"id": each.id, "title": each.title, "archived": each.archived, "percent": each.percent}
            for each in forgetting.mentions
        ],
        "remarks": list(what_stays(forgetting)),
    }
