"""`memory remember`."""

from __future__ import annotations

import argparse

from agent_memory.app import Memory
from agent_memory.domain.entry import Usage
from agent_memory.domain.note_draft import Expiry, NoteDraft
from agent_memory.domain.vocabulary import Importance, Kind, Sensitivity
from agent_memory.formats.entry_json import entry_document
from agent_memory.results import unwrap
from agent_memory.service import Remembered
from agent_memory.surfaces.cli.opening import add_choice, open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.periods import expiry_of
from agent_memory.surfaces.texts import scope_of, tags_of, text_of


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the note; `-` reads it from standard input")
    parser.add_argument("--title", help="default: the first line")
    parser.add_argument("--description", help="one line; default: the first sentence")
    parser.add_argument("--tags", default="", help="separated by commas or spaces")
    add_choice(parser, "--kind", Kind, "what it is")
    add_choice(parser, "--importance", Importance, "how much it matters")
    add_choice(parser, "--sensitivity", Sensitivity, "who may see it")
    parser.add_argument(
        "--expires", metavar="WHEN", help="30d, 12h, or 2026-12-31: then it goes to the archive; default: never"
    )
    parser.add_argument(
        "--scope", help="global, repo, or a repository's key; default: this repository, outside of one global"
    )
    parser.add_argument(
        "--supersedes",
        metavar="ID",
        action="append",
        default=[],
        help="a note that this one takes the place of: it goes to the archive; may be repeated",
    )
    parser.set_defaults(kind=Kind.FACT.value, importance=Importance.MEDIUM.value, sensitivity=Sensitivity.NORMAL.value)
    parser.epilog = "Example: memory remember 'Deploys run from main only' --kind convention --tags deploy"


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    draft = NoteDraft(
        tags=tags_of(arguments.tags),
        expiry=Expiry(None) if arguments.expires is None else expiry_of(arguments.expires, memory.clock.now_ms()),
        scope=scope_of(arguments.scope or "repo", memory.scope_here()),
        body=text_of(arguments.text),
        title=arguments.title,
        description=arguments.description,
        kind=Kind(arguments.kind),
        importance=Importance(arguments.importance),
        sensitivity=Sensitivity(arguments.sensitivity),
        cwd=memory.cwd,
        supersedes=tuple(arguments.supersedes),
        here=memory.scope_here(),
    )
    _print(memory, console, unwrap(memory.service.remember(draft)))
    return 0


def _print(memory: Memory, console: Console, remembered: Remembered) -> None:
    meta = remembered.stored.meta
    usage = Usage(meta.used, meta.last_used_at_ms)
    body = remembered.stored.body if meta.sensitivity is not Sensitivity.SECRET else None
    console.document(
        {
            **entry_document(
                remembered.stored.listed, usage, body, tier=memory.reading.tier_of(remembered.stored.listed)
            ),
            "existing": remembered.existing,
            "contradicted": [each.meta.id for each in remembered.contradicted],
            "similar": [each.meta.id for each in remembered.similar],
            "unresolved": list(remembered.unresolved),
        }
    )
    console.out(
        f"Already stored as {meta.id}  {meta.title}"
        if remembered.existing
        else f"Remembered {meta.id}  {meta.title}  ({meta.scope})"
    )
    for id in meta.supersedes:
        console.out(f"  in place of: {id}")
    for each in remembered.contradicted:
        console.out(
            f"  says otherwise: {each.meta.id}  {each.meta.title}  (another value of the same thing; "
            f"if it holds no more: say it again with `--supersedes {each.meta.id}`)"
        )
    for each in remembered.similar:
        if each not in remembered.contradicted:
            console.out(
                f"  similar, linked: {each.meta.id}  {each.meta.title}  (`memory edit {each.meta.id}` to update it)"
            )
    for target in () if console.json else remembered.unresolved:
        console.err(f"memory: The link to {target} leads nowhere: there is no such note.")
