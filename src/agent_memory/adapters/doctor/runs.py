"""The inbox and the runs: what waits, what was lost or given up, whether the schedule goes on, whether the agent answers."""

from __future__ import annotations

import mmap
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from returns.result import Result

from agent_memory.adapters.agent.chosen_command import choose_command, shown_command, uses_builtin
from agent_memory.adapters.disk.root import home_of
from agent_memory.adapters.doctor.files import Found
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import failed_entries, pending_in
from agent_memory.adapters.records.health_files import hook_log_of
from agent_memory.config import LlmConfig, ScheduleConfig
from agent_memory.domain.agent_request import Spend, day_of
from agent_memory.domain.doctor import catalogue as of
from agent_memory.domain.doctor.catalogue import Finding, Severity, trouble
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import COPY, SessionMark
from agent_memory.domain.inbox_entry import SNAPSHOTS, FileSnapshot
from agent_memory.domain.instants import DAY_MS, HOUR_MS, iso_of, ms_of
from agent_memory.domain.run_log import LoggedRun
from agent_memory.errors import AgentMissing, Error, InboxEntryInvalid
from agent_memory.results import unwrap

INTERVALS_BEFORE_LATE = 3
"""How many intervals of its schedule a run may be late."""
_DAYS_IN_A_ROW = 2


# -- the inbox --------------------------------------------------------------------------------------------------------


def check_failed(root: str) -> Iterator[Finding]:
    """What is in `inbox/.failed/`."""
    for each in unwrap(failed_entries(root)):
        subject, reason = f"inbox/.failed/{each.name}", f": {each.reason.rstrip('.')}" if each.reason else ""
        if each.malformed:
            words = f"It is no inbox entry{reason}; correct it and move it back, or remove it"
            yield of.MALFORMED_ENTRY.found(subject, words)
        else:
            yield of.GIVEN_UP.found(subject, f"Given up{reason}; `memory consolidate --retry-failed` tries again")


def check_pending(root: str, names: Sequence[str], walked: Sequence[Found], now_ms: int) -> Iterator[Finding]:
    """Every pending entry that cannot be understood, and, of the files that were seen, every snapshot that has waited an
    hour for its entry. While an entry cannot be read it may name any of them (P6)."""
    named: set[str] = set()
    is_all_read = True
    for name in names:
        subject = f"{INBOX}/{name}"
        try:
            entry = pending_in(f"{root}/{subject}")
        except InboxEntryInvalid as error:
            words = f"It is no inbox entry: {'; '.join(error.problems)}; the next run moves it aside"
            yield of.MALFORMED_ENTRY.found(subject, words)
        except Error as error:
            is_all_read = False
            yield of.MALFORMED_ENTRY.found(subject, str(error).rstrip("."))
        else:
            if entry is not None and isinstance(entry.retrieval, FileSnapshot):
                named.add(entry.retrieval.path)
    for each in walked if is_all_read else ():
        is_snapshot = each.path.startswith(f"{SNAPSHOTS}/") and not each.name.startswith(".")
        if is_snapshot and each.path not in named and now_ms - each.mtime_ms > HOUR_MS:
            words = "Its capture never ended, so no run looks at it; `memory capture --file` it again, or remove it"
            yield of.ORPHAN_SNAPSHOT.found(each.path, words)


def check_hooks(root: Path, environ: Mapping[str, str], since_ms: int) -> Iterator[Finding]:
    """Captures and injections since then that did not arrive."""
    hooks = hook_log_of(root, environ)
    yield from (trouble(error, of.UNREADABLE_STORE) for error in hooks.unread)
    for each in hooks.problems:
        if (ms_of(each.at) or since_ms) >= since_ms:
            check, what = (
                (of.INJECTION_LOST, "An injection") if each.act == "inject" else (of.CAPTURE_LOST, "A capture")
            )
            words = f"{what} at {each.at} did not arrive: {each.message.rstrip('.')}"
            yield check.found(each.harness or "a hook", words)


def false_copies(
    marks: Iterable[Result[SessionMark, Error]], sessions: Iterable[Result[FoundSession, Error]]
) -> tuple[SessionMark, ...]:
    """The marks of copies whose transcript is there while their last record is in none of a session that is no copy. A session
    that cannot be read is one that may hold it."""
    copies = {mark.session_id: mark for each in marks if (mark := each.value_or(None)) and mark.agent_name == COPY}
    if not copies:
        return ()
    found = [session for each in sessions if (session := each.value_or(None)) is not None]
    doubtful = {session.session_id: copies[session.session_id] for session in found if session.session_id in copies}
    for session in found:
        if session.session_id in copies or session.path is None:
            continue
        try:
            with open(session.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
                held = [id for id, mark in doubtful.items() if text.find(mark.last_record_id.encode()) >= 0]
        except ValueError:  # it is empty
            continue
        except OSError:
            return ()
        for id in held:
            del doubtful[id]
    return tuple(doubtful.values())


# -- runs -------------------------------------------------------------------------------------------------------------


def check_last_run(last: LoggedRun | None) -> Iterator[Finding]:
    """Whether the newest run came to its end."""
    if last is None:
        return
    subject = f"runs/{last.run_id}"
    if last.problems:
        yield of.DAMAGED_STATE.found(f"{subject}/report.json", f"It cannot be understood: {'; '.join(last.problems)}")
    elif last.result != "completed":
        why = (last.error or last.summary).rstrip(".")
        yield of.LAST_RUN.found(subject, f"The last run {last.result}{f': {why}' if why else ''}")


def check_schedule(
    schedule: ScheduleConfig, runs: Sequence[LoggedRun], oldest_pending_at_ms: int | None, now_ms: int
) -> Iterator[Finding]:
    """Work that has waited for three intervals, and no run in that time. A run that finds nothing to do leaves no trace,
    so it is the waiting that tells, not the silence. `runs` are newest first, at least all since the last defrag."""

    def is_late(since_ms: int, interval_hours: float) -> bool:
        return now_ms - since_ms > INTERVALS_BEFORE_LATE * max(interval_hours, 1 / 6) * HOUR_MS

    waiting = oldest_pending_at_ms
    last = next((_end_of(run) for run in runs if run.machine == "consolidate"), None)
    if waiting is not None and is_late(max(waiting, last or 0), schedule.consolidate_interval_hours):
        looked = f"since {iso_of(last)}" if last else "yet"
        yield of.NOT_CONSOLIDATED.found(
            "inbox",
            f"A capture has waited since {iso_of(waiting)}, and no run has looked {looked}; "
            "is the schedule running? `memory consolidate` does it now",
        )
    machines = [run.machine for run in runs]
    defrag = machines.index("defrag") if "defrag" in machines else None
    changing = [run for run in runs[:defrag] if run.changed_ids]
    if changing and is_late(_end_of(changing[-1]), schedule.defrag_interval_hours):
        since = iso_of(_end_of(changing[-1]))[:10]
        before = "no defrag has ever run" if defrag is None else "no defrag has run since"
        yield of.NOT_DEFRAGGED.found(
            "topics",
            f"Notes have come since {since}, and {before}; is the schedule running? `memory defrag` does it now",
            Severity.NOTE if defrag is None else Severity.PROBLEM,
        )


def _end_of(run: LoggedRun) -> int:
    return run.ended_at_ms if run.ended_at_ms is not None else run.started_at_ms


# -- the agent --------------------------------------------------------------------------------------------------------


def check_spend(spend: Spend, max_calls_per_day: int, now_ms: int) -> Iterator[Finding]:
    """Whether the day's cap was reached on several days in a row, up to today or yesterday."""
    calls = {each.day: each.calls for each in spend}
    if max_calls_per_day < 1:
        return
    start = now_ms if calls.get(day_of(now_ms), 0) >= max_calls_per_day else now_ms - DAY_MS
    days = 0
    while calls.get(day_of(start - days * DAY_MS), 0) >= max_calls_per_day:
        days += 1
    if days >= _DAYS_IN_A_ROW:
        words = f"All {max_calls_per_day} calls a day were used on {days} days in a row, so sessions wait; raise it"
        yield of.SPEND_CAP.found("llm.maxCallsPerDay", words)


def check_agent(llm: LlmConfig, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether the agent command can be run."""
    try:
        if not uses_builtin(llm):
            program = unwrap(choose_command(llm, home_of(environ))).argv[:1]
            if shutil.which(program[0], path=environ.get("PATH", os.defpath)) is None:
                raise AgentMissing(shown_command(program))
    except Error as error:
        yield of.AGENT_UNUSABLE.found("llm", str(error).rstrip("."))
