"""`memory status`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Failure, Success

from agent_memory.bootstrap import Memory
from agent_memory.domain.health import Health
from agent_memory.domain.instants import iso_of
from agent_memory.domain.results import sealed
from agent_memory.domain.scheduling.scheduled_run import JobHealth
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console
from agent_memory.surfaces.health_page import health_lines
from agent_memory.surfaces.terminal_columns import terminal_columns


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "The first line says whether all is well. Exit code 1 when something needs a look, so that it can sit in a prompt or "
        "a monitor."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def show(memory: Memory) -> int:
        match sealed(memory.health()):
            case Failure(error):
                return console.fail(error)
            case Success(health):
                console.document(_document(health))
                width = terminal_columns() if console.is_terminal else None
                console.out("\n".join(health_lines(health, width, colour=console.colour)))
                return 1 if health.problems else 0

    return with_memory(console, show)


def _job_document(job: JobHealth) -> dict[str, Any]:
    last = job.record.last
    return {
        "name": job.name,
        "scheduler": None if job.scheduler is None else job.scheduler.value,
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
