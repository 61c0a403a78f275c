"""`memory status`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from agent_memory.domain.health import Health
from agent_memory.domain.instants import iso_of
from agent_memory.domain.scheduling import JobHealth, in_words
from agent_memory.domain.text.plain_text import one_line
from agent_memory.results import unwrap
from agent_memory.surfaces.cells import terminal_columns
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.marked_text import marked_lines
from agent_memory.surfaces.periods import short_age, time_until


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The first line says whether all is well. Exit code 1 when something needs a look, so that it can sit in a prompt or "
        "a monitor."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    health = unwrap(memory.health())
    console.document(_document(health))
    width = terminal_columns() if console.is_terminal else None
    console.out("\n".join(health_lines(health, width, colour=console.colour)))
    return 1 if health.problems else 0


def _job_document(job: JobHealth) -> dict[str, Any]:
    last = job.record.last
    return {
        "name": job.name,
        "scheduler": job.scheduler,
        "intervalSeconds": job.interval_seconds,
        "nextAt": iso_of(job.next_at_ms),
        "failures": job.record.failures,
        "lastRun": None
        if last is None
        else {
            "startedAt": iso_of(last.started_at_ms),
            "endedAt": None if last.ended_at_ms is None else iso_of(last.ended_at_ms),
            "exitCode": last.exit_code,
            "message": last.message,
        },
    }


def _document(health: Health) -> dict[str, Any]:
    last = health.last_run
    return {
        "root": health.root,
        "entries": health.entries,
        "archived": health.archived,
        "unreadable": list(health.unreadable),
        "pending": health.pending,
        "oldestPendingAt": None if health.oldest_pending_at_ms is None else iso_of(health.oldest_pending_at_ms),
        "failed": [{"name": each.name, "reason": each.reason, "malformed": each.malformed} for each in health.failed],
        "setBack": [
            {"key": key, "code": trouble.code, "message": trouble.message, "attempts": trouble.attempts}
            for key, trouble in health.troubles
        ],
        "lastCaptures": {harness: iso_of(at_ms) for harness, at_ms in health.last_captures},
        "deliveries": [
            {
                "harness": each.harness,
                "thisWeek": each.this_week,
                "tokensThisWeek": each.tokens_this_week,
                "lastAt": iso_of(each.last_at_ms),
            }
            for each in health.deliveries
        ],
        "lastRun": None
        if last is None
        else {
            "run": last.run_id,
            "machine": last.machine,
            "endedAt": None if last.ended_at_ms is None else iso_of(last.ended_at_ms),
            "result": last.result,
            "summary": last.summary,
            "message": last.message,
            "sessions": last.sessions,
        },
        "schedule": [_job_document(job) for job in health.jobs],
        "hookProblems": [
            {"at": each.at, "harness": each.harness, "act": each.act or "capture", "message": each.message}
            for each in health.hook_problems
        ],
        "agent": health.agent,
        "spend": {
            "day": health.spent_today.day,
            "calls": health.spent_today.calls,
            "maxCallsPerDay": health.max_calls_per_day,
            "promptChars": health.spent_today.prompt_chars,
            "replyChars": health.spent_today.reply_chars,
        },
        "problems": list(health.problems),
    }


MOST_SHOWN = 10
"""Sessions set back, and entries failed, that are shown to a person."""

_OK, _PROBLEM = "ok", "problem"
_COLOURS = {_OK: "\x1b[1;32m", _PROBLEM: "\x1b[1;31m"}
_PLAIN = "\x1b[0m"
_NAME_CELLS = 10
_LEAST_CELLS = 10
_LINE_CHARS = 4096


def health_lines(health: Health, width_cells: int | None, *, colour: bool) -> list[str]:
    """What is well and what is not first, then the rest, a word before each; broken to the width, if there is one."""
    lines: list[str] = []
    for name, text in (*_verdict(health), *_facts(health)):
        head, *rest = [text] if width_cells is None else _broken(text, width_cells)
        shown = f"{name:{_NAME_CELLS}}"
        lines.append(f"{_COLOURS[name]}{shown}{_PLAIN}{head}" if colour and name in _COLOURS else f"{shown}{head}")
        lines += [f"{' ' * _NAME_CELLS}{line}" for line in rest]
    return lines


def _broken(text: str, width_cells: int) -> list[str]:
    return marked_lines(text, (), max(width_cells - _NAME_CELLS, _LEAST_CELLS), colour=False) or [""]


def _verdict(health: Health) -> list[tuple[str, str]]:
    if health.problems:
        return [(_PROBLEM, one_line(problem, _LINE_CHARS)) for problem in health.problems]
    waiting = len(health.troubles)
    again = f"; {_count(waiting, 'session')} set back, to be tried again" if waiting else ""
    return [(_OK, f"nothing needs a look{again}")]


def _facts(health: Health) -> list[tuple[str, str]]:
    return [
        ("store", f"{_count(health.entries, 'note')}, {health.archived:,} archived, in {one_line(health.root, 4096)}"),
        ("inbox", _inbox(health)),
        *(("captured", text) for text in _captured(health)),
        *(("delivered", text) for text in _delivered(health)),
        ("last run", _last_run(health)),
        *(("schedule", _job(job, health.now_ms)) for job in health.jobs),
        ("agent", _spent(health)),
        *(("set back", text) for text in _first([f"{key}: {trouble.message}" for key, trouble in health.troubles])),
        *(("failed", text) for text in _first([f"{each.name}: {each.reason}" for each in health.failed])),
    ]


def _first(texts: Sequence[str]) -> list[str]:
    shown = [one_line(text, _LINE_CHARS) for text in texts[:MOST_SHOWN]]
    rest = len(texts) - MOST_SHOWN
    return shown if rest <= 0 else [*shown, f"… and {rest} more (`memory status --json` has all)"]


def _inbox(health: Health) -> str:
    oldest = health.oldest_pending_at_ms
    since = f", the oldest from {short_age(oldest, health.now_ms)}" if oldest is not None else ""
    return f"{health.pending:,} waiting{since}, {len(health.failed):,} failed"


def _captured(health: Health) -> list[str]:
    """Of each harness when last: a hook that stopped working is seen here first."""
    each = [f"{harness} {short_age(at_ms, health.now_ms)}" for harness, at_ms in health.last_captures]
    return [", ".join(each)] if each else []


def _delivered(health: Health) -> list[str]:
    """How often in the last week, and to whom last; then each harness with its own."""
    if not health.deliveries:
        return []
    newest = max(health.deliveries, key=lambda each: each.last_at_ms)
    week = sum(each.this_week for each in health.deliveries)
    total = f"{_times(week)} this week, last to {newest.harness} {short_age(newest.last_at_ms, health.now_ms)}"
    each = [
        f"{one.harness} {_times(one.this_week)}, last {short_age(one.last_at_ms, health.now_ms)}"
        for one in health.deliveries
    ]
    return [total, *(each if len(each) > 1 else [])]


def _spent(health: Health) -> str:
    today = health.spent_today
    calls = f"{today.calls} of {health.max_calls_per_day} calls today"
    return f"{health.agent}, {calls}, {today.prompt_chars:,} characters sent"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _last_run(health: Health) -> str:
    last = health.last_run
    if last is None:
        return "none yet"
    at = short_age(last.ended_at_ms, health.now_ms) if last.ended_at_ms is not None else "at an unknown time"
    what = one_line(last.summary, 300) or _count(last.sessions, "session")
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
    failures = f", {_count(job.record.failures, 'failure')} since one went well" if job.record.failures else ""
    by = "" if job.scheduler is None else f" by {job.scheduler}"
    every = f"every {in_words(job.interval_seconds)}{by}"
    return f"{job.name} {every}: {ran}{failures}; next {time_until(job.next_at_ms, now_ms)}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
