"""`memory setup`, and what it shares with `memory uninstall`: the diffs, the question, what became of each file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from agent_memory.adapters.agent.agent_environment import only_for_a_person
from agent_memory.adapters.disk.paths import store_io
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.setup.installation import Installation
from agent_memory.adapters.surroundings.repository import work_tree_above
from agent_memory.app import Memory
from agent_memory.domain.installing.harnesses import SETUPS
from agent_memory.domain.installing.plan import FileEdit, FileOutcome, InstallPlan, SelfTestResult, SetupRequest
from agent_memory.domain.installing.wanted import Part
from agent_memory.errors import AgentMemoryError, UsageInvalid
from agent_memory.results import unwrap
from agent_memory.surfaces.cli.opening import open_here
from agent_memory.surfaces.console import Console
from agent_memory.wording import describe

NOT_ARRIVED = 30
"""Exit code where a trial did not reach the inbox."""

_RED, _GREEN, _CYAN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m"
_COLOURS = {"+": _GREEN, "-": _RED, "@": _CYAN}


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
    def act(memory: Memory, installation: Installation) -> int:
        plan = installation.plan(_request(arguments, memory, installation))
        return _carry_on(arguments, console, memory, installation, plan)

    return run_installation("setup", arguments, console, act)


def _request(arguments: argparse.Namespace, memory: Memory, installation: Installation) -> SetupRequest:
    harnesses = tuple(dict.fromkeys(arguments.harness)) or installation.detected()
    if not harnesses and not arguments.repo:
        raise UsageInvalid("No harness was found on this machine", f"Name one: {', '.join(SETUPS)}.")
    left_out = {part for part in (Part.HOOKS, Part.SKILL, Part.SECTION) if getattr(arguments, f"no_{part}")}
    parts = {*Part} - left_out - (set() if arguments.mcp else {Part.MCP})
    return SetupRequest(harnesses, frozenset(parts), repository_here(memory) if arguments.repo else None)


def _carry_on(
    arguments: argparse.Namespace, console: Console, memory: Memory, installation: Installation, plan: InstallPlan
) -> int:
    show_diffs(console, plan.edits)
    if arguments.dry_run:
        show_refused(console, plan)
        _show_notes(console, plan)
        console.out("Nothing was written." if plan.edits else "There is nothing to change.")
        console.document(_document(plan, outcome_documents(planned_outcomes(plan), plan), (), dry_run=True))
        return exit_code(plan)
    asks = bool(plan.edits) and not arguments.yes
    if asks:
        require_terminal(console, "memory setup")
    show_refused(console, plan)
    if asks and not is_agreed(console, "Write these changes?"):
        console.out("Nothing was written.")
        return 0
    outcomes = installation.install(plan)
    show_outcomes(console, outcomes)
    if not plan.edits:
        console.out("There is nothing to change.")
    tested = installation.self_test(plan)
    memory.index_all(console.progress)
    _show_tested(console, tested)
    _show_notes(console, plan)
    if not is_scheduled(installation):
        console.out("Next: `memory install-cron` lets this machine consolidate and defrag by itself.")
    console.document(_document(plan, outcome_documents(outcomes, plan), tested, dry_run=False))
    return exit_code(plan, outcomes) or (0 if all(each.arrived for each in tested) else NOT_ARRIVED)


def _show_notes(console: Console, plan: InstallPlan) -> None:
    for note in plan.notes:
        console.err(f"memory: {note}")


def _show_tested(console: Console, tested: Iterable[SelfTestResult]) -> None:
    for each in tested:
        injects = each.act == "inject"
        if each.arrived:
            did = "told a made-up note" if injects else "captured, and taken away again"
            console.out(f"{each.harness}: a made-up session was {did}")
        else:
            failed = "note did not come back from" if injects else "session did not arrive through"
            console.err(f"memory: {each.harness}: a made-up {failed} `{each.command}`: {each.problem}.")


def _document(
    plan: InstallPlan, files: list[dict[str, Any]], tested: Iterable[SelfTestResult], *, dry_run: bool
) -> dict[str, Any]:
    trials = [
        {
            "harness": each.harness,
            "act": each.act,
            "command": each.command,
            "arrived": each.arrived,
            "problem": each.problem or None,
        }
        for each in tested
    ]
    return {"dryRun": dry_run, "files": files, "trials": trials, "notes": list(plan.notes)}


# -- shared with uninstall --------------------------------------------------------------------------------------------


def run_installation(
    act: str, arguments: argparse.Namespace, console: Console, run: Callable[[Memory, Installation], int]
) -> int:
    """Plan and carry out a change of harness settings, under its lock; the exit code. Refused inside a harness, but for a
    dry run."""
    unknown = next((each for each in arguments.harness if each not in SETUPS), None)
    if unknown is not None:
        raise UsageInvalid(f"There is no harness {unknown!r}", f"Known are {', '.join(SETUPS)}.")
    if not arguments.dry_run:
        unwrap(only_for_a_person(act, os.environ))

    memory = open_here(console)
    installation = unwrap(memory.installation())
    with installation.locked():
        return run(memory, installation)


def repository_here(memory: Memory) -> str:
    """The top of the repository around the working directory, for `--repo`."""
    try:
        top = None if memory.cwd is None else work_tree_above(memory.cwd)
    except OSError as error:
        raise store_io(error, "look for a repository around", memory.cwd or "") from None
    if top is None:
        raise UsageInvalid("--repo is for a repository, and there is none around this directory")
    return top


def is_scheduled(installation: Installation) -> bool:
    """Whether this machine runs our jobs by itself, as far as can be seen."""
    try:
        return ScheduleState(installation.context.home).installed() is not None
    except AgentMemoryError:
        return False


def show_diffs(console: Console, edits: Iterable[FileEdit]) -> None:
    """Print the diff of each file that changes."""
    for edit in edits:
        for line in edit.diff.splitlines():
            colour = None if line.startswith(("+++", "---")) else _COLOURS.get(line[:1])
            console.out(f"{colour}{line}{_PLAIN}" if colour and console.colour else line)
        console.out("")


def show_refused(console: Console, plan: InstallPlan) -> None:
    """Say which files stay as they are, and why."""
    for each in plan.refused:
        console.err(f"memory: {describe(each.error)}")


def require_terminal(console: Console, command: str) -> None:
    """UsageInvalid where there is nobody to ask whether files may be changed."""
    if console.json or sys.stdin is None or not sys.stdin.isatty() or not console.stderr.isatty():
        raise UsageInvalid(
            "Nothing was changed, since there is no terminal to ask on", f"See the diff, then `{command} --yes`."
        )


def is_agreed(console: Console, question: str) -> bool:
    """Whether the person at the terminal says yes."""
    print(f"{question} [y/N] ", end="", file=console.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def outcome_documents(outcomes: Iterable[FileOutcome], plan: InstallPlan) -> list[dict[str, Any]]:
    """Each file as an object of the `--json` document."""
    refused = (FileOutcome(each.path, "refused", each.error) for each in plan.refused)
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
    edits = (each.edit for each in plan.files)
    return tuple(
        FileOutcome(edit.path, "planned" if edit.is_change else "unchanged", None, edit.diff) for edit in edits
    )


def show_outcomes(console: Console, outcomes: Iterable[FileOutcome]) -> None:
    """One line for each file that changed, a sentence for each that did not let itself be changed."""
    for each in outcomes:
        if each.error is not None:
            console.err(f"memory: {describe(each.error)}")
        elif each.outcome != "unchanged":
            console.out(f"{each.path}  {each.outcome}")
        if each.set_aside is not None:
            console.out(f"  it had been edited; that version is kept as {each.set_aside}")


def exit_code(plan: InstallPlan, outcomes: Iterable[FileOutcome] = ()) -> int:
    """0, or the code of a refusal."""
    errors = (*(each.error for each in plan.refused), *(each.error for each in outcomes))
    return next((each.exit_code for each in errors if each is not None), 0)
