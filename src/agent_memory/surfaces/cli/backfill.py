"""`memory backfill`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from agent_memory.domain.found_session import (
    SIGHTS,
    Backfill,
    Sight,
    Sighted,
    by_harness,
    counted,
    limited,
    sentence_of,
)
from agent_memory.domain.instants import iso_of
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.periods import since_ms_of

MOST_PROBLEMS = 10
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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("harness", nargs="*", metavar="HARNESS", help="only sessions of these harnesses")
    parser.add_argument("--since", metavar="PERIOD", help="only sessions that changed since: 30d, 12h, 2026-02-13")
    parser.add_argument("--limit", type=int, metavar="N", help="put no more than N sessions into the inbox, the oldest")
    parser.add_argument("--dry-run", action="store_true", help="only tell what was found and what it would cost")
    parser.epilog = (
        "Finds the past sessions of every harness where it keeps them, and puts those that say something new into the "
        "inbox, oldest first; `memory consolidate` learns from them, behind what is captured meanwhile, over as many "
        "days as llm.maxCallsPerDay needs. May be run at any time and again: what is done, waits, was forgotten, is a "
        "copy, a sub-agent's, automated or memory's own is left out."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageInvalid(f"--limit is {arguments.limit}, expected a number from 1")
    harnesses = harnesses_of(arguments.harness)
    memory = open_here(console)
    since_ms = None if arguments.since is None else since_ms_of(arguments.since, memory.clock.now_ms())
    plan = limited(unwrap(memory.plan_backfill(harnesses, since_ms, console.progress)), arguments.limit)
    # Said before anything is done about it.
    console.out(f"{sentence_of(plan, memory.config.llm.max_calls_per_day)}.")
    _print_harnesses(console, plan)
    done = plan if arguments.dry_run else unwrap(memory.put_backfill(plan))
    _print_end(console, done, dry_run=arguments.dry_run)
    console.document(_document(done, dry_run=arguments.dry_run))
    return 0


def harnesses_of(words: Sequence[str]) -> tuple[Harness, ...]:
    """The harnesses that these words name."""
    unknown = next((word for word in words if word not in tuple(Harness)), None)
    if unknown is not None:
        known = ", ".join(each.value for each in Harness if each is not Harness.MANUAL)
        raise UsageInvalid(f"There is no harness {unknown!r}", f"Known are {known}.")
    return tuple(Harness(word) for word in words)


def _print_harnesses(console: Console, backfill: Backfill) -> None:
    for harness in by_harness(backfill.sighted):
        counts = backfill.counts(harness)
        console.out(f"  {harness:12} {', '.join(f'{counts[s]:,} {_WORDS[s]}' for s in SIGHTS if counts[s])}")


def _print_end(console: Console, backfill: Backfill, *, dry_run: bool) -> None:
    for problem in backfill.problems[:MOST_PROBLEMS]:
        console.err(f"memory: {one_line(problem, _PROBLEM_CHARS)}")
    if len(backfill.problems) > MOST_PROBLEMS:
        console.err(f"memory: and {len(backfill.problems) - MOST_PROBLEMS:,} more (--json has all)")
    if backfill.wanted and not dry_run:
        console.out(
            f"Put {counted(len(backfill.wanted), 'session')} into the inbox. `memory consolidate` learns from them."
        )


def _document(backfill: Backfill, *, dry_run: bool) -> dict[str, Any]:
    wanted = backfill.wanted
    return {
        "dryRun": dry_run,
        "found": len(backfill.sighted),
        "wanted": len(wanted),
        "chars": sum(each.chars for each in wanted),
        "calls": sum(each.calls for each in wanted),
        "isPartial": any(each.is_partial for each in wanted),
        "harnesses": {
            harness.value: dict(sorted(backfill.counts(harness).items())) for harness in by_harness(backfill.sighted)
        },
        "sessions": [_session(each) for each in backfill.sighted],
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
        "changedAt": iso_of(found.changed_at_ms),
        "endedAt": None if entry is None else iso_of(entry.at_ms),
        "bytes": found.size_bytes,
        "chars": sighted.chars,
        "calls": sighted.calls,
        "problem": sighted.problem or None,
    }
