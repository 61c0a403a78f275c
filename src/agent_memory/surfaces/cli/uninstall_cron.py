"""`memory uninstall-cron`."""

from __future__ import annotations

import argparse

from agent_memory.adapters.scheduling.scheduling import SchedulePlan, Scheduling
from agent_memory.app import Memory
from agent_memory.surfaces.cli.install_cron import run_scheduling, show_set_aside
from agent_memory.surfaces.cli.setup import is_agreed, require_terminal, show_diffs
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print what would go, and change nothing")
    parser.add_argument("--yes", action="store_true", help="take it out without asking")
    parser.epilog = (
        "Takes out exactly what `memory install-cron` has put in; every other line of a crontab stays. A file of ours that "
        "was edited by hand is kept aside. Example: memory uninstall-cron --dry-run"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def act(_memory: Memory, scheduling: Scheduling) -> int:
        plan = scheduling.plan_removal()
        if plan is not None:
            return _carry_on(arguments, console, scheduling, plan)
        console.out("Nothing is scheduled.")
        console.document({"dryRun": arguments.dry_run, "scheduler": None, "files": [], "setAside": []})
        return 0

    return run_scheduling("uninstall-cron", arguments, console, act)


def _carry_on(arguments: argparse.Namespace, console: Console, scheduling: Scheduling, plan: SchedulePlan) -> int:
    show_diffs(console, plan.edits)
    aside: tuple[str, ...] = ()
    if arguments.dry_run:
        for argv in plan.schedule.stop:
            console.out(f"$ {' '.join(argv)}")
        console.out("Nothing was changed.")
    else:
        if not arguments.yes:
            require_terminal(console, "memory uninstall-cron")
            if not is_agreed(console, "Take this out?"):
                console.out("Nothing was changed.")
                return 0
        aside = scheduling.uninstall(plan)
        console.out("Nothing runs by itself any more: `memory consolidate` and `memory defrag` are yours to call.")
        show_set_aside(console, aside)
    console.document(
        {
            "dryRun": arguments.dry_run,
            "scheduler": plan.schedule.scheduler,
            "files": [edit.path for edit in (unit.edit for unit in plan.units) if edit.is_change],
            "setAside": list(aside),
        }
    )
    return 0
