"""Units of systemd as text. Quoting: systemd.syntax(7), systemd.service(5) and systemd.unit(5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agent_memory.domain.scheduling.cadence import on_calendar
from agent_memory.domain.scheduling.job import Job, Place, arguments_of
from agent_memory.formats.schedule_source import ScheduleSource

_PLAIN = re.compile(r"[\w/.+@: -]+")
_LONG_TICK_SECONDS = 20 * 60
"""A shorter tick leaves less room for a delay than the source says."""
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "%": "%%"}


def render_service(source: ScheduleSource, job: Job, place: Place) -> str:
    """The service of a job: one run, at a low priority, with all that it prints in its log."""
    # The first word may hold no quote and no backslash, and a dollar in it stays doubled.
    through = [] if _PLAIN.fullmatch(place.program) else ["/usr/bin/env"]
    words = [*through, _quoted(place.program), *arguments_of(job, ticks=True)]
    log = f"append:{_plain(place.log_path(job))}"
    return _unit(
        ("Unit", [("Description", job.description)]),
        (
            "Service",
            [
                *_settings(source.systemd["Service"]),
                ("ExecStart", " ".join(words).replace("$", "$$")),
                *(("Environment", _quoted(f"{name}={value}")) for name, value in place.environment),
                ("StandardOutput", log),
                ("StandardError", log),
            ],
        ),
    )


def render_timer(source: ScheduleSource, job: Job) -> str:
    """The timer of a job; a tick that passed while the machine was off or asleep is made up for once."""
    tick = job.cadence.tick_seconds
    delay = [("RandomizedDelaySec", f"{tick // 10}s"), ("AccuracySec", "1s")] if tick < _LONG_TICK_SECONDS else []
    timer = [("OnCalendar", on_calendar(tick)), *_settings(source.systemd["Timer"]), *delay]
    return _unit(
        ("Unit", [("Description", job.description)]),
        ("Timer", timer),
        ("Install", [*_settings(source.systemd["Install"])]),
    )


def _settings(settings: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    return ((key, str(value).lower() if isinstance(value, bool) else str(value)) for key, value in settings.items())


def _unit(*sections: tuple[str, list[tuple[str, str]]]) -> str:
    return "\n".join(f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in lines) for name, lines in sections)


def _quoted(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


def _plain(path: str) -> str:
    """A path in a setting that takes the rest of the line."""
    return path.replace("\\", "\\\\").replace("%", "%%")
