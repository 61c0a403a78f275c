"""`memory archive`."""

from __future__ import annotations

import argparse

from agent_memory.domain.entry import Usage
from agent_memory.formats.entry_json import entry_document
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_id, open_here
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.epilog = "The note moves to archive/ as it is; `memory restore ID` brings it back."


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    listed = unwrap(memory.service.archive(arguments.id))
    console.out(f"Archived {listed.meta.id}  {listed.meta.title}")
    usage = Usage(listed.meta.used, listed.meta.last_used_at_ms)
    console.document({**entry_document(listed, usage), "archived": True})
    return 0
