"""`memory consolidate`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Success

from agent_memory.app import Memory
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.inbox_entry import FileSnapshot
from agent_memory.domain.plan import Plan
from agent_memory.domain.run import Run, exit_code_of, sentence_of, summary_of
from agent_memory.errors import UsageInvalid
from agent_memory.formats.plan_diff import render_plan_diff, replaced_ids
from agent_memory.formats.run_json import outcome_document, plan_document
from agent_memory.pipelines.upgrading import Upgrades
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, metavar="N", help="look at no more than N sessions")
    parser.add_argument("--dry-run", action="store_true", help="print the plan as a diff and write no note")
    parser.add_argument(
        "--upgrade", action="store_true", help="also hand what the built-in consolidated to the configured command"
    )
    parser.add_argument("--retry-failed", action="store_true", help="first bring back what was given up")
    parser.epilog = (
        "Each session goes alone through history, agent command, checks, notes and commit; one bad session never "
        "stops the others. What a dry run was answered, a real run applies without asking again. Exit codes: 0, "
        "40 when the run paused (agent command missing, login, limits), 75 when another run is at work. With --upgrade "
        "sessions are looked at again as a whole, from the history that was kept of them; their notes are shown to the "
        "command in full, to be updated and not doubled. They wait in the inbox behind all others, over as many days as "
        "llm.maxCallsPerDay needs."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageInvalid(f"--limit is {arguments.limit}, expected a number from 1")

    memory = open_here(console)
    if arguments.upgrade:
        upgrades = unwrap(memory.upgrades())
        _tell_upgrades(console, upgrades)
        if arguments.dry_run:
            console.document({"upgrades": len(upgrades.entries), "waiting": upgrades.waiting})
            return 0
    ended = memory.consolidate(
        limit=arguments.limit,
        dry_run=arguments.dry_run,
        retry_failed=arguments.retry_failed,
        upgrade=arguments.upgrade,
        progress=console.progress,
    )
    run = unwrap(ended)
    return _report(memory, console, run)


def _tell_upgrades(console: Console, upgrades: Upgrades) -> None:
    for warning in upgrades.warnings:
        console.err(f"memory: {warning}")
    count, waiting = len(upgrades.entries), upgrades.waiting
    more = f"; {waiting:,} wait for it already" if waiting else ""
    console.out(f"{count:,} session{'' if count == 1 else 's'} to look at again{more}.")


def _report(memory: Memory, console: Console, run: Run) -> int:
    if run.dry_run:
        for each in run.settled:
            if diff := render_plan_diff(each.plan, _before(memory, each.plan)):
                console.out(diff)
    for warning in run.warnings:
        console.err(f"memory: {warning}")
    for malformed in run.quarantined:
        console.err(f"memory: inbox/{malformed.name} was moved to inbox/.failed: {malformed.reason}")
    for settled in run.settled:
        if settled.outcome.dropped:
            console.err(f"memory: not applied from {settled.pending.name}: {'; '.join(settled.outcome.dropped)}")
        if settled.outcome.verdict == "skipped" and isinstance(settled.pending.entry.retrieval, FileSnapshot):
            # A person handed it over, and would look for it.
            console.err(f"memory: nothing was kept of {settled.pending.entry.retrieval.path}: {settled.outcome.reason}")
    console.out(sentence_of(run))
    for reason in dict.fromkeys(
        settled.outcome.reason
        for settled in run.settled
        if settled.outcome.verdict == "skipped" and not isinstance(settled.pending.entry.retrieval, FileSnapshot)
    ):
        console.out(f"Nothing was kept of a session: {reason.rstrip('.')}.")
    console.document(_document(run))
    if run.paused is not None:
        console.fail(run.paused)
    return exit_code_of(run)


def _before(memory: Memory, plan: Plan) -> dict[str, MemoryEntry]:
    found = (memory.store.read(id) for id in replaced_ids(plan))
    stored = [each.unwrap() for each in found if isinstance(each, Success)]
    return {each.meta.id: each.entry for each in stored}


def _document(run: Run) -> dict[str, Any]:
    summary = summary_of(run)
    return {
        "run": run.id,
        "dryRun": run.dry_run,
        "processed": summary.processed,
        "written": summary.entries_written,
        "updated": summary.entries_updated,
        "archived": summary.entries_archived,
        "waiting": summary.waiting,
        "gaveUp": summary.gave_up,
        "quarantined": [{"name": each.name, "reason": each.reason} for each in run.quarantined],
        "paused": None if run.paused is None else describe(run.paused),
        "warnings": list(run.warnings),
        "sessions": [
            {
                "inbox": list(each.pending.names),
                "harness": each.pending.entry.harness.value,
                "outcome": outcome_document(each.outcome),
                **({"plan": plan_document(each.plan)} if run.dry_run else {}),
            }
            for each in run.settled
        ],
    }
