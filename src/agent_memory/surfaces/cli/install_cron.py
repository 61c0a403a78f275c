"""`memory install-cron`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any, get_args

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.scheduling.scheduling import SchedulePlan, Scheduling
from agent_memory.app import Memory
from agent_memory.domain.command.presets import PRESETS
from agent_memory.domain.scheduling import Scheduler, in_words
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.cli.setup import is_agreed, require_terminal, show_diffs
from agent_memory.surfaces.console import Console


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--system",
        choices=get_args(Scheduler),
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
    def act(memory: Memory, scheduling: Scheduling) -> int:
        scheduler = scheduling.choose(arguments.system, dry_run=arguments.dry_run)
        plan = scheduling.plan(scheduler, dry_run=arguments.dry_run)
        # The jobs would run twice if two schedulers had them.
        moves = plan.before is not None and plan.before.scheduler != scheduler
        removal = scheduling.plan_removal() if moves else None
        return _carry_on(arguments, console, memory, scheduling, plan, removal)

    return run_scheduling("install-cron", arguments, console, act)


def run_scheduling(
    act: str, arguments: argparse.Namespace, console: Console, run: Callable[[Memory, Scheduling], int]
) -> int:
    """Plan and carry out a change of the schedule, under its lock; the exit code. Refused inside a harness, but for a dry
    run: what runs by itself is for a person to decide."""
    if not arguments.dry_run:
        unwrap(only_for_a_person(act, os.environ))

    memory = open_here(console)
    found = memory.scheduling()
    if arguments.dry_run:
        return run(memory, found)
    with found.state.locked():
        return run(memory, found)


def _carry_on(
    arguments: argparse.Namespace,
    console: Console,
    memory: Memory,
    scheduling: Scheduling,
    plan: SchedulePlan,
    removal: SchedulePlan | None,
) -> int:
    edits = (*(() if removal is None else removal.edits), *plan.edits)
    show_diffs(console, edits)
    notes = (*plan.schedule.notes, *_missing_keys(memory))
    if arguments.dry_run:
        for argv in (*(() if removal is None else removal.schedule.stop), *plan.schedule.start):
            console.out(f"$ {' '.join(argv)}")
        _show(console, notes)
        console.out("Nothing was installed.")
        console.document(_document(plan, notes, (), dry_run=True))
        return 0
    if edits and not arguments.yes:
        require_terminal(console, "memory install-cron")
        if not is_agreed(console, "Install this?"):
            console.out("Nothing was installed.")
            return 0
    removed = () if removal is None else scheduling.uninstall(removal)
    aside = (*removed, *scheduling.install(plan))
    for job in scheduling.jobs:
        every = in_words(job.cadence.interval_seconds)
        console.out(f"{plan.schedule.scheduler} runs `memory {job.name}` every {every} from now on")
    show_set_aside(console, aside)
    _show(console, notes)
    console.document(_document(plan, notes, aside, dry_run=False))
    return 0


def show_set_aside(console: Console, aside: tuple[str, ...]) -> None:
    """Say where edited files of ours are kept."""
    for path in aside:
        console.out(f"What had been edited by hand is kept in {path}")


def _missing_keys(memory: Memory) -> tuple[str, ...]:
    """Keys of the agent command's vendor are not written into files of a scheduler."""
    llm = memory.config.llm
    preset = PRESETS.get(llm.preset) if llm.command is None else None
    names = (*(preset.variables if preset is not None else ()), *llm.pass_env)
    missing = [name for name in dict.fromkeys(names) if memory.environ.get(name)]
    if not missing:
        return ()
    note = (
        f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} set in this shell only: a scheduled run will not have "
        "it. Log the agent command in, or let a script of yours set it (`llm.command`)."
    )
    return (note,)


def _show(console: Console, notes: tuple[str, ...]) -> None:
    for note in notes:
        console.err(f"memory: {note}")


def _document(plan: SchedulePlan, notes: tuple[str, ...], aside: tuple[str, ...], *, dry_run: bool) -> dict[str, Any]:
    edits = [unit.edit for unit in plan.units]
    return {
        "dryRun": dry_run,
        "scheduler": plan.schedule.scheduler,
        "files": [{"path": edit.path, "changes": edit.is_change, "diff": edit.diff} for edit in edits],
        "cronLines": list(plan.schedule.cron_lines),
        "commands": [list(argv) for argv in plan.schedule.start],
        "setAside": list(aside),
        "notes": list(notes),
    }
