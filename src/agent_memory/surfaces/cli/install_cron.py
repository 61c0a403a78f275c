"""`memory install-cron`."""

from __future__ import annotations

import argparse
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.scheduling.scheduling import SchedulePlan, Scheduling
from agent_memory.app import Memory
from agent_memory.bootstrap.scheduling import unscheduled_variables
from agent_memory.domain.scheduling.cadence import in_words
from agent_memory.domain.scheduling.job import Scheduler
from agent_memory.errors import Error
from agent_memory.results import sealed
from agent_memory.surfaces.cli.installing import can_ask, is_agreed, show_diffs, unasked
from agent_memory.surfaces.cli.scheduling import run_scheduling
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system",
        choices=[each.value for each in Scheduler],
        help="launchd, systemd or cron; default: launchd on macOS, a systemd of yours if it answers, else cron",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be installed, and change nothing")
    parser.add_argument("--yes", action="store_true", help="install without asking")
    parser.epilog = (
        "Lets this machine run `memory consolidate` and `memory defrag` as often as `schedule` in the config says, at a low "
        "priority, with this shell's PATH. Shows each file first. To call it again is how a changed interval, or an "
        "executable that has moved, is taken over. `memory status` tells when each ran last and what became of it; all "
        "that they print is in ~/.local/state/agent-memory/schedule/. Example: memory install-cron --dry-run"
    )


def run(arguments: argparse.Namespace, console: Console) -> int:
    def planned(memory: Memory, scheduling: Scheduling) -> int:
        wanted = None if arguments.system is None else Scheduler(arguments.system)
        plans = (
            scheduling.choose(wanted, dry_run=arguments.dry_run)
            .bind(lambda scheduler: scheduling.plan(scheduler, dry_run=arguments.dry_run))
            .bind(lambda plan: _removal(scheduling, plan).map(lambda removal: (plan, removal)))
        )
        match sealed(plans):
            case Failure(error):
                return console.fail(error)
            case Success((plan, removal)):
                return _go_on(arguments, console, memory, scheduling, plan, removal)

    return run_scheduling("install-cron", arguments, console, planned)


def _removal(scheduling: Scheduling, plan: SchedulePlan) -> Result[SchedulePlan | None, Error]:
    """What has to go first: the jobs would run twice if two schedulers had them."""
    if plan.before is None or plan.before.scheduler is plan.schedule.scheduler:
        return Success(None)
    return scheduling.plan_removal()


def _go_on(
    arguments: argparse.Namespace,
    console: Console,
    memory: Memory,
    scheduling: Scheduling,
    plan: SchedulePlan,
    removal: SchedulePlan | None,
) -> int:
    edits = (*(() if removal is None else removal.edits), *plan.edits)
    show_diffs(console, edits)
    notes = _notes(memory, plan)
    if arguments.dry_run:
        for argv in (*(() if removal is None else removal.schedule.stop), *plan.schedule.start):
            console.out(f"$ {' '.join(argv)}")
        _show(console, notes)
        console.out("Nothing was installed.")
        console.document(_document(plan, notes, (), dry_run=True))
        return 0
    if edits and not arguments.yes:
        if not can_ask(console):
            return console.fail(unasked("memory install-cron"))
        if not is_agreed(console, "Install this?"):
            console.out("Nothing was installed.")
            return 0
    removed: Result[tuple[str, ...], Error] = Success(()) if removal is None else scheduling.uninstall(removal)
    match sealed(removed.bind(lambda gone: scheduling.install(plan).map(lambda aside: (*gone, *aside)))):
        case Failure(error):
            return console.fail(error)
        case Success(aside):
            for job in scheduling.schedules.jobs:
                every = in_words(job.cadence.interval_seconds)
                console.out(f"{plan.schedule.scheduler.value} runs `memory {job.name}` every {every} from now on")
            for path in aside:
                console.out(f"What had been edited by hand is kept in {path}")
            _show(console, notes)
            console.document(_document(plan, notes, aside, dry_run=False))
            return 0


def _notes(memory: Memory, plan: SchedulePlan) -> tuple[str, ...]:
    missing = unscheduled_variables(memory)
    keys = (
        f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} set in this shell only: a scheduled run will not have "
        "it. Log the agent command in, or let a script of yours set it (`llm.command`)."
    )
    return (*plan.schedule.notes, *((keys,) if missing else ()))


def _show(console: Console, notes: tuple[str, ...]) -> None:
    for note in notes:
        console.err(f"memory: {note}")


def _document(plan: SchedulePlan, notes: tuple[str, ...], aside: tuple[str, ...], *, dry_run: bool) -> dict[str, Any]:
    return {
        "dryRun": dry_run,
        "scheduler": plan.schedule.scheduler.value,
        "files": [
            {"path": unit.edit.path, "changes": unit.edit.is_change, "diff": unit.edit.diff} for unit in plan.units
        ],
        "cronLines": list(plan.schedule.cron_lines),
        "commands": [list(argv) for argv in plan.schedule.start],
        "setAside": list(aside),
        "notes": list(notes),
    }
