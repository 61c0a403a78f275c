"""`memory restore`."""

from __future__ import annotations

import argparse

from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import add_id, open_here, report_change
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.epilog = "The note lives again under its own id."


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    return report_change(memory, console, "Restored", unwrap(memory.service.restore(arguments.id)))
