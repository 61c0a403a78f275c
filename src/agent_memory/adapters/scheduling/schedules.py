"""The schedule as each scheduler wants it: files, lines, and the commands that start and stop the jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.scheduling.cadence import in_words
from agent_memory.domain.scheduling.job import Job, Place, Schedule, ScheduleFile, Scheduler
from agent_memory.formats.crontab import cron_line
from agent_memory.formats.launchd_plist import render_plist
from agent_memory.formats.schedule_source import ScheduleSource
from agent_memory.formats.systemd_unit import render_service, render_timer


@frozen
class Schedules:
    """The jobs at one place."""

    source: ScheduleSource
    templates: Mapping[str, bytes]
    """The plist template of each job, by its name."""
    jobs: tuple[Job, ...]
    place: Place
    config_directory: str
    """`~/.config`, or what XDG_CONFIG_HOME says."""

    def schedule(self, scheduler: Scheduler) -> Schedule:
        """What makes this scheduler run the jobs."""
        match scheduler:
            case Scheduler.LAUNCHD:
                return self._launchd()
            case Scheduler.SYSTEMD:
                return self._systemd()
            case Scheduler.CRON:
                lines = tuple(cron_line(job, self.place) for job in self.jobs)
                return Schedule(Scheduler.CRON, cron_lines=lines, notes=self._uneven())

    def _launchd(self) -> Schedule:
        domain = f"gui/{os.getuid()}"
        paths = {job.name: f"{self.place.home}/Library/LaunchAgents/{job.label}.plist" for job in self.jobs}
        return Schedule(
            Scheduler.LAUNCHD,
            files=tuple(
                ScheduleFile(paths[job.name], render_plist(self.templates[job.name], job, self.place))
                for job in self.jobs
            ),
            stop=tuple(("launchctl", "bootout", f"{domain}/{job.label}") for job in self.jobs),
            start=tuple(("launchctl", "bootstrap", domain, paths[job.name]) for job in self.jobs),
        )

    def _systemd(self) -> Schedule:
        directory = f"{self.config_directory}/systemd/user"
        timers = tuple(f"{job.unit}.timer" for job in self.jobs)
        units = {
            **{f"{job.unit}.service": render_service(self.source, job, self.place) for job in self.jobs},
            **{f"{job.unit}.timer": render_timer(self.source, job) for job in self.jobs},
        }
        reload = ("systemctl", "--user", "daemon-reload")
        return Schedule(
            Scheduler.SYSTEMD,
            files=tuple(ScheduleFile(f"{directory}/{name}", text.encode()) for name, text in units.items()),
            stop=(("systemctl", "--user", "disable", "--now", *timers),),
            # A timer that runs already takes a new time only when it is started anew.
            start=(reload, ("systemctl", "--user", "enable", *timers), ("systemctl", "--user", "restart", *timers)),
            notes=(
                *self._uneven(),
                "systemd runs them while you are logged in; `loginctl enable-linger` lets them run at other times too.",
            ),
        )

    def _uneven(self) -> tuple[str, ...]:
        return tuple(
            f"No calendar can say every {in_words(job.cadence.interval_seconds)}: {job.name} is looked at every "
            f"{in_words(job.cadence.tick_seconds)}, and runs when it is due."
            for job in self.jobs
            if not job.cadence.is_exact
        )
