"""`memory pin`."""

from __future__ import annotations

import argparse

from agent_memory.surfaces.cli.opening import add_id, report_change, with_memory
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.epilog = "A pinned note is in front of every agent at once, and nothing but you changes it."


def run(arguments: argparse.Namespace, console: Console) -> int:
    return with_memory(
        console, lambda memory: report_change(memory, console, "Pinned", memory.service.pin(arguments.id))
    )
