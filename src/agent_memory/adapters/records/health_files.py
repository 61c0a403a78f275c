"""Reading the health of a store from its files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.disk.paths import as_store_io
from agent_memory.adapters.disk.root import home_of
from agent_memory.adapters.inbox.hook_log import FILE_NAME, PREVIOUS_NAME, hook_log_directories
from agent_memory.adapters.inbox.inbox_files import InboxFiles
from agent_memory.adapters.inbox.inbox_reading import QueueTroubles, failed_entries, last_captures
from agent_memory.adapters.records.bookkeeping_files import SpendLedgerFiles
from agent_memory.adapters.records.run_files import RunLogFiles
from agent_memory.domain.agent_request import day_of, spend_on
from agent_memory.domain.health import Health, HookProblem
from agent_memory.domain.instants import ms_in_name, ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.run_log import LoggedRun
from agent_memory.errors import Error, StateCorrupt, StoreIo
from agent_memory.formats.run_json import RESULTS
from agent_memory.ports import Store
from agent_memory.results import as_result, unwrap, warning_of

MAX_LIST_BYTES = 16 << 20
RECENT_RUNS = 100
"""So far back the newest run of each machine is looked for."""


def read_health(
    root: Path,
    environ: Mapping[str, str],
    inbox: InboxFiles,
    store: Store,
    spend: SpendLedgerFiles,
    now_ms: int,
) -> Health:
    """The health of the store, as far as its own files tell; it changes nothing and calls nothing. A file of ours that cannot be read is an error, not "all
    is well" (P6)."""
    live, archive = unwrap(store.list()), unwrap(store.list(archived=True))
    names = unwrap(inbox.names())
    days = unwrap(spend.days())
    recent = RunLogFiles(root).runs(RECENT_RUNS)
    hooks = hook_log_of(root, environ)
    owed = unrecorded_writes(root)
    runs = _last_runs(recent.value_or(()))
    since = next((each.ended_at_ms for each in runs if each.machine == "consolidate"), None) or 0
    return Health(
        root=str(root),
        entries=len(live.entries),
        archived=len(archive.entries),
        unreadable=tuple(each.path for each in live.unreadable),
        pending=len(names),
        oldest_pending_at_ms=ms_in_name(names[0]) if names else None,
        failed=unwrap(failed_entries(str(root))),
        troubles=tuple(sorted(unwrap(QueueTroubles(str(root)).read()).items())),
        last_runs=runs,
        hook_problems=tuple(each for each in hooks.problems if (ms_of(each.at) or since) >= since),
        spent_today=spend_on(days, day_of(now_ms)),
        unrecorded=owed.value_or(0),
        warnings=(*_run_warnings(root, recent), *map(str, hooks.unread), *warning_of(owed)),
        last_captures=tuple(unwrap(last_captures(str(root))).items()),
        now_ms=now_ms,
    )


@frozen
class HookLog:
    """What the logs of hooks tell of a root; what is damaged in them is passed over."""

    problems: tuple[HookProblem, ...]
    """Every capture and injection that is known not to have arrived, oldest first."""
    unread: tuple[Error, ...]
    """Why some of it cannot be read: nobody can say what is in that (P6)."""


def hook_log_of(root: Path, environ: Mapping[str, str]) -> HookLog:
    """The logs, wherever hooks may have left one."""
    problems: list[HookProblem] = []
    unread: list[Error] = []
    for directory in hook_log_directories(home_of(environ), str(root)):
        for name in (PREVIOUS_NAME, FILE_NAME):
            try:
                lines = _json_lines(Path(directory) / name)
            except StoreIo as error:
                unread.append(error)
            else:
                problems += [_hook_problem(each) for each in lines if _concerns(each.get("root"), str(root))]
    return HookLog(tuple(sorted(problems, key=lambda problem: problem.at)), tuple(unread))


@as_result
def unrecorded_writes(root: Path) -> int:
    """Writes that git has not recorded yet; an error where the list of them cannot be read (P6). A damaged or huge one must
    not hide the rest of the status."""
    path = root / "runs" / "owed.json"
    with as_store_io("read", str(path)):
        try:
            document = None if path.stat().st_size > MAX_LIST_BYTES else json.loads(path.read_text("utf-8", "replace"))
        except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            return 0
    return len(document) if is_list(document) else 0


def _concerns(named: object, root: str) -> bool:
    """Whether a problem that a hook had with the root it was given is one of this root, whose path is the real one."""
    return named is None or (isinstance(named, str) and os.path.realpath(named) == os.path.realpath(root))


def _last_runs(runs: Sequence[LoggedRun]) -> tuple[LoggedRun, ...]:
    """The newest run of each machine, newest first; a damaged report hides no other."""
    last = {run.machine: run for run in reversed(runs) if run.result in RESULTS}
    return tuple(sorted(last.values(), key=lambda each: each.run_id, reverse=True))


def _run_warnings(root: Path, recent: Result[tuple[LoggedRun, ...], Error]) -> tuple[str, ...]:
    """Why the last run may not be the last: nobody can tell what became of a run whose report is damaged (P6)."""
    newest = [each for each in recent.value_or(())[:1] if each.problems]
    damaged = (str(StateCorrupt(f"{root}/runs/{each.run_id}/report.json", each.problems)) for each in newest)
    return (*warning_of(recent), *damaged)


def _hook_problem(line: dict[str, Any]) -> HookProblem:
    at, harness, message = (str(line.get(key, "")) for key in ("at", "harness", "message"))
    return HookProblem(at, harness, str(line.get("act") or "capture"), message)


def _json_lines(path: Path) -> list[dict[str, Any]]:
    with as_store_io("read", str(path)):
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return []
    documents: list[dict[str, Any]] = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            document = json.loads(line)
            documents += [document] if is_object(document) else []
    return documents
