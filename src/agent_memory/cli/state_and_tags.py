"""`memory state`, `memory tags` and `memory scope`: everything that is kept by name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from agent_memory.acts.keeping import Renamed
from agent_memory.app import Memory
from agent_memory.cli.console import Arguments, Console, Options, text_of
from agent_memory.cli.dialogue import open_here, warn_unreadable
from agent_memory.documents import json_of, rows_of, scopes_document
from agent_memory.errors import StateNotFound, UsageInvalid
from agent_memory.note.tagging import Standing
from agent_memory.results import unwrap
from agent_memory.rules.run_log import short_id
from agent_memory.store.bookkeeping import StateValue
from agent_memory.text.instants import day_of
from agent_memory.text.plain_text import clean_text, counted, one_line


def _add_act(options: Options, acts: Iterable[str], *, default: str | None = None) -> None:
    known = list(acts)
    nargs = None if default is None else "?"
    options.add("act", metavar="|".join(known), nargs=nargs, choices=known, default=default, help="what to do")


def _print_rows(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> None:
    console.out(*console.rows(headings, rows))
    if not (rows or console.json):
        console.warn(nothing)


def _tell_renamed(console: Console, done: Renamed, said: str) -> None:
    left = [{"id": each.subject, "reasons": list(each.reasons)} for each in done.left]
    run = {"run": done.run_id} if done.run_id else {}
    console.answer({"old": done.old, "new": done.new, "notes": list(done.notes), "left": left, **run}, said)
    console.warn(*(f"{each.subject} was left as it is: {'; '.join(each.reasons)}." for each in done.left))


# -- state ------------------------------------------------------------------------------------------------------------

_WORDS = {"get": 1, "set": 2, "list": 0, "delete": 1}
"""The actions, and how many words follow each."""


def configure_state(options: Options) -> None:
    _add_act(options, _WORDS)
    options.add("key", metavar="KEY", nargs="?", help="up to 128 letters, digits and . _ : / -")
    value = "JSON, or else text; `-` reads it from standard input"
    options.add("value", metavar="VALUE", nargs="?", help=value)
    options.flag("--text", "store the value as text, even if it is valid JSON")
    options.flag("--purge", "with delete: also rewrite the git history without the key")
    epilog = (
        "For values that change often and are looked up by name: the phase of a pipeline, a counter, a flag. Search "
        "does not find them; keep knowledge in notes. Each change is one commit. A value can have up to 256 KiB. "
        "`get` exits with 20 if the key is not there. `delete --purge` also rewrites the git history without the "
        "key, even if it was deleted before; your other machines still hold it, and `memory sync` waits for "
        "--after-purge. Only you can purge, not an agent."
    )
    options.runs(_state, epilog, "memory state set current_phase '{\"step\": 3}'")


def _state(arguments: Arguments, console: Console) -> None:
    act, key = arguments.act, arguments.key
    if arguments.purge and act != "delete":
        raise UsageInvalid("--purge goes with delete only", "The call is `memory state delete KEY --purge`.")
    given = sum(word is not None for word in (key, arguments.value))
    wanted = _WORDS[act]
    if given != wanted:
        problem = f"`memory state {act}` takes {('no words', 'a key', 'a key and a value')[wanted]}"
        raise UsageInvalid(problem, f"The call is `memory state {act}{''.join((' KEY', ' VALUE')[:wanted])}`.")
    memory = open_here(console)
    if act == "list":
        kept = memory.state.list()
        unreadable = [str(error) for error in kept.unreadable]
        console.answer({"state": list(map(_state_document, kept.values)), "unreadable": unreadable})
        rows: list[tuple[str, ...]] = []
        for each in kept.values:
            day = "" if each.updated_at_ms is None else day_of(each.updated_at_ms)
            rows.append((each.key, day, one_line(each.json, 60) if console.is_terminal else each.json))
        nothing = "No state yet. `memory state set KEY VALUE` stores a value."
        _print_rows(console, ("key", "set", "value"), rows, nothing)
        console.warn(*unreadable)
    elif act == "get":
        value = unwrap(memory.state.get(key))
        if value is None:
            raise StateNotFound(key)
        decoded = json.loads(value.json)
        text = decoded if isinstance(decoded, str) else json.dumps(decoded, ensure_ascii=False, indent=2)
        console.answer(_state_document(value), clean_text(text))
    elif act == "set":
        new: object = text_of(arguments.value)
        if not arguments.text:
            with suppress(ValueError, RecursionError):  # text that is not JSON is kept as it is
                new = json.loads(str(new))
        value = unwrap(memory.state.set(key, new))
        console.answer(_state_document(value), f"Set {value.key}")
    elif arguments.purge:
        unwrap(memory.purge_state(key))
        done = f"Deleted {key} and rewrote the git history without it"
        console.answer({"key": key, "purged": True}, done)
    else:
        value = unwrap(memory.state.delete(key))
        console.answer(_state_document(value), f"Deleted {value.key}; git still has its value")


def _state_document(value: StateValue) -> dict[str, Any]:
    return {"key": value.key, "value": json.loads(value.json), "updatedAt": value.updated_at_ms}


# -- tags -------------------------------------------------------------------------------------------------------------


def configure_tags(options: Options) -> None:
    _add_act(options, ("list", "accept", "rename"), default="list")
    options.add("tags", metavar="TAG", nargs="*", help="`x` means topic__x")
    options.flag("--all", "accept every tag in use")
    epilog = (
        "`memory tags` lists the tags in use with their number of notes, and tags that look like one tag spelt "
        "twice. As long as no tag is accepted, all are free. After that, a new tag counts as proposed: a note keeps "
        "it, and `memory doctor` lists it. `accept TAG …` adds tags to the vocabulary (state/project_tags.json), "
        "which consolidation prefers. `rename OLD NEW` replaces a tag in every note, in one commit, and in whatever "
        "is written with it later. Only you can accept and rename, not an agent."
    )
    options.runs(_tags, epilog, "memory tags --json")


def _tags(arguments: Arguments, console: Console) -> None:
    given: list[str] = arguments.tags
    act = arguments.act
    if arguments.all and act != "accept":
        raise UsageInvalid("--all goes with `memory tags accept` only")
    if act == "list" and given:
        raise UsageInvalid("`memory tags list` takes no tags", "`memory list --tag TAG` lists the notes with one.")
    if act == "accept" and bool(given) == arguments.all:
        raise UsageInvalid("`memory tags accept` takes either tags or --all")
    if act == "rename" and len(given) != 2:
        raise UsageInvalid("`memory tags rename` takes two tags", "The call is `memory tags rename OLD NEW`.")
    memory = open_here(console)
    if act == "list":
        _list_tags(memory, console)
    elif act == "rename":
        done = unwrap(memory.tags.rename(*given))
        _tell_renamed(console, done, f"Renamed {done.old} to {done.new} in {counted(len(done.notes), 'note')}.")
    else:
        if arguments.all:
            tags = unwrap(memory.tags.list())
            warn_unreadable(console, tags.unreadable)
            given = [each.tag for each in tags.uses if each.notes]
        kept = unwrap(memory.tags.accept(given))
        console.answer(
            {"vocabulary": sorted(kept.accepted), "renamed": dict(sorted(kept.renamed.items()))},
            f"The vocabulary now has {counted(len(kept.accepted), 'tag')}.",
        )


def _list_tags(memory: Memory, console: Console) -> None:
    tags = unwrap(memory.tags.list())
    console.answer(
        {
            "tags": rows_of(tags.uses, "tag", "notes", "standing", "like"),
            "renamed": dict(sorted(tags.renamed.items())),
            "unreadable": json_of(tags.unreadable),
        }
    )
    rows = [
        (each.tag, str(each.notes), "" if each.standing is Standing.FREE else each.standing.value, " ".join(each.like))
        for each in tags.uses
    ]
    nothing = "No tags yet. `memory remember TEXT --tags a,b` stores a note with tags."
    _print_rows(console, ("tag", "notes", "", "looks like"), rows, nothing)
    warn_unreadable(console, tags.unreadable)


# -- scope ------------------------------------------------------------------------------------------------------------


def configure_scope(options: Options) -> None:
    _add_act(options, ("list", "rename", "merge"), default="list")
    options.add("scopes", metavar="SCOPE", nargs="*", help="a repository's key, `path:/directory`, or `global`")
    epilog = (
        "`memory scope list` shows the places that notes belong to, and which of them are gone. Notes follow a "
        "repository by themselves when it is moved, renamed or gets another remote, because memory knows it by its "
        "first commit. For other places, such as a directory without git, `rename OLD NEW` gives the notes to "
        "another place, and `merge OLD NEW` does so if that place already has notes. Each is one run, which `memory "
        "undo` takes back. Only you can rename and merge, not an agent."
    )
    options.runs(_scope, epilog, "memory scope list")


def _scope(arguments: Arguments, console: Console) -> None:
    act = arguments.act
    if act == "list":
        if arguments.scopes:
            raise UsageInvalid("`memory scope list` takes no scopes", "`memory list --scope SCOPE` does.")
        uses = unwrap(open_here(console).scopes.list())
        console.answer(scopes_document(uses))
        gone = [f"gone; now {each.now}?" if each.now else "gone" if each.is_gone else "" for each in uses]
        rows = [(each.scope, str(each.notes), now) for each, now in zip(uses, gone, strict=True)]
        nothing = "No notes yet, so no scopes. `memory remember TEXT` stores a note."
        _print_rows(console, ("scope", "notes", ""), rows, nothing)
        return
    if len(arguments.scopes) != 2:
        hint = f"The call is `memory scope {act} OLD NEW`; `memory scope list` shows what there is."
        raise UsageInvalid(f"`memory scope {act}` takes two scopes", hint)
    memory = open_here(console)
    memory.caller.only_a_person(f"scope {act}")
    done = unwrap(memory.scopes.rename(*arguments.scopes, merge=act == "merge"))
    moved = f"Moved {counted(len(done.notes), 'note')} from {done.old} to {done.new}"
    _tell_renamed(console, done, f"{moved}; `memory undo {short_id(done.run_id)}` takes that back.")
