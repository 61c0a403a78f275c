"""`memory log`, `memory diff` and `memory undo`: what past runs did, and how to take it back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from agent_memory.domain.instants import iso_of, ms_of
from agent_memory.domain.run_log import LoggedAction, LoggedRun, short_id
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.undo_run import called, sentence_of
from agent_memory.errors import UsageInvalid
from agent_memory.formats.diffs import render_diff
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_flag, add_number, check_range, set_command
from agent_memory.surfaces.cli.dialogue import open_here, short_age
from agent_memory.surfaces.console import BOLD, Console, fields_of, rows_of

_LINE_CHARS = 2_000
_ACTION = ("kind", "ids", "new_ids", "words")

# -- log --------------------------------------------------------------------------------------------------------------

DEFAULT_RUNS = 20


def configure_log(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "-n", f"show no more than N runs (default {DEFAULT_RUNS})")
    parser.add_argument("--day", metavar="YYYY-MM-DD", help="show the runs of one day (UTC), with all that each did")
    epilog = (
        "Newest first. The word before what a run did names it: `memory diff WORD` shows what it changed, "
        "`memory undo WORD` takes it back."
    )
    set_command(parser, _log, epilog, "memory log --json")


def _log(arguments: argparse.Namespace, console: Console) -> None:
    check_range("-n", arguments.n, 1)
    day: str | None = arguments.day
    if day is not None and (len(day) != 10 or ms_of(f"{day}T00:00") is None):
        raise UsageInvalid(f"--day is {day!r}, expected a date such as 2026-02-13")
    memory = open_here(console)
    limit = arguments.n if arguments.n is not None or day is not None else DEFAULT_RUNS
    runs = unwrap(memory.log.runs(limit, day or ""))
    if not runs:
        lines = ["No run yet." if day is None else "No run on that day."]
    elif console.is_terminal and day is None:
        lines = _table(console, runs, memory.clock.now_ms())
    else:
        lines = list(_lines(runs, in_full=day is not None))
    console.answer({"runs": list(map(_run_document, runs))}, *lines)


def _lines(runs: Sequence[LoggedRun], *, in_full: bool) -> Iterator[str]:
    for run in runs:
        yield f"{_when(run)}  {run.machine:11}  {short_id(run.run_id):6}  {_words(run)}"
        if in_full:
            for line in (*map(_action, run.actions), *(f"not done: {each}" for each in run.dropped), *run.warnings):
                yield f"    {one_line(line, _LINE_CHARS)}"


def _table(console: Console, runs: Sequence[LoggedRun], now_ms: int) -> list[str]:
    from agent_memory.surfaces.console import table_lines

    rows = [
        (short_age(each.started_at_ms, now_ms), _when(each), each.machine, short_id(each.run_id), _words(each))
        for each in runs
    ]
    headings = ("when", "UTC", "machine", "run", "what it did")
    heading, *lines = table_lines(headings, rows, give_way=("UTC", "machine"))
    return [console.styled(BOLD, heading), *lines]


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
    ids = " to ".join(" ".join(each) for each in (action.ids, action.new_ids) if each)
    return f"{action.kind} {ids}  {action.words}".rstrip()


def _run_document(run: LoggedRun) -> dict[str, Any]:
    return {
        **fields_of(run, "run_id", "machine", "started_at_ms", "ended_at_ms", "result", "summary"),
        "error": run.error or None,
        **fields_of(run, "undone_by", "undid", "kept"),
        "actions": rows_of(run.actions, *_ACTION),
        "sessions": rows_of(run.sessions, "harness", "session_id", "verdict", "reason", "entry_ids"),
        **fields_of(run, "dropped", "warnings", "problems"),
    }


# -- diff -------------------------------------------------------------------------------------------------------------

_SUMMARY_CHARS = 500


def configure_diff(parser: argparse.ArgumentParser) -> None:
    run = "a run of `memory log` (default: the newest that changed something)"
    parser.add_argument("run", metavar="RUN", nargs="?", help=run)
    epilog = "Notes, tiers and managed sections, as they were before the run and after it. Needs no git."
    set_command(parser, _diff, epilog, "memory diff")


def _diff(arguments: argparse.Namespace, console: Console) -> None:
    logged, parts = unwrap(open_here(console).run_diff(arguments.run))
    changes = [fields_of(each, "subject", "act", "words") | {"diff": "\n".join(each.lines)} for each in parts]
    document = {**fields_of(logged, "run_id", "machine", "summary"), "changes": changes}
    heading = f"# {called(logged)}: {one_line(logged.summary, _SUMMARY_CHARS)}".rstrip(": ")
    console.answer(document, heading, *([render_diff(parts)] if parts else []))


# -- undo -------------------------------------------------------------------------------------------------------------

_TITLE_CHARS = 120


def configure_undo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", nargs="?", help="a run of `memory log` (default: the newest that stands)")
    add_flag(parser, "--dry-run", "print what would change as a diff and change nothing")
    epilog = (
        "Notes, archive, tiers and managed sections become what they were before the run, byte for byte. A "
        "note that somebody changed since stays as it is, and is named. The inbox and what is known of sessions stay as "
        "they are. To undo an undo, name it. For a person: refused where an agent is calling."
    )
    set_command(parser, _undo, epilog, "memory undo --dry-run")


def _undo(arguments: argparse.Namespace, console: Console) -> None:
    memory = open_here(console)
    undone = unwrap(memory.undo(arguments.run, dry_run=arguments.dry_run))
    lines: list[str] = []
    if undone.dry_run:
        parts = memory.run_diff(undone.undid.run_id, backwards=True).map(lambda found: found[1]).value_or(())
        lines += [render_diff(parts)] if parts else []
    lines.append(one_line(sentence_of(undone), _LINE_CHARS))
    if not undone.dry_run:
        for action in undone.actions:
            ids = " ".join((*action.ids, *action.new_ids))
            lines.append(f"  {action.kind:8} {ids}  {one_line(action.words, _TITLE_CHARS)}".rstrip())
        lines += [f"  section  {path}" for path in undone.sections]
    console.warn(*undone.warnings)
    document = {
        "run": undone.run_id or None,
        "undid": undone.undid.run_id,
        "machine": undone.undid.machine,
        "summary": sentence_of(undone),
        "actions": rows_of(undone.actions, *_ACTION),
        **fields_of(undone, "dry_run", "sections", "left", "warnings"),
    }
    console.answer(document, *lines)
