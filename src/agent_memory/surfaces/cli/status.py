"""`memory status`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from agent_memory.domain.health import Health
from agent_memory.domain.scheduling import JobHealth, in_words
from agent_memory.domain.text.plain_text import counted, one_line
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import set_command
from agent_memory.surfaces.cli.dialogue import first_of, open_here, short_age, time_until
from agent_memory.surfaces.console import (
    Console,
    broken_lines,
    fields_of,
    iso_or_none,
    styled,
    terminal_columns,
)


def configure_status(parser: argparse.ArgumentParser) -> None:
    epilog = (
        "The first line says whether all is well. Exit code 1 when something needs a look, so that it can sit in a prompt or "
        "a monitor."
    )
    set_command(parser, _run, epilog, "memory status --json")


def _run(arguments: argparse.Namespace, console: Console) -> int:
    health = unwrap(open_here(console).health())
    width = terminal_columns() if console.is_terminal else None
    console.answer(_document(health), *health_lines(health, width, colour=console.colour))
    return 1 if health.problems else 0


def _document(health: Health) -> dict[str, Any]:
    last = health.last_runs[0] if health.last_runs else None
    run = last and {
        "run": last.run_id,
        **fields_of(last, "machine", "ended_at_ms", "result", "summary"),
        "message": last.error,
        "sessions": len(last.sessions),
    }
    set_back = [{"key": key, **fields_of(trouble, "code", "message", "attempts")} for key, trouble in health.troubles]
    spent = health.spent_today
    return {
        **fields_of(health, "root", "entries", "archived", "unreadable", "pending", "oldest_pending_at_ms"),
        **fields_of(health, "failed"),
        "setBack": set_back,
        "lastCaptures": {harness: iso_or_none(at_ms) for harness, at_ms in health.last_captures},
        **fields_of(health, "deliveries"),
        "lastRun": run,
        "schedule": list(map(_job_document, health.jobs)),
        **fields_of(health, "hook_problems", "agent"),
        "spend": {
            **fields_of(spent, "day", "calls", "prompt_chars", "reply_chars"),
            "maxCallsPerDay": health.max_calls_per_day,
        },
        **fields_of(health, "problems"),
    }


def _job_document(job: JobHealth) -> dict[str, Any]:
    last = job.record.last
    return {
        **fields_of(job, "name", "scheduler", "interval_seconds", "next_at_ms"),
        "failures": job.record.failures,
        "lastRun": last and fields_of(last, "started_at_ms", "ended_at_ms", "exit_code", "message"),
    }


# -- in words ---------------------------------------------------------------------------------------------------------

MOST_SHOWN = 10
"""Sessions set back, and entries failed, that are shown to a person."""

_COLOURS = {"ok": "\x1b[1;32m", "problem": "\x1b[1;31m"}
_NAME_CELLS = 10
_LEAST_CELLS = 10
_LINE_CHARS = 4096


def health_lines(health: Health, width_cells: int | None, *, colour: bool) -> Iterator[str]:
    """What is well and what is not first, then the rest, a word before each; broken to the width, if there is one."""
    for name, text in _facts(health):
        line = one_line(text, _LINE_CHARS)
        broken = [line]
        if width_cells is not None:
            broken = broken_lines(line, max(width_cells - _NAME_CELLS, _LEAST_CELLS)) or [""]
        yield styled(_COLOURS.get(name, ""), f"{name:{_NAME_CELLS}}", colour=colour) + broken[0]
        yield from (f"{' ' * _NAME_CELLS}{rest}" for rest in broken[1:])


def _facts(health: Health) -> Iterator[tuple[str, str]]:
    now_ms = health.now_ms
    for problem in health.problems:
        yield "problem", problem
    if not health.problems:
        waiting = len(health.troubles)
        again = f"; {counted(waiting, 'session')} set back, to be tried again" if waiting else ""
        yield "ok", f"nothing needs a look{again}"
    yield "store", f"{counted(health.entries, 'note')}, {health.archived:,} archived, in {health.root}"
    oldest = health.oldest_pending_at_ms
    since = f", the oldest from {short_age(oldest, now_ms)}" if oldest is not None else ""
    yield "inbox", f"{health.pending:,} waiting{since}, {len(health.failed):,} failed"
    if health.last_captures:  # of each harness when last: a hook that stopped working is seen here first
        yield "captured", ", ".join(f"{harness} {short_age(at_ms, now_ms)}" for harness, at_ms in health.last_captures)
    for text in _delivered(health):
        yield "delivered", text
    yield "last run", _last_run(health)
    for job in health.jobs:
        yield "schedule", _job(job, now_ms)
    spent = health.spent_today
    calls = f"{spent.calls} of {health.max_calls_per_day} calls today"
    yield "agent", f"{health.agent}, {calls}, {spent.prompt_chars:,} characters sent"
    has_all = "`memory status --json` has all"
    for text in first_of([f"{key}: {trouble.message}" for key, trouble in health.troubles], MOST_SHOWN, has_all):
        yield "set back", text
    for text in first_of([f"{each.name}: {each.reason}" for each in health.failed], MOST_SHOWN, has_all):
        yield "failed", text


def _delivered(health: Health) -> Iterator[str]:
    """How often in the last week, and to whom last; then each harness with its own."""
    if not health.deliveries:
        return
    newest = max(health.deliveries, key=lambda each: each.last_at_ms)
    week = sum(each.this_week for each in health.deliveries)
    last = short_age(newest.last_at_ms, health.now_ms)
    yield f"{counted(week, 'time')} this week, last to {newest.harness} {last}"
    if len(health.deliveries) > 1:
        for each in health.deliveries:
            yield f"{each.harness} {counted(each.this_week, 'time')}, last {short_age(each.last_at_ms, health.now_ms)}"


def _last_run(health: Health) -> str:
    if not health.last_runs:
        return "none yet"
    last = health.last_runs[0]
    at = short_age(last.ended_at_ms, health.now_ms) if last.ended_at_ms is not None else "at an unknown time"
    what = one_line(last.summary, 300) or counted(len(last.sessions), "session")
    return f"{last.machine} {last.result} {at}: {what} (runs/{last.run_id})"


def _job(job: JobHealth, now_ms: int) -> str:
    last = job.record.last
    if last is None:
        ran = "has not run yet"
    elif last.ended_at_ms is None:
        ran = f"began {short_age(last.started_at_ms, now_ms)}, and has not ended"
    else:
        outcome = "failed" if last.failed else "found another run at work" if last.exit_code else "went well"
        ran = f"last {short_age(last.started_at_ms, now_ms)}, {outcome}"
    failures = f", {counted(job.record.failures, 'failure')} since one went well" if job.record.failures else ""
    by = "" if job.scheduler is None else f" by {job.scheduler}"
    every = f"every {in_words(job.interval_seconds)}{by}"
    return f"{job.name} {every}: {ran}{failures}; next {time_until(job.next_at_ms, now_ms)}"
