"""Putting the schedule into the machine's scheduler, and taking it out again."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.scheduling.programs import Programs
from agent_memory.adapters.scheduling.schedule_state import ScheduleState
from agent_memory.adapters.scheduling.schedules import Schedules
from agent_memory.adapters.setup.settings_files import SettingsFiles
from agent_memory.adapters.setup.setup_state import SetupState
from agent_memory.domain.installing.file_edit import FileEdit
from agent_memory.domain.installing.plans import SettingsFile
from agent_memory.domain.installing.receipt import sha256_of
from agent_memory.domain.scheduling.job import Schedule, Scheduler
from agent_memory.domain.scheduling.scheduled_run import InstalledJob, InstalledSchedule
from agent_memory.errors import Error, SchedulerFailed
from agent_memory.formats.crontab import with_lines
from agent_memory.ports import Clock
from agent_memory.results import sealed


@frozen
class PlannedUnit:
    """One file of a scheduler, and what is to become of it."""

    settings: SettingsFile
    edit: FileEdit
    is_theirs: bool = False
    """It is not as we left it: somebody has edited it, or made it."""


@frozen
class SchedulePlan:
    """Everything that is about to be done; nothing is done yet."""

    schedule: Schedule
    units: tuple[PlannedUnit, ...] = ()
    crontab: FileEdit | None = None
    before: InstalledSchedule | None = None
    notes: tuple[str, ...] = ()

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """What changes, in files and in the crontab."""
        each = (*(unit.edit for unit in self.units), *(() if self.crontab is None else (self.crontab,)))
        return tuple(edit for edit in each if edit.is_change)


@frozen
class Scheduling:
    """Hold `state.locked()` from the plan to its end."""

    schedules: Schedules
    files: SettingsFiles
    state: ScheduleState
    setup: SetupState
    clock: Clock
    root: str
    programs_of: Callable[[Scheduler], Programs]

    def choose(self, wanted: Scheduler | None, *, dry_run: bool = False) -> Result[Scheduler, Error]:
        """The scheduler to use: the one that was asked for, else launchd on macOS, a systemd of the person's that answers,
        or cron. SchedulerFailed where there is none, or where the one that was asked for does not answer; a dry run is
        shown any."""
        if wanted is Scheduler.SYSTEMD and not dry_run:
            return self._systemd_answers().map(lambda _: Scheduler.SYSTEMD)
        if wanted is not None:
            return Success(wanted)
        if sys.platform == "darwin":
            return Success(Scheduler.LAUNCHD)
        if isinstance(self._systemd_answers(), Success):
            return Success(Scheduler.SYSTEMD)
        if self.programs_of(Scheduler.CRON).has("crontab"):
            return Success(Scheduler.CRON)
        return Failure(
            SchedulerFailed(
                "This machine",
                "no systemd of yours answers, and there is no crontab",
                "Install cron, or let something else call `memory consolidate` and `memory defrag`.",
            )
        )

    def plan(self, scheduler: Scheduler, *, dry_run: bool = False) -> Result[SchedulePlan, Error]:
        """What installing would do. What another scheduler was given before is to be taken out first (`plan_removal`)."""

        def planned(before: InstalledSchedule | None) -> Result[SchedulePlan, Error]:
            schedule = self.schedules.schedule(scheduler)
            known = {} if before is None else dict(before.files)
            wanted = {file.path: file.data for file in schedule.files}
            return self._planned(SchedulePlan(schedule, before=before), known, wanted, dry_run=dry_run)

        return self.state.installed().bind(planned)

    def plan_removal(self) -> Result[SchedulePlan | None, Error]:
        """What uninstalling would do; None where nothing is installed."""

        def planned(before: InstalledSchedule | None) -> Result[SchedulePlan | None, Error]:
            if before is None:
                return Success(None)
            schedule = self.schedules.schedule(before.scheduler)
            known = dict(before.files)
            plan = SchedulePlan(evolve(schedule, cron_lines=(), notes=()), before=before)
            return self._planned(plan, known, dict.fromkeys(known)).map(lambda plan: plan)

        return self.state.installed().bind(planned)

    def install(self, plan: SchedulePlan) -> Result[tuple[str, ...], Error]:
        """Carry out a plan of `plan`; where edited files of ours were set aside. The receipt is written first: whatever a
        crash leaves behind, it knows of."""
        installed = InstalledSchedule(
            scheduler=plan.schedule.scheduler,
            program=self.schedules.place.program,
            root=self.root,
            environment=self.schedules.place.environment,
            installed_at_ms=self.clock.now_ms(),
            jobs=tuple(InstalledJob(job.name, job.cadence.interval_seconds) for job in self.schedules.jobs),
            files=tuple((file.path, sha256_of(file.data)) for file in plan.schedule.files),
        )
        programs = self.programs_of(plan.schedule.scheduler)
        return (
            self.state.make_directory()
            .bind(lambda _: self.state.put_installed(installed))
            .bind(lambda _: self._edited(plan))
            .bind(lambda aside: self._started(programs, plan).map(lambda _: aside))
        )

    def uninstall(self, plan: SchedulePlan) -> Result[tuple[str, ...], Error]:
        """Carry out a plan of `plan_removal`; where edited files of ours were set aside."""
        programs = self.programs_of(plan.schedule.scheduler)
        for argv in plan.schedule.stop:
            programs.run(argv)  # what is not loaded cannot be stopped, and that is what is wanted
        return self._edited(plan).bind(
            lambda aside: self._reloaded(programs, plan).bind(
                lambda _: (
                    self.state.put_notice(None).bind(lambda _: self.state.put_installed(None)).map(lambda _: aside)
                )
            )
        )

    def _planned(
        self,
        plan: SchedulePlan,
        known: Mapping[str, str],
        wanted: Mapping[str, bytes | None],
        *,
        dry_run: bool = False,
    ) -> Result[SchedulePlan, Error]:
        units: list[PlannedUnit] = []
        for path, after in wanted.items():
            match sealed(self.files.read(path)):
                case Failure(error):
                    return Failure(error)
                case Success(settings):
                    before = settings.file.data
                    theirs = before is not None and before != after and sha256_of(before) != known.get(path)
                    units.append(PlannedUnit(settings, FileEdit(path, before, after), theirs))
        return self._crontab_edit(plan.schedule, dry_run=dry_run).map(
            lambda crontab: evolve(plan, units=tuple(units), crontab=crontab)
        )

    def _crontab_edit(self, schedule: Schedule, *, dry_run: bool) -> Result[FileEdit | None, Error]:
        if schedule.scheduler is not Scheduler.CRON:
            return Success(None)
        programs = self.programs_of(Scheduler.CRON)
        nothing: Result[bytes, Error] = Success(b"")
        crontab = nothing if dry_run and not programs.has("crontab") else CronTable(programs).read()

        def edited(before: bytes) -> Result[FileEdit | None, Error]:
            return (
                with_lines(before, schedule.cron_lines)
                .map(lambda after: FileEdit(NAME, before, after))
                .alt(lambda problem: SchedulerFailed("cron", problem, "Mend them with `crontab -e`."))
            )

        return crontab.bind(edited)

    def _edited(self, plan: SchedulePlan) -> Result[tuple[str, ...], Error]:
        aside: list[str] = []
        for unit in plan.units:
            if not unit.edit.is_change:
                continue
            if unit.is_theirs and unit.edit.before is not None:
                match sealed(self.setup.set_aside(unit.edit.path, unit.edit.before)):
                    case Failure(error):
                        return Failure(error)
                    case Success(path):
                        aside.append(path)
            after = unit.edit.after
            done = self.files.remove(unit.settings) if after is None else self.files.write(unit.settings, after)
            if isinstance(done, Failure):
                return done
        if plan.crontab is not None and plan.crontab.is_change and plan.crontab.after is not None:
            written = CronTable(self.programs_of(Scheduler.CRON)).write(plan.crontab.after)
            if isinstance(written, Failure):
                return written
        return Success(tuple(aside))

    def _started(self, programs: Programs, plan: SchedulePlan) -> Result[None, Error]:
        if plan.schedule.scheduler is Scheduler.LAUNCHD:
            for argv in plan.schedule.stop:  # an agent that is loaded cannot be loaded anew
                programs.run(argv)
        return _all_of(programs, plan.schedule.start)

    def _reloaded(self, programs: Programs, plan: SchedulePlan) -> Result[None, Error]:
        if plan.schedule.scheduler is not Scheduler.SYSTEMD:
            return Success(None)
        programs.run(
            ("systemctl", "--user", "daemon-reload")
        )  # the timers are stopped; without a bus nothing runs anyway
        return Success(None)

    def _systemd_answers(self) -> Result[None, Error]:
        def without_a_bus(error: Error) -> Error:
            reason = error.reason if isinstance(error, SchedulerFailed) else "no systemd of yours answers"
            return SchedulerFailed("systemd", reason, "Log in to a desktop or by ssh, or use --system cron.")

        asked = self.programs_of(Scheduler.SYSTEMD).run(("systemctl", "--user", "show-environment"))
        return asked.map(lambda _: None).alt(without_a_bus)


def _all_of(programs: Programs, commands: Iterable[tuple[str, ...]]) -> Result[None, Error]:
    for argv in commands:
        done = programs.run(argv)
        if isinstance(done, Failure):
            return Failure(done.failure())
    return Success(None)


NAME = "your crontab"
_NONE_YET = re.compile(r"\bno crontab for\b", re.IGNORECASE)


@frozen
class CronTable:
    """Read as a whole, replaced as a whole."""

    programs: Programs

    def read(self) -> Result[bytes, Error]:
        """Its bytes; empty where there is none yet, which the program calls a failure."""
        match sealed(self.programs.run(("crontab", "-l"))):
            case Success(data):
                return Success(data)
            case Failure(SchedulerFailed(_, reason, _)) if _NONE_YET.search(reason):
                return Success(b"")
            case Failure(error):
                return Failure(error)

    def write(self, data: bytes) -> Result[None, Error]:
        """Replace it; without anything left in it, take it away."""
        argv = ("crontab", "-") if data.strip() else ("crontab", "-r")
        return self.programs.run(argv, data if data.strip() else b"").map(lambda _: None)
