"""`memory watch`."""

from __future__ import annotations

import argparse
import math
import signal
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Event
from types import FrameType

from agent_memory.app import Memory
from agent_memory.domain.found_session import Rest, counted
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.backfill import harnesses_of
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console

DEFAULT = Rest()
MOST_SECONDS = 86_400.0
_LINE_CHARS = 1_000
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("harness", nargs="*", metavar="HARNESS", help="only sessions of these harnesses")
    parser.add_argument(
        "--wait-for-transcripts", action="store_true", help="wait, where no harness has kept a session here yet"
    )
    parser.add_argument(
        "--debounce",
        type=float,
        metavar="SECONDS",
        default=DEFAULT.debounce_ms / 1000,
        help="how long a transcript must rest to be captured (default: %(default)g)",
    )
    parser.add_argument(
        "--idle-timeout",
        type=float,
        metavar="SECONDS",
        default=(DEFAULT.idle_ms or 0) / 1000,
        help="how long it must rest for a handoff to be written; 0: never (default: %(default)g)",
    )
    parser.epilog = (
        "Stays in the foreground, for harnesses without hooks: a session whose transcript changed and then rested is put "
        "into the inbox, and one that rests on is handed over, without asking the agent command. One line for each. "
        "What was there before is for `memory backfill`. SIGINT or SIGTERM ends it. With the extra agent-memory[watch] "
        "the operating system tells what changes; without it the directories are looked through every two seconds."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    for option, seconds in (("--debounce", arguments.debounce), ("--idle-timeout", arguments.idle_timeout)):
        if not (math.isfinite(seconds) and 0 <= seconds <= MOST_SECONDS):
            raise UsageInvalid(f"{option} is {seconds:g}, expected seconds from 0 to {MOST_SECONDS:g}")
    idle_ms = round(arguments.idle_timeout * 1000) or None
    rest = Rest(round(arguments.debounce * 1000), idle_ms)
    harnesses = harnesses_of(arguments.harness)
    memory = open_here(console)
    return _watch(memory, console, harnesses, rest, wait_for_transcripts=arguments.wait_for_transcripts)


def _watch(
    memory: Memory, console: Console, harnesses: Sequence[Harness], rest: Rest, *, wait_for_transcripts: bool
) -> int:
    def tell(line: str) -> None:
        console.out(one_line(line, _LINE_CHARS))
        console.stdout.flush()

    def warn(problem: str) -> None:
        console.err(f"memory: {one_line(problem, _LINE_CHARS)}")

    with _ended_by_signals() as stop:
        ended = memory.watch(harnesses, rest, stop, tell, warn, wait_for_transcripts=wait_for_transcripts)
    done = unwrap(ended)
    console.progress(
        f"Captured {counted(done.captured, 'session')}, handed over {counted(done.handed_over, 'session')}."
    )
    console.document({"captured": done.captured, "handedOver": done.handed_over, "problems": list(done.problems)})
    return 0


@contextmanager
def _ended_by_signals() -> Generator[Event, None, None]:
    """An event that a signal to end sets: what is at work is finished first, so that nothing is left half done."""
    stop = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, end) for number in _ENDING_SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
