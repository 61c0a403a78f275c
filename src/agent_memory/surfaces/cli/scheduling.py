"""`memory install-cron`, `memory uninstall-cron` and `memory run-scheduled`: what this machine does by itself."""

from __future__ import annotations

import argparse
import io
import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from typing import Any, TextIO, get_args

from agent_memory.adapters.agent.agent_environment import caller_of
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.scheduling.scheduling import SchedulePlan, Scheduling
from agent_memory.app import Memory
from agent_memory.domain.command import PRESETS
from agent_memory.domain.instants import iso_of
from agent_memory.domain.redaction import redact
from agent_memory.domain.scheduling import (
    BUSY_CODE,
    NO_RUNS,
    ScheduledRun,
    Scheduler,
    in_words,
    is_due,
)
from agent_memory.domain.text.plain_text import one_line
from agent_memory.errors import Error
from agent_memory.surfaces.arguments import add_flag, add_number, set_command
from agent_memory.surfaces.cli.dialogue import home_here, is_agreed, open_here
from agent_memory.surfaces.cli.installing import show_diffs
from agent_memory.surfaces.console import Console


@contextmanager
def _scheduling(
    act: str, arguments: argparse.Namespace, console: Console
) -> Generator[tuple[Memory, Scheduling], None, None]:
    """For a change of the schedule, under its lock. Refused inside a harness, but for a dry run: what runs by itself is for a
    person to decide."""
    if not arguments.dry_run:
        caller_of(os.environ).only_a_person(act)
    memory = open_here(console)
    scheduling = memory.scheduling()
    with nullcontext() if arguments.dry_run else scheduling.state.locked():
        yield memory, scheduling


def _show_commands(console: Console, commands: Iterable[tuple[str, ...]]) -> None:
    console.out(*(f"$ {' '.join(argv)}" for argv in commands))


def _show_set_aside(console: Console, aside: Iterable[str]) -> None:
    console.out(*(f"What had been edited by hand is kept in {path}" for path in aside))


# -- install-cron -----------------------------------------------------------------------------------------------------


def configure_install_cron(parser: argparse.ArgumentParser) -> None:
    system = "launchd, systemd or cron; default: launchd on macOS, a systemd of yours if it answers, else cron"
    parser.add_argument("--system", choices=get_args(Scheduler), help=system)
    add_flag(parser, "--dry-run", "print what would be installed, and change nothing")
    add_flag(parser, "--yes", "install without asking")
    epilog = (
        "Lets this machine run `memory consolidate` and `memory defrag` as often as `schedule` in the config says, at a low "
        "priority, with this shell's PATH. Shows each file first. To call it again is how a changed interval, or an "
        "executable that has moved, is taken over. `memory status` tells when each ran last and what became of it; all "
        "that they print is in ~/.local/state/agent-memory/schedule/. Example: memory install-cron --dry-run"
    )
    set_command(parser, _install_cron, epilog)


def _install_cron(arguments: argparse.Namespace, console: Console) -> None:
    with _scheduling("install-cron", arguments, console) as (memory, scheduling):
        scheduler = scheduling.choose(arguments.system, dry_run=arguments.dry_run)
        plan = scheduling.plan(scheduler, dry_run=arguments.dry_run)
        # The jobs would run twice if two schedulers had them.
        moves = plan.before is not None and plan.before.scheduler != scheduler
        removal = scheduling.plan_removal() if moves else None
        changed = (*(() if removal is None else removal.changed), *plan.changed)
        notes = (*plan.notes, *_missing_keys(memory))
        show_diffs(console, changed)
        if arguments.dry_run:
            _show_commands(console, (*(() if removal is None else removal.stop), *plan.start))
            console.warn(*notes)
            console.answer(_document(plan, notes, (), dry_run=True), "Nothing was installed.")
            return
        if changed and not arguments.yes and not is_agreed(console, "memory install-cron", "Install this?"):
            console.out("Nothing was installed.")
            return
        aside = (*(() if removal is None else scheduling.uninstall(removal)), *scheduling.install(plan))
        for job in scheduling.jobs:
            every = in_words(job.interval_seconds)
            console.out(f"{plan.scheduler} runs `memory {job.name}` every {every} from now on")
        _show_set_aside(console, aside)
        console.warn(*notes)
        console.answer(_document(plan, notes, aside, dry_run=False))


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


def _document(plan: SchedulePlan, notes: tuple[str, ...], aside: tuple[str, ...], *, dry_run: bool) -> dict[str, Any]:
    return {
        "dryRun": dry_run,
        "scheduler": plan.scheduler,
        "files": [{"path": unit.path, "changes": unit.is_change, "diff": unit.diff} for unit in plan.units],
        "cronLines": list(plan.cron_lines),
        "commands": [list(argv) for argv in plan.start],
        "setAside": list(aside),
        "notes": list(notes),
    }


# -- uninstall-cron ---------------------------------------------------------------------------------------------------


def configure_uninstall_cron(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--dry-run", "print what would go, and change nothing")
    add_flag(parser, "--yes", "take it out without asking")
    epilog = (
        "Takes out exactly what `memory install-cron` has put in; every other line of a crontab stays. A file of ours that "
        "was edited by hand is kept aside. Example: memory uninstall-cron --dry-run"
    )
    set_command(parser, _uninstall_cron, epilog)


def _uninstall_cron(arguments: argparse.Namespace, console: Console) -> None:
    with _scheduling("uninstall-cron", arguments, console) as (_, scheduling):
        document: dict[str, Any] = {"dryRun": arguments.dry_run, "scheduler": None, "files": [], "setAside": []}
        plan = scheduling.plan_removal()
        if plan is None:
            console.answer(document, "Nothing is scheduled.")
            return
        show_diffs(console, plan.changed)
        aside: tuple[str, ...] = ()
        if arguments.dry_run:
            _show_commands(console, plan.stop)
            console.out("Nothing was changed.")
        else:
            if not arguments.yes and not is_agreed(console, "memory uninstall-cron", "Take this out?"):
                console.out("Nothing was changed.")
                return
            aside = scheduling.uninstall(plan)
            console.out("Nothing runs by itself any more: `memory consolidate` and `memory defrag` are yours to call.")
            _show_set_aside(console, aside)
        files = [unit.path for unit in plan.units if unit.is_change]
        scheduler = plan.scheduler
        console.answer({**document, "scheduler": scheduler, "files": files, "setAside": list(aside)})


# -- run-scheduled: what a scheduler calls ----------------------------------------------------------------------------

JOBS = ("consolidate", "defrag")
_MAX_MESSAGE_CHARS = 300
_NICENESS = 10
"""As the other schedulers are told in plists/jobs.json."""


def configure_run_scheduled(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", choices=JOBS, metavar="JOB", help="consolidate or defrag")
    add_number(parser, "--every", "do nothing unless so long has passed since the last run began", "SECONDS")
    epilog = (
        "What `memory install-cron` lets a scheduler call: runs the command, writes down how it ended for `memory status`, "
        "and lets the next command and the next session know of a failure. Exit code: that of the command, but 0 where "
        "another run was at work. Example: memory run-scheduled consolidate"
    )
    set_command(parser, _run_scheduled, epilog)


def _run_scheduled(arguments: argparse.Namespace, console: Console) -> int:
    job: str = arguments.job
    state = ScheduleState(home_here())
    # Unread, what it says of the root is not known, and it is not to be another one (P6).
    installed = state.receipt.read()
    if installed is not None and installed.scheduler == "cron":  # whose line is short
        os.environ.update(installed.environment)
        os.nice(_NICENESS)
    try:
        record = state.record(job)
    except Error:
        record = NO_RUNS
    started_ms = time.time_ns() // 1_000_000
    if arguments.every is not None and not is_due(record, started_ms, arguments.every):
        console.answer({"job": job, "ran": False, "exitCode": 0})
        return 0
    state.turn_log(job)
    _try(console, lambda: state.put_run(job, ScheduledRun(started_ms)))
    console.err(f"== {iso_of(started_ms)} {job}")
    code, said = _called(job, console)
    ended = ScheduledRun(started_ms, time.time_ns() // 1_000_000, code, said if code else "")
    _try(console, lambda: state.put_run(job, ended))
    if code != BUSY_CODE:
        _try(console, lambda: state.put_notice(_notice(job, ended)))
    console.answer({"job": job, "ran": True, "exitCode": code})
    return 0 if code == BUSY_CODE else code


def _called(job: str, console: Console) -> tuple[int, str]:
    """The exit code of the command, and the last line that it wrote to stderr."""
    from agent_memory.surfaces.cli.main import main

    heard = _Heard(console.stderr)
    with redirect_stderr(heard), redirect_stdout(console.stderr if console.json else console.stdout):
        code = main([job])
    last = next((line for line in reversed(heard.getvalue().splitlines()) if line.strip()), "")
    return code, one_line(redact(last.strip().removeprefix("memory: ")).text, _MAX_MESSAGE_CHARS)


def _try(console: Console, act: Callable[[], None]) -> None:
    """Write something down; a disk that is full keeps no job from running."""
    try:
        act()
    except Error as error:
        console.warn(str(error))


def _notice(job: str, run: ScheduledRun) -> tuple[str, str] | None:
    """What the next command and the next session are told of a failure; a success takes back what they were not told yet."""
    if not run.failed:
        return None
    failed = f"The scheduled {job} of {iso_of(run.started_at_ms)[:16].replace('T', ' ')} (UTC) failed"
    # Why may be in somebody else's words, of an agent command for one: no session is told those unasked (P19).
    return f"{failed}: {run.message or f'exit code {run.exit_code}'}", f"{failed}."


class _Heard(io.StringIO):
    """Passes on what is written to it, and keeps it."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._stream.flush()
