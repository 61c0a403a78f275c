"""A launchd agent as a property list.

`plists/com.agent-memory.*.plist` are templates: whole agents with places for what is known only when they are installed.
"""

from __future__ import annotations

import plistlib
from typing import Any

from agent_memory.domain.scheduling.job import Job, Place, arguments_of
from agent_memory.formats.schedule_source import ScheduleSource

PROGRAM, LOG = "@memory@", "@log@"


def render_template(source: ScheduleSource, job: Job) -> bytes:
    """The template of a job: at the default interval, with `@memory@` and `@log@` in the places of the program and its log."""
    return _dumped(
        {
            "Label": job.label,
            "ProgramArguments": [PROGRAM, *arguments_of(job, ticks=False)],
            "StartInterval": job.cadence.interval_seconds,
            "EnvironmentVariables": {},
            "StandardOutPath": LOG,
            "StandardErrorPath": LOG,
            **source.launchd,
        }
    )


def render_plist(template: bytes, job: Job, place: Place) -> bytes:
    """The agent of a job at this place. What the template says besides stays."""
    agent: dict[str, Any] = plistlib.loads(template)
    _, *arguments = agent["ProgramArguments"]
    log = place.log_path(job)
    return _dumped(
        {
            **agent,
            "ProgramArguments": [place.program, *arguments],
            "StartInterval": job.cadence.interval_seconds,
            "EnvironmentVariables": dict(place.environment),
            "StandardOutPath": log,
            "StandardErrorPath": log,
        }
    )


def _dumped(agent: dict[str, Any]) -> bytes:
    return plistlib.dumps(agent, sort_keys=False).rstrip(b"\n") + b"\n"
