"""`memory backfill` and `memory watch`: sessions that no hook tells of."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType
from typing import Any

from agent_memory.domain.found_session import SIGHTS, Backfill, Rest, Sight, Sighted, limited, sentence_of
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.pipelines.backfill import plan_backfill, put_backfill
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import (
    add_flag,
    add_number,
    check_range,
    harnesses_of,
    set_command,
    since_ms_of,
)
from agent_memory.surfaces.cli.dialogue import open_here
from agent_memory.surfaces.console import Console, fields_of, iso_or_none

_HARNESSES = "only sessions of these harnesses"

# -- backfill ---------------------------------------------------------------------------------------------------------

_MOST_PROBLEMS = 10
_PROBLEM_CHARS = 500

_WORDS: dict[Sight, str] = {
    "new": "new",
    "grown": "went on since",
    "waiting": "waiting in the inbox",
    "done": "done",
    "given-up": "given up (`memory consolidate --retry-failed`)",
    "forgotten": "forgotten",
    "own-call": "memory's own calls",
    "automated": "automated, without a person",
    "copy": "copies of other sessions",
    "older": "older than asked for",
    "empty": "empty",
    "unreadable": "not to be read",
}


def configure_backfill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("harness", nargs="*", metavar="HARNESS", help=_HARNESSES)
    parser.add_argument("--since", metavar="PERIOD", help="only sessions that changed since: 30d, 12h, 2026-02-13")
    add_number(parser, "--limit", "put no more than N sessions into the inbox, the oldest")
    add_flag(parser, "--dry-run", "only tell what was found and what it would cost")
    epilog = (
        "Finds the past sessions of every harness where it keeps them, and puts those that say something new into the "
        "inbox, oldest first; `memory consolidate` learns from them, behind what is captured meanwhile, over as many "
        "days as llm.maxCallsPerDay needs. May be run at any time and again: what is done, waits, was forgotten, is a "
        "copy, a sub-agent's, automated or memory's own is left out."
    )
    set_command(parser, _backfill, epilog, "memory backfill claude-code --since 30d --dry-run")


def _backfill(arguments: argparse.Namespace, console: Console) -> None:
    check_range("--limit", arguments.limit, 1)
    harnesses = harnesses_of(arguments.harness)
    memory = open_here(console)
    since_ms = None if arguments.since is None else since_ms_of(arguments.since, memory.clock.now_ms())
    plan = limited(unwrap(plan_backfill(memory.backfill_io(console.progress), harnesses, since_ms)), arguments.limit)
    # Said before anything is done about it.
    console.out(f"{sentence_of(plan, memory.config.llm.max_calls_per_day)}.", *_harness_lines(plan))
    done = plan if arguments.dry_run else unwrap(put_backfill(memory.backfill_io(), plan))
    console.warn(*(one_line(problem, _PROBLEM_CHARS) for problem in done.problems[:_MOST_PROBLEMS]))
    if len(done.problems) > _MOST_PROBLEMS:
        console.warn(f"and {len(done.problems) - _MOST_PROBLEMS:,} more (--json has all)")
    if done.wanted and not arguments.dry_run:
        put = counted(len(done.wanted), "session")
        console.out(f"Put {put} into the inbox. `memory consolidate` learns from them.")
    console.answer({"dryRun": arguments.dry_run, **_document(done)})


def _harness_lines(backfill: Backfill) -> Iterator[str]:
    for harness in backfill.harnesses:
        counts = backfill.counts(harness)
        yield f"  {harness:12} {', '.join(f'{counts[s]:,} {_WORDS[s]}' for s in SIGHTS if counts[s])}"


def _document(backfill: Backfill) -> dict[str, Any]:
    wanted = backfill.wanted
    return {
        "found": len(backfill.sighted),
        "wanted": len(wanted),
        "chars": sum(each.chars for each in wanted),
        "calls": sum(each.calls for each in wanted),
        "isPartial": any(each.is_partial for each in wanted),
        "harnesses": {harness.value: dict(sorted(backfill.counts(harness).items())) for harness in backfill.harnesses},
        "sessions": list(map(_session, backfill.sighted)),
        "problems": list(backfill.problems),
    }


def _session(sighted: Sighted) -> dict[str, Any]:
    found, entry = sighted.found, sighted.entry
    return {
        "harness": found.harness.value,
        "session": found.session_id,
        "is": sighted.sight,
        "path": found.path,
        "cwd": entry.context.cwd if entry is not None else found.cwd,
        **fields_of(found, "changed_at_ms"),
        "endedAt": iso_or_none(None if entry is None else entry.at_ms),
        "bytes": found.size_bytes,
        **fields_of(sighted, "chars", "calls"),
        "problem": sighted.problem or None,
    }


# -- watch ------------------------------------------------------------------------------------------------------------

_DEFAULT = Rest()
_MOST_SECONDS = 86_400
_LINE_CHARS = 1_000
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def configure_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("harness", nargs="*", metavar="HARNESS", help=_HARNESSES)
    add_flag(parser, "--wait-for-transcripts", "wait, where no harness has kept a session here yet")
    for option, default_ms, meaning in (
        ("--debounce", _DEFAULT.debounce_ms, "how long a transcript must rest to be captured"),
        ("--idle-timeout", _DEFAULT.idle_ms or 0, "how long it must rest for a handoff to be written; 0: never"),
    ):
        meaning = f"{meaning} (default: %(default)g)"
        parser.add_argument(option, type=float, metavar="SECONDS", default=default_ms / 1000, help=meaning)
    epilog = (
        "Stays in the foreground, for harnesses without hooks: a session whose transcript changed and then rested is put "
        "into the inbox, and one that rests on is handed over, without asking the agent command. One line for each. "
        "What was there before is for `memory backfill`. SIGINT or SIGTERM ends it. The directories "
        "are looked through every two seconds."
    )
    set_command(parser, _watch, epilog, "memory watch codex --wait-for-transcripts")


def _watch(arguments: argparse.Namespace, console: Console) -> None:
    for option, seconds in (("--debounce", arguments.debounce), ("--idle-timeout", arguments.idle_timeout)):
        check_range(option, seconds, 0, _MOST_SECONDS)
    rest = Rest(round(arguments.debounce * 1000), round(arguments.idle_timeout * 1000) or None)
    harnesses = harnesses_of(arguments.harness)
    memory = open_here(console)

    def tell(line: str) -> None:
        console.out(one_line(line, _LINE_CHARS))
        console.stdout.flush()

    def warn(problem: str) -> None:
        console.warn(one_line(problem, _LINE_CHARS))

    with _ended_by_signals() as stop:
        ended = memory.watch(harnesses, rest, stop, tell, warn, wait_for_transcripts=arguments.wait_for_transcripts)
    done = unwrap(ended)
    captured, handed_over = counted(done.captured, "session"), counted(done.handed_over, "session")
    console.progress(f"Captured {captured}, handed over {handed_over}.")
    console.answer(fields_of(done, "captured", "handed_over", "problems"))


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
