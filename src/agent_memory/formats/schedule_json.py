"""The receipt of `install-cron` and the records of scheduled runs, each one JSON object of version 1."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.scheduling.job import Scheduler
from agent_memory.domain.scheduling.scheduled_run import InstalledJob, InstalledSchedule, JobRecord, ScheduledRun
from agent_memory.errors import StateCorrupt
from agent_memory.formats.strict_document import parse_strict_json
from agent_memory.results import sealed

VERSION = 1
_T = TypeVar("_T")


def render_installed(installed: InstalledSchedule) -> bytes:
    """JSON with a line end."""
    return _rendered(
        {
            "scheduler": installed.scheduler.value,
            "program": installed.program,
            "root": installed.root,
            "environment": dict(installed.environment),
            "installedAt": installed.installed_at_ms,
            "jobs": [{"name": each.name, "intervalSeconds": each.interval_seconds} for each in installed.jobs],
            "files": dict(installed.files),
        }
    )


def parse_installed(data: bytes, path: str) -> Result[InstalledSchedule, StateCorrupt]:
    """What `render_installed` wrote; anything else is StateCorrupt."""
    return _parsed(data, path, _installed)


def render_record(record: JobRecord) -> bytes:
    """JSON with a line end."""
    return _rendered(
        {
            "failures": record.failures,
            "runs": [
                {
                    "startedAt": each.started_at_ms,
                    "endedAt": each.ended_at_ms,
                    "exitCode": each.exit_code,
                    "message": each.message,
                }
                for each in record.runs
            ],
        }
    )


def parse_record(data: bytes, path: str) -> Result[JobRecord, StateCorrupt]:
    """What `render_record` wrote; anything else is StateCorrupt."""
    return _parsed(data, path, _record)


def _rendered(document: Mapping[str, Any]) -> bytes:
    return (json.dumps({"version": VERSION, **document}, ensure_ascii=False, indent=1) + "\n").encode()


def _parsed(data: bytes, path: str, build: Callable[[Mapping[str, Any]], _T]) -> Result[_T, StateCorrupt]:
    match sealed(parse_strict_json(data)):
        case Failure(problem):
            return Failure(StateCorrupt(path, (problem,)))
        case Success(document):
            try:
                if not is_object(document) or document["version"] != VERSION:
                    return Failure(StateCorrupt(path, (f"it is no object of version {VERSION}",)))
                return Success(build(document))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                return Failure(
                    StateCorrupt(path, (f"it is not what was written there ({type(error).__name__}: {error})",))
                )


def _installed(document: Mapping[str, Any]) -> InstalledSchedule:
    return InstalledSchedule(
        scheduler=Scheduler(document["scheduler"]),
        program=str(document["program"]),
        root=str(document["root"]),
        environment=_pairs(document["environment"]),
        installed_at_ms=_whole(document["installedAt"]),
        jobs=tuple(InstalledJob(str(each["name"]), _whole(each["intervalSeconds"])) for each in document["jobs"]),
        files=_pairs(document["files"]),
    )


def _record(document: Mapping[str, Any]) -> JobRecord:
    runs = tuple(
        ScheduledRun(
            _whole(each["startedAt"]), _or_none(each["endedAt"]), _or_none(each["exitCode"]), str(each["message"])
        )
        for each in document["runs"]
    )
    return JobRecord(runs, _whole(document["failures"]))


def _pairs(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in document.items())


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _or_none(value: object) -> int | None:
    return None if value is None else _whole(value)
