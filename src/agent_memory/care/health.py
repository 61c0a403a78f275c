"""What `memory status` reports: what waits, what went wrong, what was spent; and `memory stats`: a store and its use in numbers, over
some days."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

from attrs import frozen
from returns.result import Result

from agent_memory.capture.hook_files import LOG_NAME, PREVIOUS_LOG_NAME, hook_log_directories
from agent_memory.capture.inbox_files import Inbox, QueueTroubles, captures, failed_entries
from agent_memory.capture.switches import KINDS, Switches
from agent_memory.config import Config
from agent_memory.errors import Error, StateCorrupt, StoreIo
from agent_memory.files.paths import as_store_io
from agent_memory.files.root import home_of
from agent_memory.git.git_history import pending_commits
from agent_memory.note.note import Meta, Origin, Status, Tier
from agent_memory.ports import Agent
from agent_memory.recall.delivery_log import Delivery, DeliveryLog
from agent_memory.recall.reading import Reading
from agent_memory.results import unwrap, warning_of
from agent_memory.rules.change import LoggedRun
from agent_memory.rules.plan import DaySpend, Spend
from agent_memory.session.queue import FailedEntry, Trouble
from agent_memory.setup.schedule import JobHealth, job_healths
from agent_memory.store.bookkeeping import SpendLedgerFiles
from agent_memory.store.run_files import RunLog
from agent_memory.store.run_json import RESULTS
from agent_memory.store.usage_ledger import DayReads
from agent_memory.text.instants import DAY_MS, day_of, ms_in_name, ms_of
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import counted

_SEVERAL = 3
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
            elif len(refused) == len(last.sessions) >= _SEVERAL:  # not the fault of one session any more
                found.append(f"the {what} failed for all of its {len(refused)} sessions; the last: {refused[-1]}")
        for kind, injects in (("capture", False), ("injection", True)):
            if missed := [each for each in self.hook_problems if (each.act == "inject") is injects]:
                newest = missed[-1]
                found.append(
                    f"{counted(len(missed), kind)} {'went wrong' if injects else 'did not arrive'}; the last, "
                    f"{'to' if injects else 'from'} {newest.harness or 'a hook'} at {newest.at}: {newest.message}"
                )
        if self.unrecorded:
            found.append(f"git has not recorded {counted(self.unrecorded, 'write')} yet; the next run does")
        return (*found, *self.job_problems, *self.warnings)


# -- the health of a store ---------------------------------------------------------------------------------------------

RECENT_RUNS = 300
"""How many runs are searched for the newest of each machine."""


def read_health(
    config: Config,
    agent: Result[Agent, Error],
    reading: Reading,
    inbox: Inbox,
    log: RunLog,
    spend: SpendLedgerFiles,
    cwd: str,
    team: int,
) -> Health:
    """Returns the health of the store and its surroundings; it changes nothing and calls nothing. A file of ours that
    cannot be read is an error, not "all is well" (P6)."""
    root, environ, now_ms = inbox.root, inbox.environ, reading.clock.now_ms()
    live, archive = unwrap(reading.store.listings())
    names = unwrap(inbox.names())
    recent = log.runs(RECENT_RUNS)
    logged = recent.value_or(())
    # The newest run of each machine, newest first; a damaged report does not hide others.
    last = {run.machine: run for run in reversed(logged) if run.result in RESULTS}
    runs = tuple(sorted(last.values(), key=lambda each: each.run_id, reverse=True))
    # What became of a run with a damaged report is unknown, so the last readable one may not be the last (P6).
    newest = [each for each in logged[:1] if each.problems]
    damaged = (str(StateCorrupt(f"{root}/runs/{each.run_id}/report.json", each.problems)) for each in newest)
    since = next((each.ended_at_ms for each in runs if each.machine == "consolidate"), None) or 0
    missed, unread_logs = hook_log_of(root, environ)
    owed = pending_commits(root)
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
        pending=len(names),
        oldest_pending_at_ms=ms_in_name(names[0]) if names else None,
        failed=unwrap(failed_entries(str(root))),
        troubles=tuple(sorted(unwrap(QueueTroubles(str(root)).read()).items())),
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
        team=team,
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


# -- what `memory stats` tells ------------------------------------------------------------------------------------------
# Only counts are kept, no facts.


LARGEST_DAYS = 3_650
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_WENT_WELL = ("completed", "unfinished")

Counts = tuple[tuple[str, int], ...]
"""How often each of some names occurs; most frequent first, unless said otherwise."""

Days = tuple[int, ...]
"""An amount for each day of the period, oldest first."""


def period_of(last_day: int, days: int) -> range:
    """The consecutive UTC days up to `last_day`. A day is a number since 1970, never negative."""
    return range(max(last_day - days + 1, 0), last_day + 1)


def by_day(period: range, amounts: Iterable[tuple[int, int]]) -> Days:
    """Returns the amount for each day of a period, given amounts with their days; other days are left out."""
    found = [0] * len(period)
    for day, amount in amounts:
        if day in period:
            found[day - period.start] += amount
    return tuple(found)


@frozen
class Statistics:
    names: tuple[str, ...]
    """Each day of the period as `2026-02-13`, oldest first."""
    live: int
    archived: int
    unreadable: int
    reads_ever: int
    """All reads that are counted (`list`, `search` and injection are not), including those before the period."""
    counts: Mapping[str, Counts]
    """Live notes by kind, scope, agent, origin, status and tier, the last three in the order of their vocabularies; reads,
    captures and deliveries in the period by harness, and sessions by the outcome of their consolidation."""
    machines: Mapping[str, Counts]
    """How the runs of each machine ended in the period: `completed`, `paused`, `failed`, …"""
    captured: Mapping[str, Days]
    """Captures of each harness on each day."""
    days: Mapping[str, Days]
    """`notes` are those made on each day, `known` those made until its end, whether live or archived today."""


def statistics_of(
    period: range,
    *,
    notes: Sequence[tuple[Meta, Status, Tier]],
    archived: Sequence[Meta],
    unreadable: int,
    reads: Iterable[DayReads],
    reads_ever: int,
    spend: Spend,
    captures: Iterable[tuple[str, int]],
    deliveries: Iterable[Delivery],
    runs: Iterable[LoggedRun],
) -> Statistics:
    """Returns the statistics of a period; anything outside its days is left out.

    `notes` are the live ones, with status and tier as they are shown (a hot note counts as promoted); `archived` are
    all others; `captures` are harness and instant of each inbox entry, whatever became of it.
    """
    metas = [meta for meta, _, _ in notes]
    born = [each.created_at_ms // DAY_MS for each in (*metas, *archived)]
    created = by_day(period, ((day, 1) for day in born))
    reads = [each for each in reads if each.day in period]
    readers = Counter[str]()
    for each in reads:
        readers[each.reader] += each.count
    spent = [(_day_named(day), each) for day, each in spend.items()]
    captures = [each for each in captures if each[1] // DAY_MS in period]
    deliveries = [each for each in deliveries if each.ids and each.at_ms // DAY_MS in period]
    runs = [each for each in runs if each.started_at_ms // DAY_MS in period]
    machines = sorted({each.machine for each in runs})
    counts = {
        "kind": _counted(each.kind.value for each in metas),
        "scope": _counted(each.scope for each in metas),
        "agent": _counted(name for each in metas for name in {source.agent for source in each.sources} if name),
        "origin": _in_order(Origin, (each.origin for each in metas)),
        "status": _in_order(Status, (status for _, status, _ in notes)),
        "tier": _in_order(Tier, (tier for _, _, tier in notes)),
        "reads": _sorted(readers),
        "captures": _counted(harness for harness, _ in captures),
        "deliveries": _counted(each.harness for each in deliveries),
        "sessions": _counted(session.verdict for run in runs for session in run.sessions),
    }
    failed = (each for each in runs if each.result not in _WENT_WELL)
    days = {
        "notes": created,
        "known": tuple(accumulate(created, initial=sum(day < period.start for day in born)))[1:],
        "reads": by_day(period, ((each.day, each.count) for each in reads)),
        "captures": by_day(period, ((at_ms // DAY_MS, 1) for _, at_ms in captures)),
        "deliveries": by_day(period, ((each.at_ms // DAY_MS, 1) for each in deliveries)),
        "tokens": by_day(period, ((each.at_ms // DAY_MS, each.tokens) for each in deliveries)),
        "calls": by_day(period, ((day, each.calls) for day, each in spent)),
        "prompt characters": by_day(period, ((day, each.prompt_chars) for day, each in spent)),
        "reply characters": by_day(period, ((day, each.reply_chars) for day, each in spent)),
        "runs": by_day(period, ((each.started_at_ms // DAY_MS, 1) for each in runs)),
        "failed runs": by_day(period, ((each.started_at_ms // DAY_MS, 1) for each in failed)),
    }
    names = tuple(day_of(day * DAY_MS) for day in period)
    ended: dict[str, Counts] = {name: _counted(run.result for run in runs if run.machine == name) for name in machines}
    captured = {
        name: by_day(period, ((at_ms // DAY_MS, 1) for harness, at_ms in captures if harness == name))
        for name, _ in counts["captures"]
    }
    return Statistics(names, len(metas), len(archived), unreadable, reads_ever, counts, ended, captured, days)


def _counted(names: Iterable[str]) -> Counts:
    return _sorted(Counter(names))


def _sorted(counts: Counter[str]) -> Counts:
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _in_order(words: type[StrEnum], found: Iterable[StrEnum]) -> Counts:
    counts = Counter(found)
    return tuple((word.value, counts[word]) for word in words)


def _day_named(name: str) -> int:
    """Returns the days since 1970 of `2026-02-13`; anything else is on no day of a period."""
    try:
        return date.fromisoformat(name).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        return -1
