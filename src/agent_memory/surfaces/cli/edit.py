"""`memory edit`: by flags, or in the person's editor."""

from __future__ import annotations

import argparse

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.app import Memory
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.note_draft import Expiry, MetaPatch
from agent_memory.domain.vocabulary import Importance, Kind, Sensitivity
from agent_memory.errors import Error, UsageInvalid
from agent_memory.surfaces.cli.opening import add_choice, add_id, report_change, with_memory
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
    def edit(memory: Memory) -> int:
        before = memory.store.read(arguments.id).map(lambda stored: stored.listed.content_hash).value_or(None)
        edited = _edited(memory, arguments, console)
        stays = edited.map(lambda stored: stored.listed.content_hash).value_or("") == before
        return report_change(memory, console, "Nothing changed in" if stays else "Edited", edited)

    return with_memory(console, edit)


def _edited(memory: Memory, arguments: argparse.Namespace, console: Console) -> Result[StoredEntry, Error]:
    patch = MetaPatch(
        title=arguments.title,
        description=arguments.description,
        kind=Kind(arguments.kind) if arguments.kind else None,
        importance=Importance(arguments.importance) if arguments.importance else None,
        sensitivity=Sensitivity(arguments.sensitivity) if arguments.sensitivity else None,
    )
    others = (arguments.body, arguments.tags, arguments.expires, arguments.scope)
    if patch == MetaPatch() and all(given is None for given in others):
        return _in_editor(memory, arguments.id, console)
    changed = _tags(arguments.tags).bind(
        lambda tags: _expiry(arguments.expires, memory).bind(
            lambda expiry: _scope(arguments.scope, memory).map(
                lambda scope: evolve(patch, tags=tags, expiry=expiry, scope=scope)
            )
        )
    )
    return changed.bind(
        lambda whole: _body(arguments.body).bind(lambda body: memory.service.edit(arguments.id, whole, body))
    )


def _tags(given: str | None) -> Result[tuple[str, ...] | None, Error]:
    return Success(None) if given is None else tags_of(given).map(lambda tags: tags)


def _expiry(given: str | None, memory: Memory) -> Result[Expiry | None, Error]:
    if given is None:
        return Success(None)
    return expiry_of(given, memory.clock.now_ms()).map(lambda expiry: expiry).alt(lambda error: error)


def _scope(given: str | None, memory: Memory) -> Result[str | None, Error]:
    return Success(None) if given is None else scope_of(given, memory.scope_here()).map(lambda scope: scope)


def _body(given: str | None) -> Result[str | None, Error]:
    return Success(None) if given is None else text_of(given).map(lambda text: text)


def _in_editor(memory: Memory, id: str, console: Console) -> Result[StoredEntry, Error]:
    from agent_memory.surfaces.editor import edited_in, editor_of

    if memory.caller.is_agent:
        return Failure(UsageInvalid("An agent has no editor", _HINT))
    editor = editor_of(memory.environ)
    if isinstance(editor, Failure):
        return editor.alt(lambda problem: UsageInvalid(problem, _HINT))
    return memory.store.read(id).bind(
        lambda stored: edited_in(
            editor.unwrap(),
            stored,
            lambda entry: memory.service.replace(id, entry, stored.listed.content_hash),
            lambda remark: console.err(f"memory: {remark}"),
        )
    )
