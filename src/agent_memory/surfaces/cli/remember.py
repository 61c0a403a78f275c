"""`memory remember`."""

from __future__ import annotations

import argparse
import sys

from returns.result import Failure, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.entry import Usage
from agent_memory.domain.note_draft import NoteDraft
from agent_memory.domain.results import sealed
from agent_memory.domain.tags import split_tags
from agent_memory.domain.vocabulary import Importance, Kind, Sensitivity
from agent_memory.formats.entry_json import entry_document
from agent_memory.service import Remembered
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the note; `-` reads it from standard input")
    parser.add_argument("--title", help="default: the first line")
    parser.add_argument("--description", help="one line; default: the first sentence")
    parser.add_argument("--tags", default="", help="separated by commas or spaces")
    parser.add_argument("--kind", choices=[each.value for each in Kind], default=Kind.FACT.value)
    parser.add_argument("--importance", choices=[each.value for each in Importance], default=Importance.MEDIUM.value)
    parser.add_argument("--sensitivity", choices=[each.value for each in Sensitivity], default=Sensitivity.NORMAL.value)
    parser.add_argument(
        "--scope", help="global, repo, or a repository's key; default: this repository, outside of one global"
    )
    parser.epilog = "Example: memory remember 'Deploys run from main only' --kind convention --tags deploy"


def run(arguments: argparse.Namespace, console: Console) -> int:
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if arguments.text == "-" else arguments.text

    def remember(memory: Memory) -> int:
        draft = NoteDraft(
            body=text,
            title=arguments.title,
            description=arguments.description,
            tags=split_tags(arguments.tags),
            kind=Kind(arguments.kind),
            scope=memory.scope_here() if arguments.scope in (None, "repo") else arguments.scope,
            importance=Importance(arguments.importance),
            sensitivity=Sensitivity(arguments.sensitivity),
            cwd=memory.cwd,
        )
        match sealed(memory.service.remember(draft)):
            case Failure(error):
                return console.fail(error)
            case Success(remembered):
                _print(console, remembered)
                return 0

    return with_memory(console, remember)


def _print(console: Console, remembered: Remembered) -> None:
    meta = remembered.stored.meta
    usage = Usage(meta.used, meta.last_used_at_ms)
    console.document(
        {
            **entry_document(remembered.stored.listed, usage, remembered.stored.body),
            "existing": remembered.existing,
            "similar": [each.meta.id for each in remembered.similar],
        }
    )
    if remembered.existing:
        console.out(f"Already stored as {meta.id}  {meta.title}")
        return
    console.out(f"Remembered {meta.id}  {meta.title}  ({meta.scope})")
    for each in remembered.similar:
        console.out(
            f"  similar, linked: {each.meta.id}  {each.meta.title}  (`memory edit {each.meta.id}` to update it)"
        )
