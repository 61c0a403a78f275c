"""`memory stats`."""

from __future__ import annotations

import argparse

from returns.result import Failure, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.results import sealed
from agent_memory.domain.statistics.period import LARGEST_DAYS
from agent_memory.errors import UsageInvalid
from agent_memory.formats.statistics_json import statistics_document
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.plots import ink_for
from agent_memory.surfaces.statistics_page import Sheet, plain_lines, statistics_lines
from agent_memory.surfaces.terminal_columns import terminal_columns

DEFAULT_DAYS = 90


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days",
        type=int,
        default=DEFAULT_DAYS,
        metavar="N",
        help=f"look at N days, today among them (default {DEFAULT_DAYS})",
    )
    parser.epilog = (
        "Days are in UTC. Deliveries and runs are those of this machine; spending is kept for 90 days, the record of "
        "deliveries for as long as it has room. Piped, one number a line, its fields separated by tabs: what is counted, "
        "its name or day, the number."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    days: int = arguments.days
    if not 1 <= days <= LARGEST_DAYS:
        return console.fail(UsageInvalid(f"--days is {days}, expected a number from 1 to {LARGEST_DAYS:,}"))

    def show(memory: Memory) -> int:
        match sealed(memory.statistics(days)):
            case Failure(error):
                return console.fail(error)
            case Success(found):
                if console.json:
                    console.document(statistics_document(found))
                elif console.is_terminal:
                    sheet = Sheet(terminal_columns(), ink_for(console.stdout.encoding), colour=console.colour)
                    console.out("\n".join(statistics_lines(found, sheet)))
                else:
                    console.out("\n".join(plain_lines(found)))
                return 0

    return with_memory(console, show)
