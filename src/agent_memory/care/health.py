"""What `memory status` reports: what waits, what went wrong, what was spent."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from returns.result import Result

from agent_memory.capture.hook_files import LOG_NAME, PREVIOUS_LOG_NAME, hook_log_directories
from agent_memory.capture.inbox_files import Inbox, captures, failed_entries, troubles_of
from agent_memory.capture.switches import KINDS, Switches
from agent_memory.config import Config
from agent_memory.errors import Error, StateCorrupt, StoreIo
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import home_of
from agent_memory.git.git_history import owed_paths
from agent_memory.ports import Agent
from agent_memory.recall.delivery_log import Delivery, DeliveryLog
from agent_memory.recall.reading import Reading
from agent_memory.results import unwrap, warning_of
from agent_memory.rules.plan import DaySpend
from agent_memory.rules.run_log import LoggedRun
from agent_memory.session.queue import FailedEntry, Trouble
from agent_memory.setup.schedule import JobHealth, job_healths
from agent_memory.store.bookkeeping import SpendLedgerFiles
from agent_memory.store.run_files import RunLog
from agent_memory.store.run_json import RESULTS
from agent_memory.text.instants import DAY_MS, day_of, ms_of
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import counted

WEEK_MS = 7 * DAY_MS


@frozen
class HarnessDeliveries:
    """What one harness was given. `manual` is a person who called `memory inject`."""

    harness: str
    this_week: int
    """Deliveries of the last seven days."""
    tokens_this_week: int
    last_at_ms: int


def deliveries_by_harness(deliveries: Iterable[Delivery], now_ms: int) -> tuple[HarnessDeliveries, ...]:
    """Returns each harness that was ever given a note, as far back as the log goes, by name."""
    told = [each for each in deliveries if each.ids]
    found: list[HarnessDeliveries] = []
    for harness in sorted({each.harness for each in told}):
        own = [each for each in told if each.harness == harness]
        recent = [each.tokens for each in own if now_ms - each.at_ms < WEEK_MS]
        found.append(HarnessDeliveries(harness, len(recent), sum(recent), max(each.at_ms for each in own)))
    return tuple(found)


@frozen
class HookProblem:
    """A capture or an injection that failed; hooks themselves stay silent."""

    at: str
    harness: str
    act: str
    """`capture` or `inject`."""
    message: str


@frozen
class Health:
    root: str
    entries: int
    archived: int
    unreadable: tuple[str, ...]
    pending: int
    """Sessions and notes that wait, as a run counts them."""
    oldest_pending_at_ms: int | None
    failed: tuple[FailedEntry, ...]
    troubles: tuple[tuple[str, Trouble], ...]
    """Sessions that were postponed, by key."""
    last_runs: tuple[LoggedRun, ...]
    """The newest run of each machine, newest first: one machine's success does not make up for another's failure."""
    hook_problems: tuple[HookProblem, ...]
    spent_today: DaySpend
    unrecorded: int
    last_captures: tuple[tuple[str, int], ...] = ()
    """Each harness that was ever captured, and when last, in epoch ms."""
    warnings: tuple[str, ...] = ()
    now_ms: int = 0
    max_calls_per_day: int = 0
    agent: str = ""
    deliveries: tuple[HarnessDeliveries, ...] = ()
    switches: tuple[str, ...] = ()
    """What memory stays out of, one sentence each."""
    jobs: tuple[JobHealth, ...] = ()
    to_review: int = 0
    """Decisions that wait, as far as that is known without comparing notes."""
    withheld: int = 0
    """Notes that no session is told before somebody approves them."""
    job_problems: tuple[str, ...] = ()
    team: int = 0
    """Notes that the team adds in this checkout."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns what a person should look at, one sentence each; empty when all is well."""
        found: list[str] = []
        if self.unreadable:
            found.append(f"{counted(len(self.unreadable), 'file')} in topics/ cannot be read: {self.unreadable[0]}")
        if given_up := sum(not each.malformed for each in self.failed):
            found.append(f"{counted(given_up, 'capture')} given up; `memory consolidate --retry-failed` tries again")
        if malformed := sum(each.malformed for each in self.failed):
            found.append(f"{counted(malformed, 'malformed inbox file')} in inbox/.failed/; correct or remove them")
        for last in self.last_runs:
            refused = [each.reason for each in last.sessions if each.verdict == "refused"]
            what = "last run" if last is self.last_runs[0] else f"last {last.machine}"
            if last.result != "completed":
                found.append(f"the {what} {last.result}: {last.error}")
            elif len(refused) == len(last.sessions) >= 3:  # not the fault of one session any more
                found.append(f"the {what} failed for all of its {len(refused)} sessions; the last: {refused[-1]}")
        for kind, injects in (("capture", False), ("injection", True)):
            if missed := [each for each in self.hook_problems if (each.act == "inject") is injects]:
                newest = missed[-1]
                found.append(
                    f"{counted(len(missed), kind)} {'went wrong' if injects else 'did not arrive'}; the last, "
                    f"{'to' if injects else 'from'} {newest.harness or 'a hook'} at {newest.at}: {newest.message}"
                )
        if self.unrecorded:
            found.append(f"git has not recorded {counted(self.unrecorded, 'file')} yet; the next run does")
        return (*found, *self.job_problems, *self.warnings)


# -- the health of a store ---------------------------------------------------------------------------------------------


def read_health(
    config: Config,
    agent: Result[Agent, Error],
    reading: Reading,
    inbox: Inbox,
    log: RunLog,
    spend: SpendLedgerFiles,
    cwd: str,
) -> Health:
    """Returns the health of the store and its surroundings; it changes nothing and calls nothing. A file of ours that
    cannot be read is an error, not "all is well" (P6)."""
    root, environ, now_ms = inbox.root, inbox.environ, reading.clock.now_ms()
    live, archive = unwrap(reading.store.listings())
    pending, oldest_pending_at_ms = unwrap(inbox.waiting())
    recent = log.runs(300)  # searched for the newest of each machine
    logged = recent.value_or(())
    # The newest run of each machine, newest first; a damaged report does not hide others.
    last = {run.machine: run for run in reversed(logged) if run.result in RESULTS}
    runs = tuple(sorted(last.values(), key=lambda each: each.run_id, reverse=True))
    # What became of a run with a damaged report is unknown, so the last readable one may not be the last (P6).
    newest = [each for each in logged[:1] if each.problems]
    damaged = (str(StateCorrupt(f"{root}/runs/{each.run_id}/report.json", each.problems)) for each in newest)
    since = next((each.ended_at_ms for each in runs if each.machine == "consolidate"), None) or 0
    missed, unread_logs = hook_log_of(root, environ)
    owed = owed_paths(root)
    installed, jobs = job_healths(home_of(environ), config.schedule, str(root), now_ms)
    problems = [problem for job in jobs if (problem := job.problem(now_ms)) is not None]
    problems += [
        f"the directory of the target {path} does not exist"
        for path in config.agents_md.targets
        if not os.path.isdir(os.path.dirname(path))
    ]
    if not os.access(next((each for each in (root, *root.parents) if os.path.isdir(each)), root), os.W_OK):
        problems.insert(0, f"{root} cannot be written: no session is captured")
    if installed is not None and not os.access(installed.program, os.X_OK):
        # A job that fails because an executable is gone says so nowhere else.
        problems.insert(0, f"{installed.program}, which the schedule calls, is gone: `memory schedule on` repairs it")
    return Health(
        root=str(root),
        entries=len(live.entries),
        archived=len(archive.entries),
        unreadable=tuple(each.path for each in live.unreadable),
        pending=pending,
        oldest_pending_at_ms=oldest_pending_at_ms,
        failed=unwrap(failed_entries(str(root))),
        troubles=tuple(sorted(troubles_of(str(root)).items())),
        last_runs=runs,
        hook_problems=tuple(each for each in missed if (ms_of(each.at) or since) >= since),
        spent_today=unwrap(spend.days()).get(day_of(now_ms), DaySpend()),
        unrecorded=len(owed.value_or(())),
        warnings=(*warning_of(agent), *warning_of(recent), *damaged, *map(str, unread_logs), *warning_of(owed)),
        last_captures=tuple(dict(unwrap(captures(str(root)))).items()),
        now_ms=now_ms,
        agent=agent.map(lambda each: each.name).value_or("not usable"),
        max_calls_per_day=config.llm.max_calls_per_day,
        switches=Switches(environ).sentences(cwd),
        deliveries=deliveries_by_harness(DeliveryLog(str(root)).deliveries(), now_ms),
        jobs=jobs,
        withheld=sum(each.meta.withheld for each in live.entries),
        job_problems=tuple(problems),
    )


def hook_log_of(root: Path, environ: Mapping[str, str]) -> tuple[tuple[HookProblem, ...], tuple[Error, ...]]:
    """Returns the failures in the hook logs of a root, oldest first: every capture and injection that is known not to
    have arrived, and why some of the log cannot be read, since that part is unknown (P6). Damaged lines are skipped."""
    problems: list[HookProblem] = []
    unread: list[Error] = []
    for directory in hook_log_directories(home_of(environ), str(root)):
        for path in (Path(directory) / PREVIOUS_LOG_NAME, Path(directory) / LOG_NAME):
            lines: list[str] = []
            try:
                with as_store_io("read", str(path)), suppress(FileNotFoundError, NotADirectoryError):
                    lines = path.read_text("utf-8", "replace").splitlines()
            except StoreIo as error:
                unread.append(error)
            for line in lines:
                with suppress(ValueError, RecursionError):
                    told = json.loads(line)
                    if not is_object(told):
                        continue
                    if told.get("code") in KINDS:  # as the person wants it
                        continue
                    named = told.get("root")
                    # A hook records the root that it was given, which may lead there by a link.
                    if named is None or (isinstance(named, str) and os.path.realpath(named) == os.path.realpath(root)):
                        at, harness, message = (str(told.get(key, "")) for key in ("at", "harness", "message"))
                        problems.append(HookProblem(at, harness, str(told.get("act") or "capture"), message))
    return tuple(sorted(problems, key=lambda problem: problem.at)), tuple(unread)
