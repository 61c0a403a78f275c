"""`memory uninstall-cron`."""

from __future__ import annotations

import argparse

from returns.result import Failure, Success

from agent_memory.adapters.scheduling.scheduling import SchedulePlan, Scheduling
from agent_memory.app import Memory
from agent_memory.results import sealed
from agent_memory.surfaces.cli.installing import can_ask, is_agreed, show_diffs, unasked
from agent_memory.surfaces.cli.scheduling import run_scheduling
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print what would go, and change nothing")
    parser.add_argument("--yes", action="store_true", help="take it out without asking")
    parser.epilog = (
        "Takes out exactly what `memory install-cron` has put in; every other line of a crontab stays. A file of ours that "
        "was edited by hand is kept aside. Example: memory uninstall-cron --dry-run"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def planned(_memory: Memory, scheduling: Scheduling) -> int:
        match sealed(scheduling.plan_removal()):
            case Failure(error):
                return console.fail(error)
            case Success(plan):
                if plan is not None:
                    return _go_on(arguments, console, scheduling, plan)
                console.out("Nothing is scheduled.")
                console.document({"dryRun": arguments.dry_run, "scheduler": None, "files": [], "setAside": []})
                return 0

    return run_scheduling("uninstall-cron", arguments, console, planned)


def _go_on(arguments: argparse.Namespace, console: Console, scheduling: Scheduling, plan: SchedulePlan) -> int:
    show_diffs(console, plan.edits)
    if arguments.dry_run:
        for argv in plan.schedule.stop:
            console.out(f"$ {' '.join(argv)}")
        console.out("Nothing was changed.")
        _tell(console, plan, (), dry_run=True)
        return 0
    if not arguments.yes:
        if not can_ask(console):
            return console.fail(unasked("memory uninstall-cron"))
        if not is_agreed(console, "Take this out?"):
            console.out("Nothing was changed.")
            return 0
    match sealed(scheduling.uninstall(plan)):
        case Failure(error):
            return console.fail(error)
        case Success(aside):
            console.out("Nothing runs by itself any more: `memory consolidate` and `memory defrag` are yours to call.")
            for path in aside:
                console.out(f"What had been edited by hand is kept in {path}")
            _tell(console, plan, aside, dry_run=False)
            return 0


def _tell(console: Console, plan: SchedulePlan, aside: tuple[str, ...], *, dry_run: bool) -> None:
    console.document(
        {
            "dryRun": dry_run,
            "scheduler": plan.schedule.scheduler.value,
            "files": [unit.edit.path for unit in plan.units if unit.edit.is_change],
            "setAside": list(aside),
        }
    )
