"""What most commands begin with: the memory of this environment, and the id that a person means."""

from __future__ import annotations

import argparse
import os
import re
from enum import StrEnum

from agent_memory.app import Memory, open_memory
from agent_memory.domain.entry import StoredEntry, Usage
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.formats.entry_json import entry_document
from agent_memory.results import unwrap
from agent_memory.surfaces.console import Console

_ID = re.compile(r"(?:\A(?:id__)?|id__)([1-9A-HJ-NP-Za-km-z]{6})(?:\.md)?\Z")


def open_here(console: Console) -> Memory:
    """The memory of this environment. What it has to say of what was done through it is said when the console is closed."""
    memory = unwrap(open_memory(os.environ, current_directory(), lambda text: console.err(f"memory: {text}")))
    console.closing.append(memory.warnings)
    return memory


def current_directory() -> str | None:
    """The working directory; None where it was removed under us."""
    try:
        return os.getcwd()
    except OSError:
        return None


def add_id(parser: argparse.ArgumentParser) -> None:
    """The argument ID: an id, with or without its `id__`, or a file of the store."""
    parser.add_argument("id", metavar="ID", type=entry_id, help="an entry: id__a1b2c3, a1b2c3, or its file")


def add_choice(
    parser: argparse._ActionsContainer,  # pyright: ignore[reportPrivateUsage] - a parser, or a group of one
    option: str,
    words: type[StrEnum],
    meaning: str,
) -> None:
    """An option that takes one of a few words; its help lists them."""
    known = [each.value for each in words]
    metavar = option.removeprefix("--").upper()
    parser.add_argument(option, choices=known, metavar=metavar, help=f"{meaning}: {', '.join(known)}")


def entry_id(text: str) -> str:
    """The id that a person means by `id__a1b2c3`, `a1b2c3` or `…/title -- id__a1b2c3.md`; other text as it is, so that
    the store can say that there is no such entry."""
    found = _ID.search(text)
    return f"id__{found[1]}" if found else text


def report_change(memory: Memory, console: Console, done: str, stored: StoredEntry) -> int:
    """Say in one line what was done to a note; the exit code."""
    meta = stored.meta
    console.out(f"{done} {meta.id}  {meta.title}")
    body = stored.body if meta.sensitivity is not Sensitivity.SECRET else None
    usage, tier = Usage(meta.used, meta.last_used_at_ms), memory.reading.tier_of(stored.listed)
    console.document(entry_document(stored.listed, usage, body, tier=tier))
    return 0
