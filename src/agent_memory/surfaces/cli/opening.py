"""What most commands begin with: the memory of this environment, and the id that a person means."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from enum import StrEnum
from typing import cast

from returns.result import Failure, Result, Success

from agent_memory.app import Memory, open_memory
from agent_memory.domain.entry import StoredEntry, Usage
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import AgentMemoryError, Error
from agent_memory.formats.entry_json import entry_document
from agent_memory.results import sealed
from agent_memory.surfaces.console import Console

_ID = re.compile(r"(?:\A(?:id__)?|id__)([1-9A-HJ-NP-Za-km-z]{6})(?:\.md)?\Z")


_opened: list[Memory] = []
"""Kept until the process ends, which then does not take apart what was read of fifty thousand notes (see `entry.run`)."""


def with_memory(console: Console, act: Callable[[Memory], int]) -> int:
    """Run `act` on the memory of this environment; the exit code."""
    match sealed(open_memory(os.environ, current_directory(), lambda text: console.err(f"memory: {text}"))):
        case Success(memory):
            _opened.append(memory)
            try:
                code = act(memory)
            except AgentMemoryError as error:
                code = console.fail(cast("Error", error))
            for warning in memory.warnings():
                console.err(f"memory: {warning}")
            return code
        case Failure(error):
            return console.fail(error)


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


def report_change(memory: Memory, console: Console, done: str, changed: Result[StoredEntry, Error]) -> int:
    """Say in one line what was done to an entry, or why not; the exit code."""
    match sealed(changed):
        case Failure(error):
            return console.fail(error)
        case Success(stored):
            meta = stored.meta
            console.out(f"{done} {meta.id}  {meta.title}")
            body = stored.body if meta.sensitivity is not Sensitivity.SECRET else None
            usage, tier = Usage(meta.used, meta.last_used_at_ms), memory.reading.tier_of(stored.listed)
            console.document(entry_document(stored.listed, usage, body, tier=tier))
            return 0
