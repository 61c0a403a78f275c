"""The schedule in the words of each scheduler: launchd's property lists, systemd's units, lines of a crontab."""

from __future__ import annotations

import plistlib
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from agent_memory.domain.scheduling import Job, Place, arguments_of, calendars
from agent_memory.errors import SchedulerFailed


@frozen
class ScheduleSource:
    """`plists/jobs.json`: the jobs, and what each scheduler is told of every one of them. The Nix modules read the same file. It is
    our own, so that a damaged one is a broken installation and raises."""

    jobs: Mapping[str, Mapping[str, str]]
    launchd: Mapping[str, Any]
    systemd: Mapping[str, Mapping[str, Any]]

    def job(self, name: str, interval_seconds: int) -> Job:
        """One of `jobs`."""
        return Job(name, self.jobs[name]["description"], interval_seconds)


# -- launchd ----------------------------------------------------------------------------------------------------------


def render_plist(source: ScheduleSource, job: Job, place: Place) -> bytes:
    """The agent of a job at this place. Launchd has no calendar that may tick too early: it counts the interval."""
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
_LONG_TICK_SECONDS = 20 * 60
"""A shorter tick leaves less room for a delay than the source says."""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "%": "%%"}


def render_service(source: ScheduleSource, job: Job, place: Place) -> str:
    """The service of a job: one run, at a low priority, with all that it prints in its log."""
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
    return _unit(("Unit", [("Description", job.description)]), ("Service", service))


def render_timer(source: ScheduleSource, job: Job) -> str:
    """The timer of a job; a tick that passed while the machine was off or asleep is made up for once."""
    tick = job.tick_seconds
    delay = [("RandomizedDelaySec", f"{tick // 10}s"), ("AccuracySec", "1s")] if tick < _LONG_TICK_SECONDS else []
    timer = [("OnCalendar", calendars(tick)[0]), *_settings(source.systemd["Timer"]), *delay]
    install = [*_settings(source.systemd["Install"])]
    return _unit(("Unit", [("Description", job.description)]), ("Timer", timer), ("Install", install))


def _settings(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in settings.items())


def _unit(*sections: tuple[str, list[tuple[str, str]]]) -> str:
    return "\n".join(f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in lines) for name, lines in sections)


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


# -- cron: our lines in a person's crontab, between two marks; every other byte stays ----------------------------------

CRON_START = b"# agent-memory: start (`memory uninstall-cron` takes these lines out)"
CRON_END = b"# agent-memory: end"
_START, _END = rb"# agent-memory: (start)", rb"[ \t]*# agent-memory: (end)[ \t\r\f\v]*$"
_MARK = re.compile(rb"^(?:%s|%s)" % (_START, _END), re.MULTILINE)
_BETWEEN_MARKS = re.compile(rb"^%s.*?^%s\n?" % (_START, _END), re.MULTILINE | re.DOTALL)


def cron_line(job: Job, place: Place) -> str:
    """The line of a job. A `%` would end it: cron takes the backslash before it away."""
    words = [place.program, *arguments_of(job, ticks=True)]
    command = f"{shlex.join(words)} >> {shlex.quote(place.log_path(job))} 2>&1"
    return f"{calendars(job.tick_seconds)[1]} {command}".replace("%", "\\%")


def with_cron_lines(crontab: bytes, lines: tuple[str, ...]) -> bytes:
    """The crontab with these lines between our marks, in the place where they were before; without any, without the marks.
    SchedulerFailed where the marks that are there are ambiguous."""
    ours = b""
    if lines:
        ours = CRON_START + b"\n" + "".join(f"{line}\n" for line in lines).encode() + CRON_END + b"\n"
    marks = [b"".join(found) for found in _MARK.findall(crontab)]
    if not marks:
        between = b"" if crontab.endswith(b"\n") or not crontab or not ours else b"\n"
        return crontab + between + ours
    if marks != [b"start", b"end"]:
        problem = "the lines `# agent-memory: start` and `# agent-memory: end` do not stand once each, in this order"
        raise SchedulerFailed("cron", problem, "Mend them with `crontab -e`.")
    return _BETWEEN_MARKS.sub(lambda _: ours, crontab)
