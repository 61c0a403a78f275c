"""What setup and uninstall have in common: the diffs, the question, what became of each file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.surroundings.repository import work_tree_above
from agent_memory.app import Memory
from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.harnesses import SETUPS
from agent_memory.domain.installing.plans import FileOutcome, InstallPlan
from agent_memory.errors import Error, UsageInvalid
from agent_memory.results import sealed
from agent_memory.surfaces.cli.opening import with_memory
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe

_RED, _GREEN, _CYAN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m"
_COLOURS = {"+": _GREEN, "-": _RED, "@": _CYAN}


Planned = Callable[[Memory, Installation], Result[InstallPlan, Error]]
CarriedOut = Callable[[Memory, Installation, InstallPlan], int]


def run_installation(
    act: str, arguments: argparse.Namespace, console: Console, planned: Planned, carried_out: CarriedOut
) -> int:
    """Plan and carry out a change of harness settings, under its lock; the exit code. Refused inside a harness, but for a
    dry run."""
    unknown = next((each for each in arguments.harness if each not in SETUPS), None)
    if unknown is not None:
        return console.fail(UsageInvalid(f"There is no harness {unknown!r}", f"Known are {', '.join(SETUPS)}."))
    refused = Success(None) if arguments.dry_run else only_for_a_person(act, os.environ)
    if isinstance(refused, Failure):
        return console.fail(refused.failure())

    def run(memory: Memory) -> int:
        match sealed(memory.installation()):
            case Failure(error):
                return console.fail(error)
            case Success(installation):
                with installation.locked() as held:
                    plan = held.bind(lambda _: planned(memory, installation))
                    if isinstance(plan, Failure):
                        return console.fail(plan.failure())
                    return carried_out(memory, installation, plan.unwrap())

    return with_memory(console, run)


def repository_here(memory: Memory) -> Result[str, Error]:
    """The top of the repository around the working directory, for `--repo`."""
    try:
        top = None if memory.cwd is None else work_tree_above(memory.cwd)
    except OSError as error:
        return Failure(store_io(error, "look for a repository around", memory.cwd or ""))
    if top is None:
        return Failure(UsageInvalid("--repo is for a repository, and there is none around this directory"))
    return Success(top)


def is_scheduled(installation: Installation) -> bool:
    """Whether this machine runs our jobs by itself, as far as can be seen."""
    return ScheduleState(installation.planning.ground.home).installed().value_or(None) is not None


def show_edits(console: Console, plan: InstallPlan) -> None:
    """Print the diff of each file that a plan changes."""
    show_diffs(console, plan.edits)


def show_diffs(console: Console, edits: Iterable[FileEdit]) -> None:
    """Print the diff of each file that changes."""
    for edit in edits:
        for line in edit.diff.splitlines():
            console.out(_coloured(line) if console.colour else line)
        console.out("")


def show_refused(console: Console, plan: InstallPlan) -> None:
    """Say which files stay as they are, and why."""
    for each in plan.refused:
        console.err(f"memory: {describe(each.error)}")


def is_agreed(console: Console, question: str) -> bool:
    """Whether the person at the terminal says yes."""
    print(f"{question} [y/N] ", end="", file=console.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def can_ask(console: Console) -> bool:
    """Whether there is somebody to ask."""
    return not console.json and sys.stdin is not None and sys.stdin.isatty() and console.stderr.isatty()


def unasked(command: str) -> UsageInvalid:
    """For a call that changes files, with nobody there to agree."""
    return UsageInvalid(
        "Nothing was changed, since there is no terminal to ask on", f"See the diff, then `{command} --yes`."
    )


def outcome_documents(outcomes: tuple[FileOutcome, ...], plan: InstallPlan) -> list[dict[str, Any]]:
    """Each file as an object of the `--json` document."""
    refused = [FileOutcome(each.path, "refused", each.error) for each in plan.refused]
    return [
        {
            "path": each.path,
            "outcome": each.outcome,
            "error": None if each.error is None else {"code": each.error.code, "message": describe(each.error)},
            "diff": each.diff,
            "setAside": each.set_aside,
        }
        for each in (*outcomes, *refused)
    ]


def planned_outcomes(plan: InstallPlan) -> tuple[FileOutcome, ...]:
    """The files of a plan that is not carried out."""

    def outcome(edit: FileEdit) -> FileOutcome:
        return FileOutcome(edit.path, "planned" if edit.is_change else "unchanged", None, edit.diff)

    files = tuple(outcome(each.edit) for each in plan.files)
    return (*files, *(outcome(each.edit) for each in plan.sections))


def show_outcomes(console: Console, outcomes: tuple[FileOutcome, ...]) -> None:
    """One line for each file that changed, a sentence for each that did not let itself be changed."""
    for each in outcomes:
        if each.error is not None:
            console.err(f"memory: {describe(each.error)}")
        elif each.outcome != "unchanged":
            console.out(f"{each.path}  {each.outcome}")
        if each.set_aside is not None:
            console.out(f"  it had been edited; that version is kept as {each.set_aside}")


def exit_code(plan: InstallPlan, outcomes: tuple[FileOutcome, ...] = ()) -> int:
    """0, or the code of a refusal."""
    errors = (*(each.error for each in plan.refused), *(each.error for each in outcomes))
    return next((each.exit_code for each in errors if each is not None), 0)


def _coloured(line: str) -> str:
    colour = _COLOURS.get(line[:1])
    return line if colour is None or line.startswith(("+++", "---")) else f"{colour}{line}{_PLAIN}"
