"""`memory promote`."""

from __future__ import annotations

import argparse

from agent_memory.surfaces.cli.opening import add_id, report_change, with_memory
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    add_id(parser)
    parser.epilog = "The note is shown to agents at once, whoever it came from, until a later defrag prefers others."


def run(arguments: argparse.Namespace, console: Console) -> int:
    return with_memory(
        console, lambda memory: report_change(memory, console, "Promoted", memory.service.promote(arguments.id))
    )
