"""`memory setup` and `memory uninstall`: the diffs, the question, and what became of each file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from agent_memory.adapters.agent.agent_environment import caller_of
from agent_memory.adapters.disk.paths import as_store_io
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.surroundings.repository import work_tree_above
from agent_memory.app import Memory
from agent_memory.domain.installing.harnesses import SETUPS
from agent_memory.domain.installing.plan import (
    FileOutcome,
    InstallPlan,
    Part,
    PlannedFile,
    SelfTest,
    repository_name,
)
from agent_memory.errors import Error, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.arguments import add_flag, check_harnesses, set_command
from agent_memory.surfaces.cli.dialogue import is_agreed, open_here
from agent_memory.surfaces.console import CYAN, GREEN, RED, Console, fields_of, rows_of

_NOTHING_WRITTEN, _NOTHING_CHANGED = "Nothing was written.", "Nothing was changed."
_COLOURS = {"+": GREEN, "-": RED, "@": CYAN}


def show_diffs(console: Console, changed: Iterable[PlannedFile]) -> None:
    """Print the diff of each file that changes."""
    for each in changed:
        for line in each.diff.splitlines():
            is_name = line.startswith(("+++", "---"))
            console.out(console.styled("" if is_name else _COLOURS.get(line[:1], ""), line))
        console.out("")


# -- setup ------------------------------------------------------------------------------------------------------------

NOT_ARRIVED = 30
"""Exit code where a trial did not reach the inbox."""


def configure_setup(parser: argparse.ArgumentParser) -> None:
    known = f"default: those that are on this machine; known are {', '.join(SETUPS)}"
    parser.add_argument("harness", metavar="HARNESS", nargs="*", help=known)
    add_flag(parser, "--dry-run", "print the diffs and write nothing")
    add_flag(parser, "--yes", "write without asking")
    add_flag(parser, "--repo", "also make a target of what the harnesses read in the repository around you")
    add_flag(parser, "--mcp", "also let the harness start `memory mcp`")
    add_flag(parser, "--no-hooks", "no hooks and no plugin: nothing is captured by itself")
    add_flag(parser, "--no-skill", "no skill file")
    add_flag(parser, "--no-section", "no managed section in the harness's instruction file")
    epilog = (
        "Shows what it would change in each file, asks, and writes. Comments, order and every other byte of a file stay. "
        "What was there before is kept in ~/.local/state/agent-memory/setup/, from which `memory uninstall` puts it back. "
        "The storage root and the transcript directories of this shell go into your config, so that scheduled runs see "
        "them. In the end each hook is tried with a made-up session. Nothing in a repository is touched without --repo. "
        "Exit code: 2 where there is no terminal to ask on, 10 when a file was refused, 30 when a trial did not arrive."
    )
    set_command(parser, _setup, epilog, "memory setup claude-code codex --dry-run")


def _setup(arguments: argparse.Namespace, console: Console) -> int:
    with _installation("setup", arguments, console) as (memory, installation):
        plan = _plan(arguments, memory, installation)
        show_diffs(console, plan.changed)
        _warn_refused(console, plan)
        if arguments.dry_run:
            console.warn(*plan.notes)
            document = _setup_document(plan, _planned(plan), (), dry_run=True)
            console.answer(document, _NOTHING_WRITTEN if plan.changed else "There is nothing to change.")
            return _exit_code(plan)
        if plan.changed and not arguments.yes and not is_agreed(console, "memory setup", "Write these changes?"):
            console.out(_NOTHING_WRITTEN)
            return 0
        return _carry_out(console, memory, installation, plan)


def _plan(arguments: argparse.Namespace, memory: Memory, installation: Installation) -> InstallPlan:
    harnesses = tuple(dict.fromkeys(arguments.harness)) or installation.detected()
    if not harnesses and not arguments.repo:
        raise UsageInvalid("No harness was found on this machine", f"Name one: {', '.join(SETUPS)}.")
    wanted = {
        Part.HOOKS: not arguments.no_hooks,
        Part.SKILL: not arguments.no_skill,
        Part.SECTION: not arguments.no_section,
        Part.MCP: arguments.mcp,
    }
    parts = frozenset(part for part in Part if wanted.get(part, True))
    return installation.plan(harnesses, parts, _repository_here(memory) if arguments.repo else None)


def _carry_out(console: Console, memory: Memory, installation: Installation, plan: InstallPlan) -> int:
    outcomes = installation.install(plan)
    _show_outcomes(console, outcomes)
    if not plan.changed:
        console.out("There is nothing to change.")
    tested = installation.self_test(plan)
    memory.index_all(console.progress)
    for test, problem in tested:
        _show_tested(console, test, problem)
    console.warn(*plan.notes)
    if not _is_scheduled(installation):
        console.out("Next: `memory install-cron` lets this machine consolidate and defrag by itself.")
    console.answer(_setup_document(plan, outcomes, tested, dry_run=False))
    return _exit_code(plan, outcomes) or (NOT_ARRIVED if any(problem for _, problem in tested) else 0)


def _show_tested(console: Console, test: SelfTest, problem: str) -> None:
    injects = test.act == "inject"
    if problem:
        failed = "note did not come back from" if injects else "session did not arrive through"
        console.warn(f"{test.harness}: a made-up {failed} `{test.command}`: {problem}.")
    else:
        did = "told a made-up note" if injects else "captured, and taken away again"
        console.out(f"{test.harness}: a made-up session was {did}")


def _setup_document(
    plan: InstallPlan, outcomes: Iterable[FileOutcome], tested: Iterable[tuple[SelfTest, str]], *, dry_run: bool
) -> dict[str, Any]:
    trials = [
        {**fields_of(test, "harness", "act", "command"), "arrived": not problem, "problem": problem or None}
        for test, problem in tested
    ]
    return {
        "dryRun": dry_run,
        "files": rows_of((*outcomes, *plan.refused)),
        "trials": trials,
        "notes": list(plan.notes),
    }


# -- uninstall --------------------------------------------------------------------------------------------------------


def configure_uninstall(parser: argparse.ArgumentParser) -> None:
    everything = "default: everything that setup has installed"
    parser.add_argument("harness", metavar="HARNESS", nargs="*", help=everything)
    add_flag(parser, "--dry-run", "print the diffs and change nothing")
    add_flag(parser, "--yes", "change without asking")
    add_flag(parser, "--repo", "only the files of the repository around you")
    epilog = (
        "Takes out exactly what `memory setup` and `memory generate-agents-md --target` have put in. A file that nobody has touched since is again what it was, byte "
        "for byte; in another, what was edited by hand stays. Files and directories that setup made are removed. The "
        "memories themselves stay where they are. Exit code: 2 where there is no terminal to ask on, 10 or 70 when a file "
        "was refused."
    )
    set_command(parser, _uninstall, epilog, "memory uninstall --dry-run")


def _uninstall(arguments: argparse.Namespace, console: Console) -> int:
    with _installation("uninstall", arguments, console) as (memory, installation):
        named = frozenset(arguments.harness)
        if arguments.repo:
            named |= {repository_name(_repository_here(memory))}
        plan = installation.plan_removal(named or None)
        show_diffs(console, plan.changed)
        if arguments.dry_run:
            _warn_refused(console, plan)
            document = {"dryRun": True, "files": rows_of((*_planned(plan), *plan.refused))}
            console.answer(document, _NOTHING_CHANGED if plan.changed else "There is nothing to remove.")
            return _exit_code(plan)
        if plan.changed and not arguments.yes and not is_agreed(console, "memory uninstall", "Make these changes?"):
            console.out(_NOTHING_CHANGED)
            return 0
        outcomes = installation.uninstall(plan)
        _warn_refused(console, plan)
        _show_outcomes(console, outcomes)
        if not plan.changed:
            console.out("There is nothing to remove.")
        elif _nothing_is_left(installation):
            console.out(f"Nothing of memory is left in any harness. The memories stay in {memory.root}.")
            if _is_scheduled(installation):
                console.out("This machine still consolidates and defrags by itself: `memory uninstall-cron` ends that.")
        console.answer({"dryRun": False, "files": rows_of((*outcomes, *plan.refused))})
        return _exit_code(plan, outcomes)


def _nothing_is_left(installation: Installation) -> bool:
    try:
        return not installation.state.receipt().harnesses
    except Error:
        return False


# -- shared -----------------------------------------------------------------------------------------------------------


@contextmanager
def _installation(
    act: str, arguments: argparse.Namespace, console: Console
) -> Generator[tuple[Memory, Installation], None, None]:
    """For a change of harness settings, under its lock. Refused inside a harness, but for a dry run."""
    check_harnesses(arguments.harness, SETUPS)
    if not arguments.dry_run:
        caller_of(os.environ).only_a_person(act)
    memory = open_here(console)
    installation = unwrap(memory.installation())
    with installation.state.locked():
        yield memory, installation


def _repository_here(memory: Memory) -> str:
    """The top of the repository around the working directory, for `--repo`."""
    with as_store_io("look for a repository around", memory.cwd or ""):
        top = None if memory.cwd is None else work_tree_above(memory.cwd)
    if top is None:
        raise UsageInvalid("--repo is for a repository, and there is none around this directory")
    return top


def _is_scheduled(installation: Installation) -> bool:
    """Whether this machine runs our jobs by itself, as far as can be seen."""
    try:
        return ScheduleState(installation.context.home).receipt.read() is not None
    except Error:
        return False


def _warn_refused(console: Console, plan: InstallPlan) -> None:
    """Say which files stay as they are, and why."""
    console.warn(*(str(each.error) for each in plan.refused))


def _show_outcomes(console: Console, outcomes: Iterable[FileOutcome]) -> None:
    """One line for each file that changed, a sentence for each that did not let itself be changed."""
    for each in outcomes:
        if each.error is not None:
            console.warn(str(each.error))
        elif each.outcome != "unchanged":
            console.out(f"{each.path}  {each.outcome}")
        if each.set_aside is not None:
            console.out(f"  it had been edited; that version is kept as {each.set_aside}")


def _planned(plan: InstallPlan) -> list[FileOutcome]:
    """The files of a plan that is not carried out."""
    return [
        FileOutcome(each.path, "planned" if each.is_change else "unchanged", None, each.diff) for each in plan.files
    ]


def _exit_code(plan: InstallPlan, outcomes: Iterable[FileOutcome] = ()) -> int:
    """0, or the code of a refusal."""
    errors = (each.error for each in (*plan.refused, *outcomes))
    return next((each.exit_code for each in errors if each is not None), 0)
