"""`memory tags`."""

from __future__ import annotations

import argparse
from typing import Any, TypeVar

from agent_memory.app import Memory
from agent_memory.domain.tagging import Standing, TagUse, TagVocabulary
from agent_memory.errors import UsageInvalid
from agent_memory.keeping import Retagged, Tags
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.unreadable_notes import tell_unreadable, unreadable_documents

T = TypeVar("T")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="list|accept|rename", nargs="?", choices=["list", "accept", "rename"], help="what to do"
    )
    parser.add_argument("tags", metavar="TAG", nargs="*", help="`x` means topic__x")
    parser.add_argument("--all", action="store_true", help="accept every tag in use")
    parser.set_defaults(act="list")
    parser.epilog = (
        "`memory tags` lists the tags in use with the number of notes, and which look like one tag written twice. Until a "
        "tag is accepted, all are free; from then on others are proposed: a note keeps them, and `memory doctor` tells. "
        "`accept TAG …` takes tags into the vocabulary (state/project_tags.json), which consolidation goes by. `rename OLD "
        "NEW` gives every note the new tag in the place of the old one, as one commit, and whatever is written with the "
        "old one later. Both are a person's: inside an agent they are refused."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if problem := _usage_problem(arguments):
        raise problem
    acts = {"list": _list, "accept": _accept, "rename": _rename}
    memory = open_here(console)
    return acts[arguments.act](memory, arguments, console)


def _usage_problem(arguments: argparse.Namespace) -> UsageInvalid | None:
    given: list[str] = arguments.tags
    if arguments.all and arguments.act != "accept":
        return UsageInvalid("--all goes with `memory tags accept` only")
    match arguments.act:
        case "list" if given:
            return UsageInvalid("`memory tags list` takes no tags", "`memory list --tag TAG` lists the notes with one.")
        case "accept" if bool(given) == arguments.all:
            return UsageInvalid("`memory tags accept` takes tags, or --all")
        case "rename" if len(given) != 2:
            return UsageInvalid("`memory tags rename` takes two tags", "The call is `memory tags rename OLD NEW`.")
        case _:
            return None


def _list(memory: Memory, _arguments: argparse.Namespace, console: Console) -> int:
    def show(tags: Tags) -> None:
        console.document(
            {
                "tags": [_document(each) for each in tags.uses],
                "renamed": dict(sorted(tags.renamed.items())),
                "unreadable": unreadable_documents(tags.unreadable),
            }
        )
        if not console.is_terminal:
            for each in tags.uses:
                console.out("\t".join(_cells(each)))
        elif tags.uses:
            from agent_memory.surfaces.table import render_table

            console.out(render_table(("tag", "notes", "", "looks like"), [_cells(each) for each in tags.uses]))
        else:
            console.out("No tags yet. `memory remember TEXT --tags a,b` gives a note some.")
        tell_unreadable(console, tags.unreadable)

    show(unwrap(memory.tags.list()))
    return 0


def _accept(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    def show(vocabulary: TagVocabulary) -> None:
        console.document(
            {"vocabulary": sorted(vocabulary.accepted), "renamed": dict(sorted(vocabulary.renamed.items()))}
        )
        count = len(vocabulary.accepted)
        console.out(f"The vocabulary has {count} tag{'' if count == 1 else 's'} now.")

    def in_use(tags: Tags) -> list[str]:
        tell_unreadable(console, tags.unreadable)
        return [each.tag for each in tags.uses if each.notes]

    wanted: list[str] = in_use(unwrap(memory.tags.list())) if arguments.all else arguments.tags
    show(unwrap(memory.tags.accept(wanted)))
    return 0


def _rename(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    def show(done: Retagged) -> None:
        console.document(
            {
                "old": done.old,
                "new": done.new,
                "notes": list(done.notes),
                "left": [{"id": each.subject, "reasons": list(each.reasons)} for each in done.left],
            }
        )
        count = len(done.notes)
        console.out(f"{done.old} is {done.new} now, in {count} note{'' if count == 1 else 's'}.")
        for each in done.left:
            console.err(f"memory: {each.subject} was left as it is: {'; '.join(each.reasons)}.")

    show(unwrap(memory.tags.rename(*arguments.tags)))
    return 0


def _cells(use: TagUse) -> tuple[str, ...]:
    standing = "" if use.standing is Standing.FREE else use.standing.value
    return (use.tag, str(use.notes), standing, " ".join(use.like))


def _document(use: TagUse) -> dict[str, Any]:
    return {"tag": use.tag, "notes": use.notes, "standing": use.standing.value, "like": list(use.like)}
