"""`memory log`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun, short_id
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.periods import short_age
from agent_memory.surfaces.table import table_lines

DEFAULT_RUNS = 20
_LINE_CHARS = 2_000


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", type=int, metavar="N", help=f"show no more than N runs (default {DEFAULT_RUNS})")
    parser.add_argument("--day", metavar="YYYY-MM-DD", help="show the runs of one day (UTC), with all that each did")
    parser.epilog = (
        "Newest first. The word before what a run did names it: `memory diff WORD` shows what it changed, "
        "`memory undo WORD` takes it back."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.n is not None and arguments.n < 1:
        raise UsageInvalid(f"-n is {arguments.n}, expected a number from 1")
    day: str | None = arguments.day
    if day is not None and (len(day) != 10 or ms_of(f"{day}T00:00") is None):
        raise UsageInvalid(f"--day is {day!r}, expected a date such as 2026-02-13")

    memory = open_here(console)
    limit = arguments.n if arguments.n is not None or day is not None else DEFAULT_RUNS
    runs = unwrap(memory.log.runs(limit, day or ""))
    _print(console, runs, memory.clock.now_ms(), in_full=day is not None)
    console.document({"runs": [run_document(each) for each in runs]})
    return 0


def _print(console: Console, runs: tuple[LoggedRun, ...], now_ms: int, *, in_full: bool) -> None:
    if not runs:
        console.out("No run yet." if not in_full else "No run on that day.")
        return
    rows = [(_when(each), each.machine, short_id(each.run_id), _words(each)) for each in runs]
    if console.is_terminal and not in_full:
        _print_table(console, rows, [short_age(each.started_at_ms, now_ms) for each in runs])
        return
    for run, (when, machine, name, words) in zip(runs, rows, strict=True):
        console.out(f"{when}  {machine:11}  {name:6}  {words}")
        if in_full:
            for line in (*map(_action, run.actions), *(f"not done: {each}" for each in run.dropped), *run.warnings):
                console.out(f"    {one_line(line, _LINE_CHARS)}")


def _print_table(console: Console, rows: Sequence[tuple[str, ...]], ages: Sequence[str]) -> None:
    headings = ("when", "UTC", "machine", "run", "what it did")
    cells = [(age, *row) for age, row in zip(ages, rows, strict=True)]
    heading, *lines = table_lines(headings, cells, give_way=("UTC", "machine"))
    console.out(console.strong(heading))
    for line in lines:
        console.out(line)


def _when(run: LoggedRun) -> str:
    return iso_of(run.started_at_ms)[:16].replace("T", " ")


def _words(run: LoggedRun) -> str:
    parts = [run.summary] if run.summary else []
    if run.result not in ("completed", "unfinished"):
        parts.append(f"{run.result}: {'; '.join(run.problems) or run.error}".rstrip(": "))
    if run.undone_by is not None:
        parts.append(f"undone by {short_id(run.undone_by)}")
    return one_line("; ".join(parts), _LINE_CHARS)


def _action(action: LoggedAction) -> str:
    taken = " ".join(action.ids)
    ids = f"{taken} to {' '.join(action.new_ids)}" if taken and action.new_ids else taken or " ".join(action.new_ids)
    return f"{action.kind} {ids}  {action.words}".rstrip()


def run_document(run: LoggedRun) -> dict[str, Any]:
    """A run for `--json`."""
    return {
        "run": run.run_id,
        "machine": run.machine,
        "startedAt": iso_of(run.started_at_ms),
        "endedAt": None if run.ended_at_ms is None else iso_of(run.ended_at_ms),
        "result": run.result,
        "summary": run.summary,
        "error": run.error or None,
        "undoneBy": run.undone_by,
        "undid": run.undid,
        "kept": run.kept,
        "actions": [action_document(each) for each in run.actions],
        "sessions": [
            {
                "harness": each.harness,
                "session": each.session_id,
                "verdict": each.verdict,
                "reason": each.reason,
                "entries": list(each.entry_ids),
            }
            for each in run.sessions
        ],
        "dropped": list(run.dropped),
        "warnings": list(run.warnings),
        "problems": list(run.problems),
    }


def action_document(action: LoggedAction) -> dict[str, Any]:
    """One action for `--json`."""
    return {"kind": action.kind, "ids": list(action.ids), "newIds": list(action.new_ids), "words": action.words}
