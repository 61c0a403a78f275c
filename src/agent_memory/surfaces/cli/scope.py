"""`memory scope`."""

from __future__ import annotations

import argparse

from agent_memory.domain.health import ScopeUse
from agent_memory.domain.queueing.scope import stated_scope
from agent_memory.domain.run_log import short_id
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.scope_keeping import Moved
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="list|rename|merge", nargs="?", choices=["list", "rename", "merge"], help="what to do"
    )
    parser.add_argument("scopes", metavar="SCOPE", nargs="*", help="a repository's key, `path:/directory`, or `global`")
    parser.set_defaults(act="list")
    parser.epilog = (
        "`memory scope list` shows the places that notes belong to, and which of them are gone. A repository that was moved, "
        "renamed, or got another remote is known by its first commit, and its notes follow at the next command or session "
        "there. For whatever is not known again, such as a directory without git, `rename OLD NEW` gives the notes of one "
        "place to another, and `merge OLD NEW` does so where the other has notes already: each is one run, which `memory "
        "undo` takes back. Only you can run these two, not an agent."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    given: list[str] = arguments.scopes
    if arguments.act == "list":
        if given:
            return console.fail(
                UsageInvalid("`memory scope list` takes no scopes", "`memory list --scope SCOPE` does.")
            )
        memory = open_here(console)
        _show(unwrap(memory.scopes.list()), console)
        return 0
    scopes = [stated_scope(each) for each in given]
    if len(scopes) != 2 or None in scopes:
        hint = f"The call is `memory scope {arguments.act} OLD NEW`; `memory scope list` shows what there is."
        raise UsageInvalid(f"`memory scope {arguments.act}` takes two scopes", hint)
    old, new = (each or "" for each in scopes)

    memory = open_here(console)
    memory.only_a_person(f"scope {arguments.act}")
    _tell(old, unwrap(memory.scopes.rename(old, new, merge=arguments.act == "merge")), console)
    return 0


def _show(uses: tuple[ScopeUse, ...], console: Console) -> None:
    console.document(
        {"scopes": [{"scope": each.scope, "notes": each.notes, "gone": each.is_gone, "now": each.now} for each in uses]}
    )
    for each in uses:
        gone = f"gone; now {each.now}?" if each.now else "gone" if each.is_gone else ""
        console.out(f"{each.scope}\t{each.notes}\t{gone}".rstrip())


def _tell(old: str, done: Moved, console: Console) -> None:
    console.document(
        {
            "old": old,
            "new": done.new,
            "notes": list(done.notes),
            "left": [{"id": each.subject, "reasons": list(each.reasons)} for each in done.left],
            "run": done.run_id,
        }
    )
    count = len(done.notes)
    console.out(
        f"{count} note{'' if count == 1 else 's'} of {old} belong{'s' if count == 1 else ''} to {done.new} now; "
        f"`memory undo {short_id(done.run_id)}` takes that back."
    )
    for each in done.left:
        console.err(f"memory: {each.subject} was left as it is: {'; '.join(each.reasons)}.")
