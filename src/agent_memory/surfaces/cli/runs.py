"""`memory consolidate` and `memory defrag`: the two runs that an agent command has a part in."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Success

from agent_memory.app import Memory
from agent_memory.domain import defrag_run
from agent_memory.domain.actions import ids_of, kind_of
from agent_memory.domain.change import Create, Replace
from agent_memory.domain.defrag_run import DefragRun
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.plan import Plan
from agent_memory.domain.queue import FileSnapshot
from agent_memory.domain.run import Run, Settled, exit_code_of, sentence_of, summary_of
from agent_memory.domain.text.plain_text import counted
from agent_memory.formats.diffs import render_plan_diff, replaced_ids
from agent_memory.formats.run_json import outcome_document, plan_document
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_flag, add_number, check_range, set_command
from agent_memory.surfaces.cli.dialogue import open_here
from agent_memory.surfaces.console import Console, fields_of, rows_of


def _before(memory: Memory, plan: Plan) -> dict[str, MemoryEntry]:
    """The notes that the plan changes, as they are."""
    found = (memory.store.read(id) for id in replaced_ids(plan))
    stored = [each.unwrap() for each in found if isinstance(each, Success)]
    return {each.meta.id: each.entry for each in stored}


# -- consolidate ------------------------------------------------------------------------------------------------------


def configure_consolidate(parser: argparse.ArgumentParser) -> None:
    add_number(parser, "--limit", "look at no more than N sessions")
    add_flag(parser, "--dry-run", "print the plan as a diff and write no note")
    add_flag(parser, "--upgrade", "also hand what the built-in consolidated to the configured command")
    add_flag(parser, "--retry-failed", "first bring back what was given up")
    epilog = (
        "Each session goes alone through history, agent command, checks, notes and commit; one bad session never "
        "stops the others. What a dry run was answered, a real run applies without asking again. Exit codes: 0, "
        "40 when the run paused (agent command missing, login, limits), 75 when another run is at work. With --upgrade "
        "sessions are looked at again as a whole, from the history that was kept of them; their notes are shown to the "
        "command in full, to be updated and not doubled. They wait in the inbox behind all others, over as many days as "
        "llm.maxCallsPerDay needs."
    )
    set_command(parser, _consolidate, epilog, "memory consolidate --dry-run")


def _consolidate(arguments: argparse.Namespace, console: Console) -> int:
    check_range("--limit", arguments.limit, 1)
    memory = open_here(console)
    if arguments.upgrade:
        upgrades = unwrap(memory.upgrades())
        console.warn(*upgrades.warnings)
        more = f"; {upgrades.waiting:,} wait for it already" if upgrades.waiting else ""
        console.out(f"{counted(len(upgrades.entries), 'session')} to look at again{more}.")
        if arguments.dry_run:
            console.answer({"upgrades": len(upgrades.entries), "waiting": upgrades.waiting})
            return 0
    ended = memory.consolidate(
        limit=arguments.limit,
        dry_run=arguments.dry_run,
        retry_failed=arguments.retry_failed,
        upgrade=arguments.upgrade,
        progress=console.progress,
    )
    run = unwrap(ended)
    if run.dry_run:
        diffs = (render_plan_diff(each.plan, _before(memory, each.plan)) for each in run.settled)
        console.out(*filter(None, diffs))
    _warn_of_sessions(console, run)
    skipped = [each for each in run.settled if each.outcome.verdict == "skipped" and not _is_file(each)]
    reasons = dict.fromkeys(each.outcome.reason.rstrip(".") for each in skipped)
    kept_nothing = (f"Nothing was kept of a session: {reason}." for reason in reasons)
    console.answer(_run_document(run), sentence_of(run), *kept_nothing)
    if run.paused is not None:
        console.fail(run.paused)
    return exit_code_of(run)


def _warn_of_sessions(console: Console, run: Run) -> None:
    console.warn(*run.warnings)
    for each in run.quarantined:
        console.warn(f"inbox/{each.name} was moved to inbox/.failed: {each.reason}")
    for settled in run.settled:
        if settled.outcome.dropped:
            console.warn(f"not applied from {settled.pending.name}: {'; '.join(settled.outcome.dropped)}")
        retrieval = settled.pending.entry.retrieval
        if settled.outcome.verdict == "skipped" and isinstance(retrieval, FileSnapshot):
            # A person handed it over, and would look for it.
            console.warn(f"nothing was kept of {retrieval.path}: {settled.outcome.reason}")


def _is_file(settled: Settled) -> bool:
    return isinstance(settled.pending.entry.retrieval, FileSnapshot)


def _run_document(run: Run) -> dict[str, Any]:
    summary = summary_of(run)
    sessions = [
        {
            "inbox": list(each.pending.names),
            "harness": each.pending.entry.harness.value,
            "outcome": outcome_document(each.outcome),
            **({"plan": plan_document(each.plan)} if run.dry_run else {}),
        }
        for each in run.settled
    ]
    return {
        "run": run.id,
        **fields_of(summary, "processed", "waiting", "gave_up"),
        "written": summary.entries_written,
        "updated": summary.entries_updated,
        "archived": summary.entries_archived,
        "quarantined": rows_of(run.quarantined, "name", "reason"),
        "paused": None if run.paused is None else str(run.paused),
        **fields_of(run, "dry_run", "warnings"),
        "sessions": sessions,
    }


# -- defrag -----------------------------------------------------------------------------------------------------------


def configure_defrag(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--dry-run", "print the plan as a diff and change nothing")
    add_flag(parser, "--force", "lift the limit of three, or a quarter, of the notes changed in one run")
    epilog = (
        "Merges, splits, renames, corrects and archives what the agent command proposes and the plan check lets pass: "
        "nothing salient may be lost, pinned notes and notes changed meanwhile stay as they are, every earlier version "
        "goes to the archive, and `memory undo` puts everything back. Then it decides what is hot and writes the "
        "managed sections. Where nothing is new the agent command is not called. Exit codes: 0, 40 when the agent "
        "command cannot serve, 50 when its reply is refused, 70 when a target is refused, 75 when another run is at work."
    )
    set_command(parser, _defrag, epilog, "memory defrag --dry-run")


def _defrag(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    run = unwrap(memory.defrag(dry_run=arguments.dry_run, force=arguments.force, progress=console.progress))
    if run.dry_run:
        console.out(*_planned(memory, run))
    console.warn(*run.warnings)
    left = (f"left to judge: {each.kind} of {', '.join(each.ids)}: {each.reason}" for each in run.left)
    console.answer(_defrag_document(run), *left, defrag_run.sentence_of(run))
    return defrag_run.exit_code_of(run) if run.trouble is None else console.fail(run.trouble)


def _planned(memory: Memory, run: DefragRun) -> list[str]:
    plan = Plan(tuple(change for each in run.plan.actions for change in each.changes), run.plan.dropped)
    before = _before(memory, plan)
    diff = render_plan_diff(plan, before)
    titles = {id: entry.meta.title for id, entry in before.items()}
    if run.scan is not None:
        titles |= {each.meta.id: each.meta.title for each in run.scan.live.entries}
    for change in plan.changes:
        if isinstance(change, Create | Replace):
            titles[change.entry.meta.id] = change.entry.meta.title
    moved = [
        f"# {run.tiers_before.of(id)} to {run.tiers.of(id)}: {id}  {titles.get(id, '')}".rstrip()
        for id in defrag_run.retiered(run)
    ]
    return [*([diff] if diff else []), *moved]


def _defrag_document(run: DefragRun) -> dict[str, Any]:
    actions = [
        {
            "action": kind_of(each.action),
            "ids": list(ids_of(each.action)),
            "newIds": list(each.new_ids),
            "words": defrag_run.words_of(each),
        }
        for each in run.plan.actions
    ]
    return {
        "run": run.id,
        **fields_of(run, "dry_run", "asked"),
        "actions": actions,
        "refused": rows_of(run.plan.dropped, "subject", "reasons"),
        "deferred": [{"action": kind_of(each.action), "ids": list(ids_of(each.action))} for each in run.plan.deferred],
        "left": rows_of(run.left, "kind", "ids", "reason"),
        "retiered": len(defrag_run.retiered(run)),
        "tiers": fields_of(run.tiers, "hot", "warm"),
        "targets": [] if run.published is None else rows_of(run.published.targets, "path", "outcome"),
        "warnings": list(run.warnings),
    }
