"""`plists/jobs.json`: the jobs, and what each scheduler is told of every one of them. The Nix modules read the same file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from agent_memory.domain.scheduling.cadence import Cadence
from agent_memory.domain.scheduling.job import Job


@frozen
class ScheduleSource:
    """The file as it is: our own, so that a damaged one is a broken installation and raises."""

    jobs: Mapping[str, Mapping[str, str]]
    launchd: Mapping[str, Any]
    systemd: Mapping[str, Mapping[str, Any]]

    def interval_key(self, name: str) -> str:
        """The key of `schedule` in the config that says how often this job runs."""
        return self.jobs[name]["interval"]

    def job(self, name: str, cadence: Cadence) -> Job:
        """One of `jobs`."""
        return Job(name, self.jobs[name]["description"], cadence)


def parse_schedule_source(text: str) -> ScheduleSource:
    """What the file says."""
    document = json.loads(text)
    return ScheduleSource(document["jobs"], document["launchd"], document["systemd"])
