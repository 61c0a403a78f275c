"""`memory uninstall`."""

from __future__ import annotations

import argparse

from agent_memory.adapters.setup.installation import Installation
from agent_memory.app import Memory
from agent_memory.domain.installing.plan import InstallPlan, repository_name
from agent_memory.errors import AgentMemoryError
from agent_memory.surfaces.cli.setup import (
    exit_code,
    is_agreed,
    is_scheduled,
    outcome_documents,
    planned_outcomes,
    repository_here,
    require_terminal,
    run_installation,
    show_diffs,
    show_outcomes,
    show_refused,
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
    def act(memory: Memory, installation: Installation) -> int:
        named = frozenset(arguments.harness)
        if arguments.repo:
            named |= {repository_name(repository_here(memory))}
        plan = installation.plan_removal(named or None)
        return _carry_on(arguments, console, installation, plan, str(memory.root))

    return run_installation("uninstall", arguments, console, act)


def _carry_on(
    arguments: argparse.Namespace, console: Console, installation: Installation, plan: InstallPlan, root: str
) -> int:
    show_diffs(console, plan.edits)
    if arguments.dry_run:
        show_refused(console, plan)
        console.out("Nothing was changed." if plan.edits else "There is nothing to remove.")
        console.document({"dryRun": True, "files": outcome_documents(planned_outcomes(plan), plan)})
        return exit_code(plan)
    if plan.edits and not arguments.yes:
        require_terminal(console, "memory uninstall")
        if not is_agreed(console, "Make these changes?"):
            console.out("Nothing was changed.")
            return 0
    outcomes = installation.uninstall(plan)
    show_refused(console, plan)
    show_outcomes(console, outcomes)
    if not plan.edits:
        console.out("There is nothing to remove.")
    elif _nothing_is_left(installation):
        console.out(f"Nothing of memory is left in any harness. The memories stay in {root}.")
        if is_scheduled(installation):
            console.out("This machine still consolidates and defrags by itself: `memory uninstall-cron` ends that.")
    console.document({"dryRun": False, "files": outcome_documents(outcomes, plan)})
    return exit_code(plan, outcomes)


def _nothing_is_left(installation: Installation) -> bool:
    try:
        return not installation.state.receipt().harnesses
    except AgentMemoryError:
        return False
