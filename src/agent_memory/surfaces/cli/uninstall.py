"""`memory uninstall`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.setup.installation import Installation
from agent_memory.app import Memory
from agent_memory.domain.installing.plans import InstallPlan
from agent_memory.domain.installing.receipt import repository_name
from agent_memory.errors import Error
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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("harness", metavar="HARNESS", nargs="*", help="default: everything that setup has installed")
    parser.add_argument("--dry-run", action="store_true", help="print the diffs and change nothing")
    parser.add_argument("--yes", action="store_true", help="change without asking")
    parser.add_argument("--repo", action="store_true", help="only the files of the repository around you")
    parser.epilog = (
        "Takes out exactly what `memory setup` and `memory generate-agents-md --target` have put in. A file that nobody has touched since is again what it was, byte "
        "for byte; in another, what was edited by hand stays. Files and directories that setup made are removed. The "
        "memories themselves stay where they are. Exit code: 2 where there is no terminal to ask on, 10 or 70 when a file "
        "was refused."
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def planned(memory: Memory, installation: Installation) -> Result[InstallPlan, Error]:
        return _whose(arguments, memory).bind(installation.plan_removal)

    def carried_out(memory: Memory, installation: Installation, plan: InstallPlan) -> int:
        return _go_on(arguments, console, installation, plan, str(memory.root))

    return run_installation("uninstall", arguments, console, planned, carried_out)


def _whose(arguments: argparse.Namespace, memory: Memory) -> Result[frozenset[str] | None, Error]:
    """What is to go; None for everything."""
    if not arguments.repo:
        return Success(frozenset(arguments.harness) or None)
    return repository_here(memory).map(lambda top: frozenset((*arguments.harness, repository_name(top))))


def _go_on(
    arguments: argparse.Namespace, console: Console, installation: Installation, plan: InstallPlan, root: str
) -> int:
    show_edits(console, plan)
    if arguments.dry_run:
        show_refused(console, plan)
        console.out("Nothing was changed." if plan.edits else "There is nothing to remove.")
        console.document(_document(outcome_documents(planned_outcomes(plan), plan), dry_run=True))
        return exit_code(plan)
    if plan.edits and not arguments.yes:
        if not can_ask(console):
            return console.fail(unasked("memory uninstall"))
        if not is_agreed(console, "Make these changes?"):
            console.out("Nothing was changed.")
            return 0
    match sealed(installation.uninstall(plan)):
        case Failure(error):
            return console.fail(error)
        case Success(outcomes):
            show_refused(console, plan)
            show_outcomes(console, outcomes)
            if not plan.edits:
                console.out("There is nothing to remove.")
            elif installation.installed().map(lambda receipt: not receipt.harnesses).value_or(False):
                console.out(f"Nothing of memory is left in any harness. The memories stay in {root}.")
                if is_scheduled(installation):
                    console.out(
                        "This machine still consolidates and defrags by itself: `memory uninstall-cron` ends that."
                    )
            console.document(_document(outcome_documents(outcomes, plan), dry_run=False))
            return exit_code(plan, outcomes)


def _document(files: list[dict[str, Any]], *, dry_run: bool) -> dict[str, Any]:
    return {"dryRun": dry_run, "files": files}
