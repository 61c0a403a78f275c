"""The schedule in the formats of launchd, systemd and cron; installs it into the machine's scheduler and removes it."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import frozen

from agent_memory.agent.child_process import run_child
from agent_memory.config import ScheduleConfig
from agent_memory.errors import SchedulerFailed, StoreIo
from agent_memory.files.durable import make_directories
from agent_memory.files.paths import as_store_io, read_shipped
from agent_memory.files.root import ROOT_VARIABLE
from agent_memory.rules.change import TargetFile
from agent_memory.setup.installation import root_without
from agent_memory.setup.plan import PlannedFile, SettingsFiles, SetupState
from agent_memory.setup.schedule import (
    InstalledSchedule,
    Job,
    Place,
    Scheduler,
    ScheduleState,
    arguments_of,
    calendars,
    in_words,
    interval_hours,
    interval_of,
)
from agent_memory.text.ids import content_hash
from agent_memory.text.plain_text import one_line

_LIMIT_SECONDS = 30.0
_AGAIN = "Fix that, then run the command again."
_CRONTAB = "your crontab"
_NO_CRONTAB_YET = re.compile(r"\bno crontab for\b", re.IGNORECASE)
_SYSTEMCTL = ("systemctl", "--user")


@frozen
class ScheduleSource:
    """`plists/jobs.json`: the jobs, and what each scheduler is told about them. The Nix modules read the same file. It
    is part of the program, so a damaged one is a broken installation and raises."""

    jobs: Mapping[str, Mapping[str, str]]
    launchd: Mapping[str, Any]
    systemd: Mapping[str, Mapping[str, Any]]


Commands = tuple[tuple[str, ...], ...]


@frozen
class SchedulePlan:
    """Everything that is about to be done; nothing is done yet. `start` and `stop` are commands in order; one of `stop`
    may fail, since what it stops may be gone."""

    scheduler: Scheduler
    units: tuple[PlannedFile, ...] = ()
    """Files of the scheduler. One that is not as we left it is set aside: somebody has edited it, or made it."""
    cron_lines: tuple[str, ...] = ()
    crontab: PlannedFile | None = None
    stop: Commands = ()
    start: Commands = ()
    notes: tuple[str, ...] = ()
    """Whole sentences for the person."""
    removal: SchedulePlan | None = None
    """Removes the jobs from another scheduler first: they would run twice."""

    @property
    def changed(self) -> tuple[PlannedFile, ...]:
        """Returns what changes, in files and in the crontab."""
        first = () if self.removal is None else self.removal.changed
        each = (*self.units, *(() if self.crontab is None else (self.crontab,)))
        return (*first, *(edit for edit in each if edit.is_change))

    @property
    def commands(self) -> Commands:
        """Returns the commands that are worth showing."""
        return (*(() if self.removal is None else self.removal.stop), *self.start)


@frozen
class Scheduling:
    """Hold `state.locked()` from the plan to its end."""

    source: ScheduleSource
    jobs: tuple[Job, ...]
    place: Place
    files: SettingsFiles
    state: ScheduleState
    root: str
    environ: Mapping[str, str]

    def choose(self, wanted: Scheduler | None, *, dry_run: bool = False) -> Scheduler:
        """Returns the scheduler to use: the requested one, else launchd on macOS, a user systemd that answers, or cron.
        SchedulerFailed if there is none, or if the requested one does not answer; a dry run may show any."""
        if wanted is None and sys.platform == "darwin":
            return "launchd"
        if wanted not in (None, "systemd") or (wanted and dry_run):
            return wanted
        try:
            Programs("systemd", self.environ).run((*_SYSTEMCTL, "show-environment"))
        except SchedulerFailed as error:
            if wanted is not None:
                hint = "Log in on a desktop or by ssh, or use --system cron."
                raise SchedulerFailed("systemd", error.reason, hint) from None
            if Programs("cron", self.environ).path_of("crontab"):
                return "cron"
            hint = "Install cron, or let something else call `memory consolidate` and `memory defrag`."
            problem = "your systemd does not answer, and there is no crontab"
            raise SchedulerFailed("This machine", problem, hint) from None
        return "systemd"

    def plan(self, scheduler: Scheduler, *, dry_run: bool = False) -> SchedulePlan:
        before = self.state.receipt.read()
        files, stop, start, notes = self._told(scheduler)
        units = self._units(files, {} if before is None else before.files)
        lines = tuple(cron_line(job, self.place) for job in self.jobs) if scheduler == "cron" else ()
        crontab = self._crontab(lines, dry_run=dry_run) if scheduler == "cron" else None
        removal = self.plan_removal() if before is not None and before.scheduler != scheduler else None
        return SchedulePlan(scheduler, units, lines, crontab, stop, start, notes, removal)

    def plan_removal(self) -> SchedulePlan | None:
        """Returns what uninstalling would do; None if nothing is installed."""
        before = self.state.receipt.read()
        if before is None:
            return None
        units = self._units(dict.fromkeys(before.files), before.files)
        crontab = self._crontab(()) if before.scheduler == "cron" else None
        _, stop, *_ = self._told(before.scheduler)
        return SchedulePlan(before.scheduler, units, (), crontab, stop)

    def install(self, plan: SchedulePlan) -> tuple[str, ...]:
        """Carries out a plan of `plan`; returns where edited files of ours were set aside. The receipt is written
        first: it knows of whatever a crash leaves behind."""
        aside = () if plan.removal is None else self.uninstall(plan.removal)
        with as_store_io("make", self.state.directory):  # a scheduler opens the log before we run
            make_directories(self.state.directory)
        self.state.receipt.write(
            InstalledSchedule(
                scheduler=plan.scheduler,
                program=self.place.program,
                root=self.root,
                environment=self.place.environment,
                installed_at_ms=time.time_ns() // 1_000_000,
                jobs=self.jobs,
                files={unit.path: content_hash(unit.after or b"") for unit in plan.units},
            )
        )
        aside += self._carry_out(plan)
        programs = Programs(plan.scheduler, self.environ)
        if plan.scheduler == "launchd":  # an agent that is loaded cannot be loaded again
            programs.try_all(plan.stop)
        for argv in plan.start:
            programs.run(argv)
        return aside

    def uninstall(self, plan: SchedulePlan) -> tuple[str, ...]:
        """Carries out a plan of `plan_removal`; returns where edited files of ours were set aside."""
        programs = Programs(plan.scheduler, self.environ)
        programs.try_all(plan.stop)  # what is not loaded cannot be stopped, which is fine
        aside = self._carry_out(plan)
        if plan.scheduler == "systemd":  # the timers are stopped; without a bus nothing runs anyway
            programs.try_all([(*_SYSTEMCTL, "daemon-reload")])
        self.state.clear([job.name for job in self.jobs])
        return aside

    def _told(self, scheduler: Scheduler) -> tuple[Mapping[str, bytes], Commands, Commands, tuple[str, ...]]:
        """Returns what a scheduler is told about the jobs: its files, commands that stop and start them, and notes."""
        source, jobs, place = self.source, self.jobs, self.place
        uneven = tuple(
            f"No calendar can say every {in_words(job.interval_seconds)}: {job.name} is looked at every "
            f"{in_words(job.tick_seconds)}, and runs when it is due."
            for job in jobs
            if not job.is_exact
        )
        match scheduler:
            case "cron":
                return {}, (), (), uneven
            case "launchd":
                domain, agents = f"gui/{os.getuid()}", f"{place.home}/Library/LaunchAgents"
                files = {f"{agents}/{job.label}.plist": render_plist(source, job, place) for job in jobs}
                stop = tuple(("launchctl", "bootout", f"{domain}/{job.label}") for job in jobs)
                return files, stop, tuple(("launchctl", "bootstrap", domain, path) for path in files), ()
            case "systemd":
                configured = self.environ.get("XDG_CONFIG_HOME", "")
                units = f"{configured if configured.startswith('/') else f'{place.home}/.config'}/systemd/user"
                files = {f"{units}/{job.unit}.service": render_service(source, job, place).encode() for job in jobs}
                files |= {f"{units}/{job.unit}.timer": render_timer(source, job).encode() for job in jobs}
                timers = tuple(f"{job.unit}.timer" for job in jobs)
                # A running timer takes a new time only when it is restarted.
                acts = (("daemon-reload",), ("enable", *timers), ("restart", *timers))
                lingering = "systemd runs them while you are logged in; `loginctl enable-linger` lets them run always."
                disable = ((*_SYSTEMCTL, "disable", "--now", *timers),)
                return files, disable, tuple((*_SYSTEMCTL, *words) for words in acts), (*uneven, lingering)

    def _units(self, wanted: Mapping[str, bytes | None], known: Mapping[str, str]) -> tuple[PlannedFile, ...]:
        """Plans the new content of files; `known` has the digest of each as we left it."""
        units: list[PlannedFile] = []
        for path, after in wanted.items():
            file = self.files.read(path)
            before = file.data
            theirs = before is not None and before != after and content_hash(before) != known.get(path)
            units.append(PlannedFile(file, after, set_aside=theirs))
        return tuple(units)

    def _crontab(self, lines: tuple[str, ...], *, dry_run: bool = False) -> PlannedFile:
        programs = Programs("cron", self.environ)
        before = b"" if dry_run and not programs.path_of("crontab") else read_crontab(programs)
        return PlannedFile(TargetFile(_CRONTAB, _CRONTAB, before), with_cron_lines(before, lines))

    def _carry_out(self, plan: SchedulePlan) -> tuple[str, ...]:
        setup = SetupState(self.place.home)
        aside = [self.files.carry_out(unit, setup) for unit in plan.units if unit.is_change]
        if plan.crontab is not None and plan.crontab.is_change:
            write_crontab(Programs("cron", self.environ), plan.crontab.after or b"")
        return tuple(path for path in aside if path is not None)


def open_scheduling(
    home: str, program: str, schedule: ScheduleConfig, files: SettingsFiles, root: str, environ: Mapping[str, str]
) -> Scheduling:
    """Returns the schedule of the store at this real root, for which `program` is called."""
    source = ScheduleSource(**json.loads(read_shipped("plists/jobs.json")))
    hours = interval_hours(schedule)
    jobs = tuple(Job(name, interval_of(hours[name], f"{name}IntervalHours")) for name in source.jobs)
    # If the person's own config does not lead a run to this root, the root is passed to it.
    told = {} if root_without({"HOME": home}) == root else {ROOT_VARIABLE: root}
    state = ScheduleState(home)
    place = Place(home, program, {"PATH": environ.get("PATH", os.defpath), **told}, state.directory)
    return Scheduling(source, jobs, place, files, state, root, environ)


# -- programs of schedulers -------------------------------------------------------------------------------------------


@frozen
class Programs:
    """The programs on this environment's PATH, on behalf of one scheduler: called without a shell, for a limited time,
    with all of their output in an error."""

    scheduler: str
    environ: Mapping[str, str]

    def run(self, argv: Sequence[str], data: bytes = b"") -> bytes:
        """Returns what it printed. SchedulerFailed when it is not there, takes too long, or says that it failed."""
        program = self.path_of(argv[0])
        if program is None:
            raise self._failed(f"there is no {argv[0]} on PATH", "Install it, or choose another with --system.")
        try:
            done = run_child(
                (program, *argv[1:]), stdin=data, env=self.environ, cwd="/", timeout_seconds=_LIMIT_SECONDS
            )
        except StoreIo as error:
            raise self._failed(f"`{argv[0]}` cannot be run ({error.reason})", "Check the program.") from None
        if done.timed_out:
            raise self._failed(f"`{' '.join(argv)}` did not end within {_LIMIT_SECONDS:.0f} s", "Try again.")
        if done.exit_status != 0:
            said = one_line((done.stderr_tail or done.stdout).decode("utf-8", "replace").strip(), 300)
            raise self._failed(
                f"`{' '.join(argv)}` ended with {done.exit_status}{f' ({said})' if said else ''}", _AGAIN
            )
        return done.stdout

    def try_all(self, commands: Sequence[Sequence[str]]) -> None:
        """Runs commands that may fail."""
        for argv in commands:
            with suppress(SchedulerFailed):
                self.run(argv)

    def path_of(self, name: str) -> str | None:
        return shutil.which(name, path=self.environ.get("PATH", os.defpath))

    def _failed(self, reason: str, hint: str) -> SchedulerFailed:
        return SchedulerFailed(self.scheduler, reason, hint)


def read_crontab(programs: Programs) -> bytes:
    """Returns the person's table; empty if there is none yet, which the program calls a failure."""
    try:
        return programs.run(("crontab", "-l"))
    except SchedulerFailed as error:
        if _NO_CRONTAB_YET.search(error.reason):
            return b""
        raise


def write_crontab(programs: Programs, data: bytes) -> None:
    """Replaces the person's table as a whole; an empty one is removed."""
    if data.strip():
        programs.run(("crontab", "-"), data)
    else:
        programs.run(("crontab", "-r"))


def render_plist(source: ScheduleSource, job: Job, place: Place) -> bytes:
    """Returns the launchd agent of a job. Launchd has no calendar that could tick too early: it counts the interval."""
    log = place.log_path(job)
    agent = {
        "Label": job.label,
        "ProgramArguments": [place.program, *arguments_of(job, ticks=False)],
        "StartInterval": job.interval_seconds,
        "EnvironmentVariables": place.environment,
        "StandardOutPath": log,
        "StandardErrorPath": log,
        **source.launchd,
    }
    return plistlib.dumps(agent, sort_keys=False)


# -- systemd: quoting as in systemd.syntax(7), systemd.service(5) and systemd.unit(5) ----------------------------------

_PLAIN = re.compile(r"[\w/.+@: -]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "%": "%%"}


def render_service(source: ScheduleSource, job: Job, place: Place) -> str:
    """Returns the systemd service of a job: one run, at a low priority, with all its output in its log."""
    # The first word may hold no quote and no backslash, and a dollar in it stays doubled.
    through = [] if _PLAIN.fullmatch(place.program) else ["/usr/bin/env"]
    words = [*through, _quoted(place.program), *arguments_of(job, ticks=True)]
    log = "append:" + place.log_path(job).replace("\\", "\\\\").replace("%", "%%")
    service = [
        *_settings(source.systemd["Service"]),
        ("ExecStart", " ".join(words).replace("$", "$$")),
        *(("Environment", _quoted(f"{name}={value}")) for name, value in place.environment.items()),
        ("StandardOutput", log),
        ("StandardError", log),
    ]
    return _unit(("Unit", [("Description", source.jobs[job.name]["description"])]), ("Service", service))


def render_timer(source: ScheduleSource, job: Job) -> str:
    """Returns the systemd timer of a job; a tick that passed while the machine was off or asleep is made up for once."""
    tick = job.tick_seconds
    # A tick under 20 minutes leaves less room for a delay than the source says.
    delay = [("RandomizedDelaySec", f"{tick // 10}s"), ("AccuracySec", "1s")] if tick < (20 * 60) else []
    timer = [("OnCalendar", calendars(tick)[0]), *_settings(source.systemd["Timer"]), *delay]
    install = [*_settings(source.systemd["Install"])]
    return _unit(
        ("Unit", [("Description", source.jobs[job.name]["description"])]), ("Timer", timer), ("Install", install)
    )


def _settings(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in settings.items())


def _unit(*sections: tuple[str, list[tuple[str, str]]]) -> str:
    return "\n".join(f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in lines) for name, lines in sections)


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


# -- cron: our lines in a person's crontab, between two marks; every other byte stays ----------------------------------

CRON_START = b"# agent-memory: start (`memory schedule off` takes these lines out)"
CRON_END = b"# agent-memory: end"
_START, _END = rb"# agent-memory: (start)", rb"[ \t]*# agent-memory: (end)[ \t\r\f\v]*$"
_MARK = re.compile(rb"^(?:%s|%s)" % (_START, _END), re.MULTILINE)
_BETWEEN_MARKS = re.compile(rb"^%s.*?^%s\n?" % (_START, _END), re.MULTILINE | re.DOTALL)


def cron_line(job: Job, place: Place) -> str:
    """Returns the crontab line of a job. A `%` would end it: cron removes the backslash before it."""
    words = [place.program, *arguments_of(job, ticks=True)]
    command = f"{shlex.join(words)} >> {shlex.quote(place.log_path(job))} 2>&1"
    return f"{calendars(job.tick_seconds)[1]} {command}".replace("%", "\\%")


def with_cron_lines(crontab: bytes, lines: tuple[str, ...]) -> bytes:
    """Returns the crontab with these lines between our marks, where they were before; without any lines, without the
    marks. SchedulerFailed if the existing marks are ambiguous."""
    ours = b""
    if lines:
        ours = CRON_START + b"\n" + "".join(f"{line}\n" for line in lines).encode() + CRON_END + b"\n"
    marks = [b"".join(found) for found in _MARK.findall(crontab)]
    if not marks:
        between = b"" if crontab.endswith(b"\n") or not crontab or not ours else b"\n"
        return crontab + between + ours
    if marks != [b"start", b"end"]:
        problem = "the lines `# agent-memory: start` and `# agent-memory: end` are not there once each, in this order"
        raise SchedulerFailed("cron", problem, "Fix them with `crontab -e`.")
    return _BETWEEN_MARKS.sub(lambda _: ours, crontab)
