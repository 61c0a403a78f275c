"""Reading the health of a store from its files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.inbox.failed_entries import failed_entries
from agent_memory.adapters.inbox.hook_log import FILE_NAME, PREVIOUS_NAME, hook_log_directories
from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.surroundings.root import home_of
from agent_memory.domain.entry import Listing
from agent_memory.domain.health import FailedEntry, Health, HookProblem, LastRun
from agent_memory.domain.instants import ms_of
from agent_memory.domain.queue import Trouble
from agent_memory.domain.spend import Spend, day_of, spend_on
from agent_memory.errors import Error
from agent_memory.ports import Clock, SpendLedger, Store

MAX_REPORT_BYTES = 16 << 20


@frozen
class HealthFiles:
    """`read()` looks; it changes nothing and calls nothing."""

    root: Path
    environ: Mapping[str, str]
    inbox: InboxFiles
    store: Store
    spend: SpendLedger
    clock: Clock
    agent: str
    max_calls_per_day: int

    def read(self, warnings: tuple[str, ...] = ()) -> Result[Health, Error]:
        """The health of the store; a file of ours that cannot be read is an error, not "all is well" (P6)."""
        return self.store.list().bind(
            lambda live: self.store.list(archived=True).bind(
                lambda archive: self.inbox.names().bind(
                    lambda names: (
                        QueueTroubles(str(self.root))
                        .read()
                        .bind(
                            lambda troubles: self.spend.days().bind(
                                lambda days: failed_entries(str(self.root)).map(
                                    lambda failed: self._health(live, archive, names, failed, troubles, days, warnings)
                                )
                            )
                        )
                    )
                )
            )
        )

    def _health(
        self,
        live: Listing,
        archive: Listing,
        names: tuple[str, ...],
        failed: tuple[FailedEntry, ...],
        troubles: Mapping[str, Trouble],
        days: Spend,
        warnings: tuple[str, ...],
    ) -> Health:
        last = self._last_run()
        since = last.ended_at_ms if last is not None and last.ended_at_ms is not None else 0
        return Health(
            root=str(self.root),
            entries=len(live.entries),
            archived=len(archive.entries),
            unreadable=tuple(each.path for each in live.unreadable),
            pending=len(names),
            oldest_pending_at_ms=stamp_of(names[0]) if names else None,
            failed=failed,
            troubles=tuple(sorted(troubles.items())),
            last_run=last,
            hook_problems=tuple(
                each for each in hook_problems(self.root, self.environ) if (ms_of(each.at) or since) >= since
            ),
            spent_today=spend_on(days, day_of(self.clock.now_ms())),
            max_calls_per_day=self.max_calls_per_day,
            agent=self.agent,
            unrecorded=unrecorded_writes(self.root),
            warnings=warnings,
        )

    def _last_run(self) -> LastRun | None:
        for path in sorted(self.root.glob("runs/*/report.json"), reverse=True):
            report = _json_of(path)
            if isinstance(report, dict):
                return _last_run_of(path.parent.name, report)
        return None


def hook_problems(root: Path, environ: Mapping[str, str]) -> list[HookProblem]:
    """Every capture that is known not to have arrived, oldest first; what is damaged in the log is passed over."""
    problems = []
    for directory in hook_log_directories(home_of(environ), str(root)):
        for name in (PREVIOUS_NAME, FILE_NAME):
            problems += [
                _hook_problem(each)
                for each in _json_lines(Path(directory) / name)
                if _concerns(each.get("root"), str(root))
            ]
    return sorted(problems, key=lambda problem: problem.at)


def unrecorded_writes(root: Path) -> int:
    """Writes that git has not recorded yet."""
    return _length_of_list(root / "runs" / "owed.json")


def stamp_of(name: str) -> int | None:
    """The time, in epoch ms, that the name of an inbox entry begins with."""
    day, _, clock = name[:24].partition("T")
    return ms_of(f"{day}T{clock.replace('-', ':')}")


def _concerns(named: object, root: str) -> bool:
    """Whether a problem that a hook had with the root it was given is one of this root, whose path is the real one."""
    return named is None or (isinstance(named, str) and os.path.realpath(named) == os.path.realpath(root))


def _last_run_of(run_id: str, report: dict[str, Any]) -> LastRun:
    error = report.get("error")
    sessions = report.get("sessions")
    return LastRun(
        run_id=run_id,
        ended_at_ms=ms_of(str(report.get("endedAt", ""))),
        result=str(report.get("result", "completed")),
        message=str(error.get("message", "")) if isinstance(error, dict) else "",
        sessions=len(sessions) if isinstance(sessions, list) else 0,
    )


def _hook_problem(line: dict[str, Any]) -> HookProblem:
    return HookProblem(str(line.get("at", "")), str(line.get("harness", "")), str(line.get("message", "")))


def _json_of(path: Path) -> object:
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            return None
        document: object = json.loads(path.read_text("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return None  # a report is for information: a damaged one must not hide the rest of the status
    return document


def _json_lines(path: Path) -> list[dict[str, Any]]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    documents = []
    for line in lines:
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            documents.append(document)
    return documents


def _length_of_list(path: Path) -> int:
    document = _json_of(path)
    return len(document) if isinstance(document, list) else 0
