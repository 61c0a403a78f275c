"""`memory state`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from agent_memory.app import Memory
from agent_memory.domain.instants import iso_of
from agent_memory.domain.note_draft import StateValue
from agent_memory.domain.text.plain_text import clean_text, one_line
from agent_memory.errors import StateNotFound, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.texts import text_of
from agent_memory.wording import describe

_TABLE_CHARS = 60
_WORDS = {"get": 1, "set": 2, "list": 0, "delete": 1}
"""What can be done, and how many words follow."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("act", metavar="get|set|list|delete", choices=list(_WORDS), help="what to do")
    parser.add_argument("key", metavar="KEY", nargs="?", help="letters, digits and . _ : / - (128 at most)")
    parser.add_argument(
        "value", metavar="VALUE", nargs="?", help="any JSON, or text that is none; `-` reads it from standard input"
    )
    parser.add_argument("--text", action="store_true", help="the value is text, even where it reads as JSON")
    parser.add_argument(
        "--purge", action="store_true", help="with delete: rewrite the git history without the key, too"
    )
    parser.epilog = (
        "For what changes often and is looked up by its name: the phase of a pipeline, a counter, a flag. It is not found "
        "by search; knowledge belongs into notes. Each change is one commit of the store. A value has 256 KiB at most. "
        "`get` of a key that is not there ends with 20. `delete --purge` also takes a key that was deleted before out of the "
        "history; every other clone still holds it, and `memory sync` waits for --after-purge. It is for a person: refused "
        "where an agent is calling. Example: memory state set current_phase '{\"step\": 3}'"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    problem = _usage_problem(arguments)
    if problem is not None:
        raise problem
    acts = {"get": _get, "set": _set, "list": _list, "delete": _delete}
    memory = open_here(console)
    return acts[arguments.act](memory, arguments, console)


def _usage_problem(arguments: argparse.Namespace) -> UsageInvalid | None:
    if arguments.purge and arguments.act != "delete":
        return UsageInvalid("--purge belongs to delete", "The call is `memory state delete KEY --purge`.")
    given = sum(word is not None for word in (arguments.key, arguments.value))
    wanted = _WORDS[arguments.act]
    if given == wanted:
        return None
    hint = f"memory state {arguments.act}{''.join((' KEY', ' VALUE')[:wanted])}"
    problem = f"`memory state {arguments.act}` takes {('no words', 'a key', 'a key and a value')[wanted]}"
    return UsageInvalid(problem, f"The call is `{hint}`.")


def _get(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    value = unwrap(memory.state.get(arguments.key))
    if value is None:
        raise StateNotFound(arguments.key)
    console.document(_document(value))
    console.out(_shown(value))
    return 0


def _set(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    value = unwrap(memory.state.set(arguments.key, _value(text_of(arguments.value), arguments)))
    console.document(_document(value))
    console.out(f"Set {value.key}")
    return 0


def _delete(memory: Memory, arguments: argparse.Namespace, console: Console) -> int:
    if arguments.purge:
        unwrap(memory.purge_state(arguments.key))
        console.document({"key": arguments.key, "purged": True})
        console.out(f"Deleted {arguments.key}, and rewrote the git history without it")
        return 0
    value = unwrap(memory.state.delete(arguments.key))
    console.document(_document(value))
    console.out(f"Deleted {value.key}; git keeps what it held")
    return 0


def _list(memory: Memory, _arguments: argparse.Namespace, console: Console) -> int:
    kept = memory.state.list()
    console.document(
        {
            "state": [_document(each) for each in kept.values],
            "unreadable": [describe(error) for error in kept.unreadable],
        }
    )
    if not console.is_terminal:
        for each in kept.values:
            console.out("\t".join((each.key, _day(each), each.json)))
    elif kept.values:
        from agent_memory.surfaces.table import render_table

        cells = [(each.key, _day(each), one_line(each.json, _TABLE_CHARS)) for each in kept.values]
        console.out(render_table(("key", "set", "value"), cells))
    else:
        console.out("No state yet. `memory state set KEY VALUE` keeps a value.")
    for error in kept.unreadable:
        console.err(f"memory: {describe(error)}")
    return 0


def _value(text: str, arguments: argparse.Namespace) -> object:
    if arguments.text:
        return text
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _shown(value: StateValue) -> str:
    decoded = json.loads(value.json)
    text = decoded if isinstance(decoded, str) else json.dumps(decoded, ensure_ascii=False, indent=2)
    return clean_text(text).text


def _document(value: StateValue) -> dict[str, Any]:
    return {"key": value.key, "value": json.loads(value.json), "updatedAt": value.updated_at_ms}


def _day(value: StateValue) -> str:
    return "" if value.updated_at_ms is None else iso_of(value.updated_at_ms)[:10]
