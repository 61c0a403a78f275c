"""`memory setup`, `uninstall` and `schedule`: the diffs, the question, and the outcome for each file; and what the
scheduler calls."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from itertools import zip_longest
from typing import Any, TextIO, TypeVar, get_args

from agent_memory.agent.agent_command import uses_builtin
from agent_memory.app import Memory
from agent_memory.caller import caller_of
from agent_memory.capture.repository import work_tree_above
from agent_memory.cli.care import job_in_words
from agent_memory.cli.console import CYAN, GREEN, RED, Arguments, Console, Options, Run, broken_lines, terminal_columns
from agent_memory.cli.dialogue import is_agreed, open_here
from agent_memory.documents import fields_of, job_documents, rows_of
from agent_memory.errors import Error, UsageInvalid
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import home_of
from agent_memory.presets import PRESETS
from agent_memory.redaction.redact import redact
from agent_memory.results import as_result, unwrap
from agent_memory.section.targets import told_path
from agent_memory.setup.harnesses import SETUPS
from agent_memory.setup.installation import Installation
from agent_memory.setup.plan import FileOutcome, InstallPlan, Part, PlannedFile, repository_name
from agent_memory.setup.schedule import BUSY_CODE, NO_RUNS, ScheduledRun, Scheduler, ScheduleState, in_words, is_due
from agent_memory.setup.scheduling import Commands, SchedulePlan, Scheduling
from agent_memory.text.instants import iso_of
from agent_memory.text.plain_text import one_line

_NOTHING_WRITTEN, _NOTHING_CHANGED = "Nothing was written.", "Nothing was changed."
_COLOURS = {"+": GREEN, "-": RED, "@": CYAN}

Changed = TypeVar("Changed", Installation, Scheduling)


@contextmanager
def _locked(
    act: str, arguments: Arguments, console: Console, opened: Callable[[Memory], Changed]
) -> Generator[tuple[Memory, Changed], None, None]:
    """Holds the lock of what `opened` returns, to change it. Refused inside a harness: what an agent is told and what
    runs by itself is for a person to decide. A dry run is neither refused nor locked, since it writes nothing."""
    if not arguments.dry_run:
        caller_of(os.environ).only_a_person(act)
    memory = open_here(console)
    change = opened(memory)
    with nullcontext() if arguments.dry_run else change.state.locked():
        yield memory, change


def _show_plan(console: Console, plan: InstallPlan, arguments: Arguments, home: str) -> None:
    """Prints a line for each harness: what changes for it, and where; with --diff all of it before that."""
    if arguments.diff:
        _show_diffs(console, plan.changed)
    parts: dict[str, list[str]] = {}
    for each in plan.changed:
        for harness, words in each.words.items():
            parts.setdefault(harness, []).append(f"{words} in {told_path(each.path, home)}".removeprefix(" in "))
    width = max(map(len, parts), default=0)
    ordered = sorted(parts, key=[*SETUPS, *parts].index)
    room = terminal_columns() - width - 2
    for harness in ordered:
        text = ", ".join(parts[harness])
        lines = broken_lines(text, max(room, 40)) if console.is_terminal else [text]
        console.out(*(f"{name:<{width}}  {line}" for name, line in zip_longest([harness], lines, fillvalue="")))
    if plan.changed and not arguments.diff and not arguments.yes:
        console.out("`--diff` shows every change.")


def _carried_out(
    console: Console,
    arguments: Arguments,
    installation: Installation,
    plan: InstallPlan,
    attention: list[str],
    do: Callable[[InstallPlan], tuple[FileOutcome, ...]],
    words: tuple[str, str, str],
) -> tuple[FileOutcome, ...] | None:
    """Shows the plan, and carries it out where that is wanted. Returns what became of each file, or would in a dry run;
    None where the person said no. `words` are the question, the answer to a no, and that there is nothing to do."""
    question, refusal, nothing = words
    _show_plan(console, plan, arguments, installation.context.home)
    if plan.changed and not (arguments.dry_run or arguments.yes):
        console.warn(*attention)  # the question refers to what was printed last
        attention.clear()
        if not is_agreed(console, question):
            console.out(refusal)
            return None
    if not plan.changed:
        console.out(nothing)
    elif arguments.dry_run:
        console.out(refusal)
    if arguments.dry_run:
        return tuple(
            FileOutcome(each.path, "planned" if each.is_change else "unchanged", None, each.diff) for each in plan.files
        )
    outcomes = do(plan)
    counts = Counter(each.outcome for each in outcomes if each.outcome in ("written", "removed"))
    if counts:
        console.out("Files: " + ", ".join(f"{number} {outcome}" for outcome, number in counts.items()))
    console.warn(*(str(each.error) for each in outcomes if each.error is not None))
    edited = (each for each in outcomes if each.set_aside is not None)
    console.out(*(f"You had edited {each.path}; your version is kept as {each.set_aside}" for each in edited))
    return outcomes


def _show_diffs(console: Console, changed: Iterable[PlannedFile]) -> None:
    for each in changed:
        for line in each.diff.splitlines():
            is_name = line.startswith(("+++", "---"))
            console.out(console.styled("" if is_name else _COLOURS.get(line[:1], ""), line))
        console.out("")


# -- setup ------------------------------------------------------------------------------------------------------------

NOT_ARRIVED = 30
"""The exit code if a trial did not reach the inbox."""


def configure_setup(options: Options) -> None:
    known = f"default: those on this machine; known: {', '.join(SETUPS)}"
    options.harnesses(known, tuple(SETUPS))
    options.flag("--dry-run", "show what it would do and write nothing")
    options.flag("--diff", "show every change in every file")
    options.flag("--yes", "do not ask")
    options.flag("--repo", "also write the section into the instruction files of this repository")
    options.flag("--mcp", "also register `memory mcp` with the harness")
    options.flag("--no-hooks", "no hooks or plugin: sessions are not captured automatically")
    options.flag("--no-skill", "no skill file")
    options.flag("--no-section", "no managed section in the instruction file")
    epilog = (
        "Shows what it would write for each harness, with --diff every change, and what needs your attention, such as a "
        "memory of the harness's own that is on. It asks before it writes. Comments, order and everything else in a file "
        "stay. Copies from before are kept in ~/.local/state/agent-memory/setup/, and `memory uninstall` restores them. "
        "The storage root and the transcript directories of this shell go into your config, so that scheduled runs "
        "find them. At the end, setup tries each hook with a test session. It changes nothing in a repository "
        "without --repo. Only you can run this, not an agent. Exit codes: 2 if there is no terminal to ask on, 10 if "
        "a file was refused, 30 if a test session did not arrive."
    )
    options.runs(_setup, epilog, "memory setup claude-code codex --dry-run")


def _setup(arguments: Arguments, console: Console) -> int:
    with _locked("setup", arguments, console, Memory.installation) as (memory, installation):
        harnesses = tuple(dict.fromkeys(arguments.harness)) or installation.detected()
        if not harnesses and not arguments.repo:
            raise UsageInvalid("No harness was found on this machine", f"Give one: {', '.join(SETUPS)}.")
        wanted = {
            Part.HOOKS: not arguments.no_hooks,
            Part.SKILL: not arguments.no_skill,
            Part.SECTION: not arguments.no_section,
            Part.MCP: arguments.mcp,
        }
        parts = frozenset(part for part in Part if wanted.get(part, True))
        plan = installation.plan(harnesses, parts, _repository_here(memory) if arguments.repo else None)
        attention = [str(each.error) for each in plan.refused] + [*plan.notes, *map(str, plan.own_memories)]
        words = ("Write these changes?", _NOTHING_WRITTEN, "There is nothing to change.")
        outcomes = _carried_out(console, arguments, installation, plan, attention, installation.install, words)
        if outcomes is None:
            return 0
        trials: list[dict[str, Any]] = []
        if not arguments.dry_run:
            trials = _tried(console, installation, plan)
            if not _is_scheduled(installation):
                console.out("Next: `memory schedule on` makes this machine consolidate and defrag regularly.")
            if preset := _preset_here(memory):
                console.out(
                    f"`memory config set llm.preset {preset}` lets `{preset}` write the notes: without a model few are found."
                )
            if there := [name for name, paths in memory.importing.found(memory.machine()).items() if paths]:
                console.out(
                    f"`memory import SOURCE` takes over {', '.join(there)}: `memory import --find` says where they are."
                )
            if arguments.repo:
                console.out("`memory bootstrap` proposes the first notes about this repository.")
        console.warn(*attention)
        document = {
            "dryRun": arguments.dry_run,
            "files": rows_of((*outcomes, *plan.refused)),
            "trials": trials,
            "notes": list(plan.notes),
            "ownMemories": rows_of(plan.own_memories, "harness", "name", "path", "setting"),
        }
        console.answer(document)
        return _exit_code(plan, outcomes) or (NOT_ARRIVED if any(each["problem"] for each in trials) else 0)


def _tried(console: Console, installation: Installation, plan: InstallPlan) -> list[dict[str, Any]]:
    trials: list[dict[str, Any]] = []
    tested = installation.self_test(plan)
    for test, problem in tested:
        injects = test.act == "inject"
        if problem:
            failed = "note did not come back from" if injects else "session did not arrive through"
            console.warn(f"{test.harness}: a test {failed} `{test.command}`: {problem}.")
        else:
            did = "note reached a session" if injects else "session was captured and removed again"
            console.out(f"{test.harness}: a test {did}")
        facts = fields_of(test, "harness", "act", "command")
        trials.append({**facts, "arrived": not problem, "problem": problem or None})
    return trials


# -- uninstall --------------------------------------------------------------------------------------------------------


def configure_uninstall(options: Options) -> None:
    options.harnesses("default: all that setup has connected", tuple(SETUPS))
    options.flag("--dry-run", "show what it would do and change nothing")
    options.flag("--diff", "show every change in every file")
    options.flag("--yes", "do not ask")
    options.flag("--repo", "only the files of this repository")
    epilog = (
        "Removes exactly what `memory setup` and `memory generate-agents-md --target` added. A file that nobody has "
        "edited since becomes what it was, byte for byte; in other files your edits stay. Files and directories that "
        "setup created are removed. The notes stay. Only you can run this, not an agent. Exit codes: 2 if there is "
        "no terminal to ask on, 10 or 70 if a file was refused."
    )
    options.runs(_uninstall, epilog, "memory uninstall --dry-run")


def _uninstall(arguments: Arguments, console: Console) -> int:
    with _locked("uninstall", arguments, console, Memory.installation) as (memory, installation):
        named = frozenset(arguments.harness)
        if arguments.repo:
            named |= {repository_name(_repository_here(memory))}
        plan = installation.plan_removal(named or None)
        attention = [str(each.error) for each in plan.refused]
        words = ("Make these changes?", _NOTHING_CHANGED, "There is nothing to remove.")
        outcomes = _carried_out(console, arguments, installation, plan, attention, installation.uninstall, words)
        if outcomes is None:
            return 0
        console.warn(*attention)
        is_done = plan.changed and not arguments.dry_run
        left = as_result(installation.state.receipt)().value_or(None) if is_done else None
        if left is not None and not left.harnesses:
            console.out(f"Memory is removed from all harnesses. Your notes stay in {memory.root}.")
            if _is_scheduled(installation):
                console.out("This machine still consolidates and defrags regularly; `memory schedule off` stops that.")
        console.answer({"dryRun": arguments.dry_run, "files": rows_of((*outcomes, *plan.refused))})
        return _exit_code(plan, outcomes)


def _repository_here(memory: Memory) -> str:
    with as_store_io("look for a repository around", memory.cwd):
        top = work_tree_above(memory.cwd)
    if top is None:
        raise UsageInvalid("--repo needs a repository, and this directory is not in one")
    return top


def _preset_here(memory: Memory) -> str | None:
    """Returns a preset whose command is on this machine; None if the config chooses one."""
    if not uses_builtin(memory.config.llm):
        return None
    path = memory.environ.get("PATH", os.defpath)
    usable = (name for name, each in PRESETS.items() if not each.keeps_tools and not each.model_required)
    return next((name for name in usable if shutil.which(PRESETS[name].argv[0], path=path)), None)


def _is_scheduled(installation: Installation) -> bool:
    return as_result(ScheduleState(installation.context.home).receipt.read)().value_or(None) is not None


def _exit_code(plan: InstallPlan, outcomes: Iterable[FileOutcome]) -> int:
    errors = (each.error for each in (*plan.refused, *outcomes))
    return next((each.exit_code for each in errors if each is not None), 0)


# -- schedule ---------------------------------------------------------------------------------------------------------

JOBS = ("consolidate", "defrag")


def configure_schedule(options: Options) -> None:
    act = "what to do (default: status)"
    options.add("act", metavar="|".join(_ACTS), choices=list(_ACTS), nargs="?", default="status", help=act)
    options.add("job", choices=JOBS, metavar="JOB", nargs="?", help="with run: consolidate or defrag")
    system = "with on: launchd, systemd or cron (default: launchd on macOS, your systemd if it answers, else cron)"
    options.add("--system", choices=get_args(Scheduler), help=system)
    options.flag("--dry-run", "with on or off: print what would change, and change nothing")
    options.flag("--yes", "with on or off: do not ask")
    every = "with run: do nothing if the last run started less than this ago"
    options.number("--every", every, "SECONDS", least=0)
    epilog = (
        "`on` lets this machine run `memory consolidate` and `memory defrag` at the intervals of `schedule` in the "
        "config, with low priority and the PATH of this shell. It shows each file first. Run it again after changing "
        "an interval or moving the program. The output of the jobs is in ~/.local/state/agent-memory/schedule/. "
        "`off` removes exactly what `on` added: other lines of a crontab stay, and a job file that you edited is "
        "kept as a copy. `status` shows when each job last ran, how it ended and when it is due; exit code 1 if one "
        "needs attention. `run` is for the scheduler: it runs the command, records how it ended, and reports a "
        "failure to the next command and the next session. It exits like the command, but with 0 if another run was "
        "at work. Only you can use `on` and `off`, not an agent."
    )
    options.runs(_schedule, epilog, "memory schedule on --dry-run")


def _schedule(arguments: Arguments, console: Console) -> int:
    act, taken = _ACTS[arguments.act]
    given = {name: getattr(arguments, name) for name in ("job", "system", "dry_run", "yes", "every")}
    for name, value in given.items():
        if name not in taken and value is not None and value is not False:  # 0 is a number of seconds
            word = "JOB" if name == "job" else f"--{name.replace('_', '-')}"
            raise UsageInvalid(f"{word} does not go with `schedule {arguments.act}`", "See `memory schedule --help`.")
    if "job" in taken and arguments.job is None:
        raise UsageInvalid(f"`schedule {arguments.act}` needs a job", "It is consolidate or defrag.")
    return act(arguments, console) or 0


def _schedule_status(_: Arguments, console: Console) -> int:
    health = unwrap(open_here(console).health())
    problems = [problem for each in health.jobs if (problem := each.problem(health.now_ms)) is not None]
    lines = [job_in_words(each, health.now_ms) for each in health.jobs]
    nothing = "Nothing is scheduled. `memory schedule on` makes this machine consolidate and defrag regularly."
    console.answer({"jobs": job_documents(health), "problems": problems}, *(lines or [nothing]))
    console.warn(*problems)
    return 1 if problems else 0


def _schedule_on(arguments: Arguments, console: Console) -> None:
    with _locked("schedule on", arguments, console, Memory.scheduling) as (memory, scheduling):
        plan = scheduling.plan(
            scheduling.choose(arguments.system, dry_run=arguments.dry_run), dry_run=arguments.dry_run
        )
        notes = (*plan.notes, *_missing_keys(memory))
        aside: tuple[str, ...] = ()
        if _is_wanted(plan, plan.commands, "Install this?", "Nothing was installed.", arguments, console):
            aside = scheduling.install(plan)
            every = ((job.name, in_words(job.interval_seconds)) for job in scheduling.jobs)
            console.out(*(f"{plan.scheduler} now runs `memory {name}` every {interval}" for name, interval in every))
            console.out(*(f"Your edits are kept in {path}" for path in aside))
        console.warn(*notes)
        document = {
            "dryRun": arguments.dry_run,
            "scheduler": plan.scheduler,
            "files": [{"path": unit.path, "changes": unit.is_change, "diff": unit.diff} for unit in plan.units],
            "cronLines": list(plan.cron_lines),
            "commands": [list(argv) for argv in plan.start],
            "setAside": list(aside),
            "notes": list(notes),
        }
        console.answer(document)


def _is_wanted(
    plan: SchedulePlan, calls: Commands, question: str, refusal: str, arguments: Arguments, console: Console
) -> bool:
    """Shows what changes, and in a dry run what would be called; returns whether that is to be done."""
    _show_diffs(console, plan.changed)
    if arguments.dry_run:
        console.out(*(f"$ {' '.join(argv)}" for argv in calls))
    elif not plan.changed or arguments.yes or is_agreed(console, question):
        return True
    console.out(refusal)
    return False


def _missing_keys(memory: Memory) -> tuple[str, ...]:
    """Names the keys of the agent command's vendor: they are not written into files of a scheduler."""
    llm = memory.config.llm
    preset = PRESETS.get(llm.preset) if llm.command is None else None
    names = (*(preset.variables if preset is not None else ()), *llm.pass_env)
    missing = [name for name in dict.fromkeys(names) if memory.environ.get(name)]
    if not missing:
        return ()
    hint = "Log in with the agent command, or name a script in llm.command that sets what it needs."
    return (f"Scheduled runs will not have {', '.join(missing)}, since only this shell does. {hint}",)


def _schedule_off(arguments: Arguments, console: Console) -> None:
    with _locked("schedule off", arguments, console, Memory.scheduling) as (_, scheduling):
        document: dict[str, Any] = {"dryRun": arguments.dry_run, "scheduler": None, "files": [], "setAside": []}
        plan = scheduling.plan_removal()
        if plan is None:
            console.answer(document, "Nothing is scheduled.")
            return
        aside: tuple[str, ...] = ()
        if _is_wanted(plan, plan.stop, "Remove this?", _NOTHING_CHANGED, arguments, console):
            aside = scheduling.uninstall(plan)
            console.out("Nothing is scheduled any more. Run `memory consolidate` and `memory defrag` yourself.")
            console.out(*(f"Your edits are kept in {path}" for path in aside))
        files = [unit.path for unit in plan.units if unit.is_change]
        console.answer({**document, "scheduler": plan.scheduler, "files": files, "setAside": list(aside)})


# -- what a scheduler calls -------------------------------------------------------------------------------------------

_MAX_MESSAGE_CHARS = 300
_NICENESS = 10
"""As the other schedulers are told in plists/jobs.json."""


def _schedule_run(arguments: Arguments, console: Console) -> int:
    job: str = arguments.job
    state = ScheduleState(home_of(os.environ))
    # An unreadable config may name another root, so no guess is made (P6).
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
        # The next command and the next session are told of a failure; a success withdraws what they were not told yet.
        # The reason may be in somebody else's words, such as an agent command's: no session is told those unasked (P19).
        failed = f"The scheduled {job} of {iso_of(started_ms)[:16].replace('T', ' ')} (UTC) failed"
        notice = (f"{failed}: {said or f'exit code {code}'}", f"{failed}.") if ended.failed else None
        _try(console, lambda: state.put_notice(notice))
    console.answer({"job": job, "ran": True, "exitCode": code})
    return 0 if code == BUSY_CODE else code


def _called(job: str, console: Console) -> tuple[int, str]:
    from agent_memory.cli.main import main

    heard = _Heard(console.stderr)
    with redirect_stderr(heard), redirect_stdout(console.stderr if console.json else console.stdout):
        code = main([job])
    last = next((line for line in reversed(heard.getvalue().splitlines()) if line.strip()), "")
    return code, one_line(redact(last.strip().removeprefix("memory: ")).text, _MAX_MESSAGE_CHARS)


def _try(console: Console, act: Callable[[], None]) -> None:
    """Writes a record; a full disk keeps no job from running."""
    try:
        act()
    except Error as error:
        console.warn(str(error))


class _Heard(io.StringIO):
    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._stream.flush()


_ACTS: Mapping[str, tuple[Run, tuple[str, ...]]] = {
    "on": (_schedule_on, ("system", "dry_run", "yes")),
    "off": (_schedule_off, ("dry_run", "yes")),
    "run": (_schedule_run, ("job", "every")),
    "status": (_schedule_status, ()),
}
"""The actions of `memory schedule`, and their arguments."""
