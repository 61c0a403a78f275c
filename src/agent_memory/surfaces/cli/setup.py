"""`memory setup`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.installation import Installation
from agent_memory.app import Memory
from agent_memory.domain.installing.harnesses import SETUPS
from agent_memory.domain.installing.plans import InstallPlan, Played, Wish
from agent_memory.domain.installing.wanted import Part
from agent_memory.errors import Error, UsageInvalid
from agent_memory.results import sealed
from agent_memory.surfaces.cli.installing import (
    can_ask,
    exit_code,
    is_agreed,
    is_scheduled,
    outcome_documents,
    planned_outcomes,
    repository_here,
    run_installation,
    show_edits,
    show_outcomes,
    show_refused,
    unasked,
)
from agent_memory.surfaces.console import Console

NOT_ARRIVED = 30
"""Exit code where a trial did not reach the inbox."""


def configure(parser: argparse.ArgumentParser) -> None:
    known = ", ".join(SETUPS)
    parser.add_argument(
        "harness", metavar="HARNESS", nargs="*", help=f"default: those that are on this machine; known are {known}"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the diffs and write nothing")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument(
        "--repo", action="store_true", help="also make a target of what the harnesses read in the repository around you"
    )
    parser.add_argument("--mcp", action="store_true", help="also let the harness start `memory mcp`")
    for part, meaning in (
        (Part.HOOKS, "no hooks and no plugin: nothing is captured by itself"),
        (Part.SKILL, "no skill file"),
        (Part.SECTION, "no managed section in the harness's instruction file"),
    ):
        parser.add_argument(f"--no-{part}", action="store_true", help=meaning)
    parser.epilog = (
        "Shows what it would change in each file, asks, and writes. Comments, order and every other byte of a file stay. "
        "What was there before is kept in ~/.local/state/agent-memory/setup/, from which `memory uninstall` puts it back. "
        "The storage root and the transcript directories of this shell go into your config, so that scheduled runs see "
        "them. In the end each hook is tried with a made-up session. Nothing in a repository is touched without --repo. "
        "Exit code: 2 where there is no terminal to ask on, 10 when a file was refused, 30 when a trial did not arrive."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def planned(memory: Memory, installation: Installation) -> Result[InstallPlan, Error]:
        return _wish(arguments, memory, installation).bind(installation.plan)

    def carried_out(memory: Memory, installation: Installation, plan: InstallPlan) -> int:
        return _go_on(arguments, console, memory, installation, plan)

    return run_installation("setup", arguments, console, planned, carried_out)


def _wish(arguments: argparse.Namespace, memory: Memory, installation: Installation) -> Result[Wish, Error]:
    harnesses = tuple(dict.fromkeys(arguments.harness)) or installation.detected()
    if not harnesses and not arguments.repo:
        return Failure(UsageInvalid("No harness was found on this machine", f"Name one: {', '.join(SETUPS)}."))
    top = None
    if arguments.repo:
        match sealed(repository_here(memory)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                top = found
    left_out = {part for part in (Part.HOOKS, Part.SKILL, Part.SECTION) if getattr(arguments, f"no_{part}")}
    parts = {*Part} - left_out - (set() if arguments.mcp else {Part.MCP})
    return Success(Wish(harnesses, frozenset(parts), top))


def _go_on(
    arguments: argparse.Namespace, console: Console, memory: Memory, installation: Installation, plan: InstallPlan
) -> int:
    show_edits(console, plan)
    if arguments.dry_run:
        show_refused(console, plan)
        _show_notes(console, plan)
        console.out("Nothing was written." if plan.edits else "There is nothing to change.")
        console.document(_document(plan, outcome_documents(planned_outcomes(plan), plan), (), dry_run=True))
        return exit_code(plan)
    if plan.edits and not arguments.yes:
        if not can_ask(console):
            return console.fail(unasked("memory setup"))
        show_refused(console, plan)
        if not is_agreed(console, "Write these changes?"):
            console.out("Nothing was written.")
            return 0
    return _carry_out(console, memory, installation, plan, told=bool(plan.edits and not arguments.yes))


def _carry_out(console: Console, memory: Memory, installation: Installation, plan: InstallPlan, *, told: bool) -> int:
    match sealed(installation.install(plan)):
        case Failure(error):
            return console.fail(error)
        case Success(outcomes):
            if not told:
                show_refused(console, plan)
            show_outcomes(console, outcomes)
            if not plan.edits:
                console.out("There is nothing to change.")
            played = installation.play(plan)
            memory.index_all(console.progress)
            _show_played(console, played)
            _show_notes(console, plan)
            if not is_scheduled(installation):
                console.out("Next: `memory install-cron` lets this machine consolidate and defrag by itself.")
            console.document(_document(plan, outcome_documents(outcomes, plan), played, dry_run=False))
            return exit_code(plan, outcomes) or (0 if all(each.arrived for each in played) else NOT_ARRIVED)


def _show_notes(console: Console, plan: InstallPlan) -> None:
    for note in plan.notes:
        console.err(f"memory: {note}")


def _show_played(console: Console, played: tuple[Played, ...]) -> None:
    for each in played:
        if each.arrived and each.act == "inject":
            console.out(f"{each.harness}: a made-up session was told a made-up note")
        elif each.arrived:
            console.out(f"{each.harness}: a made-up session was captured, and taken away again")
        elif each.act == "inject":
            console.err(
                f"memory: {each.harness}: a made-up note did not come back from `{each.command}`: {each.problem}."
            )
        else:
            console.err(
                f"memory: {each.harness}: a made-up session did not arrive through `{each.command}`: {each.problem}."
            )


def _document(
    plan: InstallPlan, files: list[dict[str, Any]], played: tuple[Played, ...], *, dry_run: bool
) -> dict[str, Any]:
    return {
        "dryRun": dry_run,
        "files": files,
        "trials": [
            {
                "harness": each.harness,
                "act": each.act,
                "command": each.command,
                "arrived": each.arrived,
                "problem": each.problem or None,
            }
            for each in played
        ],
        "notes": list(plan.notes),
    }
