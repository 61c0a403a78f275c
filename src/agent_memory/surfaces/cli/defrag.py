"""`memory defrag`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Success

from agent_memory.app import Memory
from agent_memory.domain.actions import ids_of, kind_of
from agent_memory.domain.change import Create, Replace
from agent_memory.domain.defrag_run import DefragRun, exit_code_of, retiered, sentence_of, summary_of, words_of
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.plan import Plan
from agent_memory.formats.plan_diff import render_plan_diff, replaced_ids
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print the plan as a diff and change nothing")
    parser.add_argument(
        "--force", action="store_true", help="lift the limit of three, or a quarter, of the notes changed in one run"
    )
    parser.epilog = (
        "Merges, splits, renames, corrects and archives what the agent command proposes and the plan check lets pass: "
        "nothing salient may be lost, pinned notes and notes changed meanwhile stay as they are, every earlier version "
        "goes to the archive, and `memory undo` puts everything back. Then it decides what is hot and writes the "
        "managed sections. Where nothing is new the agent command is not called. Exit codes: 0, 40 when the agent "
        "command cannot serve, 50 when its reply is refused, 70 when a target is refused, 75 when another run is at work."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    memory = open_here(console)
    ended = memory.defrag(dry_run=arguments.dry_run, force=arguments.force, progress=console.progress)
    run = unwrap(ended)
    return _report(memory, console, run)


def _report(memory: Memory, console: Console, run: DefragRun) -> int:
    if run.dry_run:
        _print_plan(memory, console, run)
    for warning in run.warnings:
        console.err(f"memory: {warning}")
    for finding in run.left:
        console.out(f"left to judge: {finding.kind} of {', '.join(finding.ids)}: {finding.reason}")
    console.out(sentence_of(run))
    console.document(_document(run))
    return exit_code_of(run) if run.trouble is None else console.fail(run.trouble)


def _print_plan(memory: Memory, console: Console, run: DefragRun) -> None:
    plan = Plan(tuple(change for each in run.plan.actions for change in each.changes), run.plan.dropped)
    found = (memory.store.read(id) for id in replaced_ids(plan))
    before = {each.unwrap().meta.id: each.unwrap().entry for each in found if isinstance(each, Success)}
    if diff := render_plan_diff(plan, before):
        console.out(diff)
    titles = _titles(run, before)
    for id in retiered(run):
        console.out(f"# {run.tiers_before.of(id)} to {run.tiers.of(id)}: {id}  {titles.get(id, '')}".rstrip())


def _titles(run: DefragRun, before: dict[str, MemoryEntry]) -> dict[str, str]:
    titles = {id: entry.meta.title for id, entry in before.items()}
    if run.scan is not None:
        live = run.scan.live.entries
        titles |= zip([each.meta.id for each in live], [each.meta.title for each in live], strict=True)
    for change in (change for each in run.plan.actions for change in each.changes):
        if isinstance(change, Create | Replace):
            titles[change.entry.meta.id] = change.entry.meta.title
    return titles


def _document(run: DefragRun) -> dict[str, Any]:
    summary = summary_of(run)
    return {
        "run": run.id,
        "dryRun": run.dry_run,
        "asked": run.asked,
        "actions": [
            {
                "action": kind_of(each.action),
                "ids": list(ids_of(each.action)),
                "newIds": list(each.new_ids),
                "words": words_of(each),
            }
            for each in run.plan.actions
        ],
        "refused": [{"subject": each.subject, "reasons": list(each.reasons)} for each in run.plan.dropped],
        "deferred": [{"action": kind_of(each.action), "ids": list(ids_of(each.action))} for each in run.plan.deferred],
        "left": [{"kind": each.kind.value, "ids": list(each.ids), "reason": each.reason} for each in run.left],
        "retiered": summary.retiered,
        "tiers": {"hot": list(run.tiers.hot), "warm": list(run.tiers.warm)},
        "targets": [
            {"path": each.path, "outcome": each.outcome}
            for each in (run.published.targets if run.published is not None else ())
        ],
        "warnings": list(run.warnings),
    }
