"""`memory doctor`, `memory status` and `memory stats`: the state of the store and its use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agent_memory.care.checks import DoctorReport, Severity
from agent_memory.care.statistics import LARGEST_DAYS, Statistics
from agent_memory.cli.console import BOLD, RED, Arguments, Console, Options, broken_lines, styled, terminal_columns
from agent_memory.cli.dialogue import first_of, open_here, short_age, time_until
from agent_memory.documents import fields_of, health_document, statistics_document, use_document
from agent_memory.results import unwrap
from agent_memory.setup.schedule import JobHealth, in_words
from agent_memory.text.plain_text import counted, first_few, one_line, shown_on_a_line

if TYPE_CHECKING:
    from agent_memory.care.files import SecretSearch
    from agent_memory.care.health import Health
    from agent_memory.care.use import Use

MOST_SHOWN = 10
"""How many findings of one kind, postponed sessions, and failed entries a person is shown."""

# -- doctor -----------------------------------------------------------------------------------------------------------


def configure_doctor(options: Options) -> None:
    acts = options.one_of()
    acts.flag("--fix", "repair what is safe to repair, and say what was done")
    acts.flag("--secrets", "only look for secrets, also in the git history")
    epilog = (
        "Checks every note, link, tier and target, the inbox, the runs, git and the files. Changes nothing without "
        "--fix, and --fix never deletes knowledge. Exit code 1 if there are problems (with --fix: if some remain); "
        "remarks do not count. --secrets reads every file of the store and every version in git, and shows where a "
        "secret is and of which kind, but not the secret; exit code 1 if there is one."
    )
    options.runs(_doctor, epilog, "memory doctor --fix")


def _doctor(arguments: Arguments, console: Console) -> int:
    memory = open_here(console)
    if arguments.secrets:
        from agent_memory.care.files import search_secrets

        search = search_secrets(memory.real_root, memory.git_process, console.progress)
        console.answer(fields_of(search), *_secret_lines(search))
        console.warn(*(f"not looked at: {reason}" for reason in search.unread))
        return 1 if search.secrets or search.unread else 0
    fixed: dict[str, Any] = {}
    if arguments.fix:
        repair, report = unwrap(memory.repair())
        console.out(*(f"fixed: {shown_on_a_line(each)}" for each in _first(repair.did)))
        console.warn(*_first(repair.failed))
        fixed = {"fixed": repair.did, "notFixed": repair.failed}
    else:
        report = memory.doctor().examine()
    console.answer(fields_of(report) | fixed, *_findings(report, console))
    return 1 if report.problems else 0


def _findings(report: DoctorReport, console: Console) -> Iterator[str]:
    """Yields one line for each finding, the first ones of each kind; on a terminal below the name of their area."""
    for area, found in groupby(report.findings, key=lambda each: each.area):
        if console.is_terminal:
            yield console.styled(BOLD, area)
        for _, same in groupby(found, key=lambda each: each.code):
            lines: list[str] = []
            for each in same:
                severity = console.styled(RED if each.severity is Severity.PROBLEM else "", each.severity)
                fix = f" [--fix {each.fix}]" if each.fix else ""
                about = "" if each.message.startswith(each.subject) else f"{each.subject}: "
                lines.append(f"{severity}: {about}{each.message}{fix}")
            yield from _first(lines)
    store = f"{counted(report.entries, 'note')}, {report.archived} archived"
    fixable = sum(each.fix is not None for each in report.findings)
    hint = f"; `memory doctor --fix` repairs {fixable}" if fixable else ""
    if report.findings:
        remarks = len(report.findings) - report.problems
        yield f"{counted(report.problems, 'problem')} and {counted(remarks, 'remark')} in {store}{hint}"
    else:
        yield f"Nothing is wrong: {store}"


def _first(texts: list[str]) -> list[str]:
    return first_of(texts, MOST_SHOWN, "`memory doctor --json` has all")


# -- secrets: where and of what kind, never what ----------------------------------------------------------------------

_ID = re.compile(r"id__[1-9A-HJ-NP-Za-km-z]{6}")


def _secret_lines(search: SecretSearch) -> Iterator[str]:
    for find in search.secrets:
        kinds = ", ".join(each.name if each.count == 1 else f"{each.name} ({each.count})" for each in find.kinds)
        if not find.in_history:
            place = find.path or ""
        elif find.commit is None:
            place = "git, an object that is in no commit any more"
        else:
            commit = f"commit {find.commit[:10]}"
            place = f"git, {commit}, {find.path}" if find.path else f"git, message of {commit}"
        yield f"{place}: {kinds}"
    looked_at = f"{counted(search.files, 'file')} and {counted(search.objects, 'object')} of git"
    if not search.secrets:
        yield f"No secret found in {looked_at}"
        return
    known = list(dict.fromkeys(id for find in search.secrets for id in _ID.findall(find.path or "")))
    commands = first_few([f"`memory forget {id} --purge`" for id in known], 3)
    yield (
        f"Secrets in {counted(len(search.secrets), 'place')} of {looked_at}. Revoke them where they were issued, "
        f"then remove them, from the git history too, with {commands or '`memory forget ID|--session S --purge`'}"
    )


# -- status -----------------------------------------------------------------------------------------------------------


def configure_status(options: Options) -> None:
    epilog = (
        "The first line says whether all is well. Exit code 1 if something needs attention, so you can use it in a "
        "prompt or a monitor."
    )
    options.runs(_status, epilog, "memory status --json")


def _status(arguments: Arguments, console: Console) -> int:
    health = unwrap(open_here(console, for_status=True).health())
    width = terminal_columns() if console.is_terminal else None
    console.answer(health_document(health), *health_lines(health, width, colour=console.colour))
    return 1 if health.problems else 0


_COLOURS = {"ok": "\x1b[1;32m", "problem": "\x1b[1;31m"}
_NAME_CELLS = 10


def health_lines(health: Health, width_cells: int | None, *, colour: bool) -> Iterator[str]:
    """Yields first what is well and what is not, then the rest, each after a label; broken to the width, if there is
    one."""
    for name, text in _facts(health):
        line = one_line(text, 4096)
        broken = [line]
        if width_cells is not None:
            broken = broken_lines(line, max(width_cells - _NAME_CELLS, 10)) or [""]
        yield styled(_COLOURS.get(name, ""), f"{name:{_NAME_CELLS}}", colour=colour) + broken[0]
        yield from (f"{' ' * _NAME_CELLS}{rest}" for rest in broken[1:])


def _facts(health: Health) -> Iterator[tuple[str, str]]:
    now_ms = health.now_ms
    for problem in health.problems:
        yield "problem", problem
    if not health.problems:
        waiting = len(health.troubles)
        again = f"; will retry {counted(waiting, 'session')}" if waiting else ""
        decide = f"; at least {counted(health.to_review, 'decision')} for you: `memory review`"
        yield "ok", f"nothing needs attention{again}{decide if health.to_review else ''}"
    for text in health.switches:
        yield "off", text
    theirs = f"; {counted(health.team, 'note')} more from your team here" if health.team else ""
    yield "store", f"{counted(health.entries, 'note')}, {health.archived:,} archived, in {health.root}{theirs}"
    oldest = health.oldest_pending_at_ms
    since = f", the oldest from {short_age(oldest, now_ms)}" if oldest is not None else ""
    yield "inbox", f"{health.pending:,} waiting{since}, {len(health.failed):,} failed"
    if health.withheld:
        yield "review", f"{counted(health.withheld, 'note')} withheld until you approve: `memory review`"
    if health.last_captures:  # when each harness was last captured: a hook that stopped working shows here first
        yield "captured", ", ".join(f"{harness} {short_age(at_ms, now_ms)}" for harness, at_ms in health.last_captures)
    if delivered := health.deliveries:  # in the last week, and to whom last
        newest = max(delivered, key=lambda each: each.last_at_ms)
        week = counted(sum(each.this_week for each in delivered), "time")
        yield "delivered", f"{week} this week, last to {newest.harness} {short_age(newest.last_at_ms, now_ms)}"
    yield "last run", _last_run(health)
    if health.jobs:
        yield "schedule", "; ".join(f"{each.name} {_ran(each, now_ms)}" for each in health.jobs)
    spent = health.spent_today
    calls = f"{spent.calls} of {health.max_calls_per_day} calls today"
    yield "agent", f"{health.agent}, {calls}, {spent.prompt_chars:,} characters sent"
    postponed = [(" ".join(key.split()[:2]), trouble.message) for key, trouble in health.troubles]
    for label, told in (("retry", postponed), ("failed", [(each.name, each.reason) for each in health.failed])):
        alike: dict[str, list[tuple[str, str]]] = {}
        for name, why in told:  # many wait or fail alike, but for the id of the session
            alike.setdefault(why.replace(name.split()[-1], ""), []).append((name, why))
        texts = [
            f"{some[0][0]}{f' and {len(some) - 1} more' * (len(some) > 1)}: {some[0][1]}" for some in alike.values()
        ]
        for text in first_of(texts, MOST_SHOWN, "`memory status --json` has all"):
            yield label, text


def _last_run(health: Health) -> str:
    if not health.last_runs:
        return "none yet"
    last = health.last_runs[0]
    at = short_age(last.ended_at_ms, health.now_ms) if last.ended_at_ms is not None else "at an unknown time"
    done, waiting, _ = last.summary.partition(" waiting (")  # the reasons are said above and below
    what = one_line(f"{done}{waiting[:-2]}", 300) or counted(len(last.sessions), "session")
    return f"{last.machine} {last.result} {at}{f': {what}' * (what != last.result)} (runs/{last.run_id})"


def job_in_words(job: JobHealth, now_ms: int) -> str:
    """Returns how often a job should run, when it ran last, the outcome, and when it is due."""
    by = "" if job.scheduler is None else f" by {job.scheduler}"
    told = f"{job.name} every {in_words(job.interval_seconds)}{by}: {_ran(job, now_ms)}"
    # Who started it where nothing is scheduled here is not known: it may have been a person.
    return told if job.scheduler is None else f"{told}; next {time_until(job.next_at_ms, now_ms)}"


def _ran(job: JobHealth, now_ms: int) -> str:
    last = job.record.last
    if last is None:
        return "has not run yet"
    if last.ended_at_ms is None:
        return f"started {short_age(last.started_at_ms, now_ms)} and has not ended"
    outcome = "failed" if last.failed else "found another run at work" if last.exit_code else "succeeded"
    failures = f", {counted(job.record.failures, 'failure')} since the last success" if job.record.failures else ""
    return f"last {short_age(last.started_at_ms, now_ms)}, {outcome}{failures}"


# -- stats ------------------------------------------------------------------------------------------------------------

DEFAULT_DAYS = 90
_MOST_NAMES = 8
_LABEL_CHARS = 200


def configure_stats(options: Options) -> None:
    meaning = f"count the last N days, including today (default {DEFAULT_DAYS})"
    options.number("--days", meaning, least=1, most=LARGEST_DAYS, default=DEFAULT_DAYS)
    options.flag("--use", "show what came of each note that sessions were told, judged by their transcripts")
    epilog = (
        "Days are in UTC. Deliveries and runs are those of this machine. Spending is kept for 90 days, deliveries as "
        "long as there is room. In a pipe, tabs separate what is counted, the number, and of what; --json has every name "
        "and day. --use counts a use only where the agent, after it was told, was the first in the session to write a path, "
        "command or identifier of the note: that shows no cause, and misses notes that name none."
    )
    options.runs(_stats, epilog, "memory stats --use --days 30")


def _stats(arguments: Arguments, console: Console) -> None:
    if arguments.use:
        use = unwrap(open_here(console).use(arguments.days))
        console.answer(use_document(use), *_use_lines(use, console))
        return
    found = unwrap(open_here(console).statistics(arguments.days))
    console.answer(statistics_document(found), *console.rows(("what", "number", "of"), list(rows_of_statistics(found))))


def _use_lines(use: Use, console: Console) -> Iterator[str]:
    """Yields the numbers in words, then a line for each note."""
    yield from use.sentences
    rows = [
        (
            each.outcome,
            *map(str, (each.told, len(each.sessions), each.used_in, each.unknown_in, each.tokens)),
            each.id,
            one_line(each.title, _LABEL_CHARS),
        )
        for each in use.notes
    ]
    headings = ("what came of it", "told", "sessions", "used in", "unknown in", "tokens", "note", "title")
    yield from console.rows(headings, rows, give_way=("told", "tokens", "unknown in", "note"))


def rows_of_statistics(found: Statistics) -> Iterator[tuple[str, str, str]]:
    """Yields what is counted, the number, and of what: the most frequent names of each thing, and the sums of the days."""
    period = f"{found.names[0]} to {found.names[-1]}"
    for what, counts in (
        ("notes", (("live", found.live), ("archived", found.archived), ("unreadable", found.unreadable))),
        *found.counts.items(),
        *((f"{machine} runs", results) for machine, results in found.machines.items()),
        ("all reads", (("ever", found.reads_ever),)),
        *((what, ((period, sum(amounts)),)) for what, amounts in found.days.items() if what != "known"),
    ):
        shown = counts if len(counts) <= _MOST_NAMES else counts[: _MOST_NAMES - 1]
        rest = counts[len(shown) :]
        others = ((f"{len(rest):,} others", sum(count for _, count in rest)),) if rest else ()
        for name, amount in (*shown, *others):
            if amount or what == "notes":
                yield what, f"{amount:,}", one_line(name, _LABEL_CHARS)
