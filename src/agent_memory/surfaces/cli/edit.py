"""`memory edit`: by flags, or in the person's editor."""

from __future__ import annotations

import argparse

from agent_memory.app import Memory
from agent_memory.domain.entry import MemoryEntry, StoredEntry
from agent_memory.domain.note_draft import MetaPatch
from agent_memory.domain.vocabulary import Importance, Kind, Sensitivity
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_choice, add_id, open_here, report_change
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.periods import expiry_of
from agent_memory.surfaces.texts import scope_of, tags_of, text_of

_HINT = "Say what to change: --title, --body, --tags …"


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.add_argument("--title", help="the new title, on one line")
    parser.add_argument("--description", help="the new description, on one line")
    parser.add_argument("--body", help="the new text; `-` reads it from standard input")
    parser.add_argument("--tags", help="the new tags, separated by commas or spaces")
    add_choice(parser, "--kind", Kind, "what it is")
    add_choice(parser, "--importance", Importance, "how much it matters")
    add_choice(parser, "--sensitivity", Sensitivity, "who may see it")
    parser.add_argument("--scope", help="global, repo, or a repository's key")
    parser.add_argument("--expires", metavar="WHEN", help="30d, 12h, 2026-12-31, or never: then it goes to the archive")
    parser.epilog = "Without any of these the note opens in $VISUAL or $EDITOR. The earlier text stays in the archive."


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    before = memory.store.read(arguments.id).map(lambda stored: stored.listed.content_hash).value_or(None)
    edited = _edited(memory, arguments, console)
    done = "Nothing changed in" if edited.listed.content_hash == before else "Edited"
    return report_change(memory, console, done, edited)


def _edited(memory: Memory, arguments: argparse.Namespace, console: Console) -> StoredEntry:
    patch = MetaPatch(
        title=arguments.title,
        description=arguments.description,
        kind=Kind(arguments.kind) if arguments.kind else None,
        importance=Importance(arguments.importance) if arguments.importance else None,
        sensitivity=Sensitivity(arguments.sensitivity) if arguments.sensitivity else None,
        tags=None if arguments.tags is None else tags_of(arguments.tags),
        expiry=None if arguments.expires is None else expiry_of(arguments.expires, memory.clock.now_ms()),
        scope=None if arguments.scope is None else scope_of(arguments.scope, memory.scope_here()),
    )
    if patch == MetaPatch() and arguments.body is None:
        return _in_editor(memory, arguments.id, console)
    body = None if arguments.body is None else text_of(arguments.body)
    return unwrap(memory.service.edit(arguments.id, patch, body))


def _in_editor(memory: Memory, id: str, console: Console) -> StoredEntry:
    from agent_memory.surfaces.editor import edited_in, editor_of

    if memory.caller.is_agent:
        raise UsageInvalid("An agent has no editor", _HINT)
    editor = editor_of(memory.environ, _HINT)
    stored = unwrap(memory.store.read(id))

    def store(entry: MemoryEntry) -> StoredEntry:
        return unwrap(memory.service.replace(id, entry, stored.listed.content_hash))

    return edited_in(editor, stored, store, lambda remark: console.err(f"memory: {remark}"))
