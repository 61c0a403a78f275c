"""`memory consolidate`, `defrag`, `log`, `diff` and `undo`: runs, what past ones did, and how to undo it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve

from agent_memory.acts.review import MANY_NOTES
from agent_memory.app import Memory
from agent_memory.cli.console import Arguments, Console, Options
from agent_memory.cli.dialogue import first_of, open_here
from agent_memory.documents import changes_document, diff_document, fields_of, rows_of, run_document, undone_document
from agent_memory.errors import UsageInvalid
from agent_memory.pipelines.undo import called, sentence_of
from agent_memory.recall.reading import ListFilter
from agent_memory.results import unwrap
from agent_memory.rules.change import Change, ChangeGroup, entries_written
from agent_memory.rules.plan import ids_of, kind_of
from agent_memory.rules.run import DefragRun, Run
from agent_memory.rules.run_log import LoggedRun, short_id
from agent_memory.session.queue import FileSnapshot
from agent_memory.store.diffs import diff_parts, render_diff
from agent_memory.store.run_json import outcome_document, plan_document
from agent_memory.text.instants import day_of, iso_of, ms_of
from agent_memory.text.plain_text import counted, first_few, one_line

_LINE_CHARS = 2_000
_TITLE_CHARS = 120
_MOST_UNKEPT = 10
_MOST_DROPPED = 5


def print_foreseen(memory: Memory, changes: Sequence[Change | ChangeGroup], console: Console) -> None:
    if parts := diff_parts(unwrap(memory.store.foresee(changes)), {}):
        console.out(render_diff(parts))


# -- consolidate ------------------------------------------------------------------------------------------------------


def configure_consolidate(options: Options) -> None:
    options.number("--limit", "process at most N sessions", least=1)
    options.flag("--dry-run", "print the plan as a diff and write no note")
    options.flag("--upgrade", "also give sessions that the built-in extractor read to your agent command")
    options.flag("--retry-failed", "first retry sessions that were given up")
    epilog = (
        "Each session is read, given to the agent command, checked and committed on its own; a bad session does not "
        "stop the others. A real run reuses the reply of a dry run. --upgrade goes again through sessions that only "
        "the built-in extractor has read: your agent command sees their notes and updates them instead of adding "
        "copies. They come after everything else in the inbox, over as many days as llm.maxCallsPerDay allows. Exit "
        "codes: 0, 40 if the run paused (agent command missing, login, limits), 75 if another run is at work."
    )
    options.runs(_consolidate, epilog, "memory consolidate --dry-run")


def _consolidate(arguments: Arguments, console: Console) -> int:
    memory = open_here(console)
    if arguments.upgrade:
        upgrades = unwrap(memory.upgrades())
        console.warn(*upgrades.warnings)
        more = f"; {upgrades.waiting:,} wait for it already" if upgrades.waiting else ""
        console.out(f"{counted(len(upgrades.entries), 'session')} to look at again{more}.")
        if arguments.dry_run:
            console.answer({"upgrades": len(upgrades.entries), "waiting": upgrades.waiting})
            return 0
    ended = memory.consolidate(
        limit=arguments.limit,
        dry_run=arguments.dry_run,
        retry_failed=arguments.retry_failed,
        upgrade=arguments.upgrade,
    )
    run = unwrap(ended)
    if run.dry_run:
        for each in run.settled:
            print_foreseen(memory, each.plan.changes, console)
    console.warn(*run.warnings)
    console.warn(*(f"inbox/{each.name} was moved to inbox/.failed: {each.reason}" for each in run.quarantined))
    unkept_for: dict[str, list[str]] = {}
    for each in run.settled:
        retrieval, outcome = each.pending.entry.retrieval, each.outcome
        if outcome.dropped:
            dropped = first_few(tuple(dict.fromkeys(outcome.dropped)), _MOST_DROPPED, "; ")
            console.warn(f"not applied from {each.pending.name}: {dropped}")
        if outcome.verdict == "skipped" and isinstance(retrieval, FileSnapshot):
            # A person handed it over, and would look for it.
            console.warn(f"nothing was kept of {retrieval.path}: {outcome.reason}")
        elif outcome.verdict == "skipped":
            entry = each.pending.entry
            session = f"the {entry.harness} session {entry.retrieval.session_id}"
            unkept_for.setdefault(outcome.reason.rstrip("."), []).append(session)
    unkept = [
        f"Nothing was kept of {first_few(sessions, _MOST_UNKEPT, ', nor of ')}: {reason}."
        for reason, sessions in unkept_for.items()
    ]
    changes = [change for each in run.settled for change in each.plan.changes]
    titles = {id: entry.meta.title for id, entry in entries_written(changes).items()}
    kept = dict.fromkeys(id for each in run.settled for id in each.outcome.entry_ids if id in titles)
    notes = () if run.dry_run else (f"  {id}  {one_line(titles[id], _TITLE_CHARS)}" for id in kept)
    receipts = (each.receipt.applied for each in run.settled if each.receipt is not None)
    is_much = any(sum(each.act == "create" for each in applied) > MANY_NOTES for applied in receipts)
    many = ["So many are for you to look at: `memory review --kind many`."] * is_much
    console.answer(_run_document(run), run.sentence, *notes, *many, *first_of(unkept, _MOST_UNKEPT, "--json has all"))
    if run.paused is not None:
        console.fail(run.paused)
    return run.exit_code


def _run_document(run: Run) -> dict[str, Any]:
    sessions = [
        {
            "inbox": list(each.pending.names),
            "harness": each.pending.entry.harness.value,
            "outcome": outcome_document(each.outcome),
            **({"plan": plan_document(each.plan)} if run.dry_run else {}),
        }
        for each in run.settled
    ]
    return {
        "run": run.id,
        **fields_of(run.summary, "processed", "waiting", "gave_up", "written", "updated", "archived"),
        "quarantined": rows_of(run.quarantined, "name", "reason"),
        "paused": None if run.paused is None else str(run.paused),
        **fields_of(run, "dry_run", "warnings"),
        "sessions": sessions,
    }


# -- defrag -----------------------------------------------------------------------------------------------------------


def configure_defrag(options: Options) -> None:
    options.flag("--dry-run", "print the plan as a diff and change nothing")
    options.flag("--force", "lift the limit of notes changed in one run (three, or a quarter)")
    epilog = (
        "The agent command proposes merges, splits, renames, corrections and archiving. A proposal is applied only "
        "if nothing important is lost; pinned notes, and notes changed meanwhile, stay as they are. Earlier versions "
        "go to the archive, and `memory undo` takes everything back. Then defrag chooses the hot notes and writes "
        "the managed sections. If nothing is new, the agent command is not called. Exit codes: 0, 40 if the agent "
        "command is unavailable, 50 if its reply is refused, 70 if a target is refused, 75 if another run is at "
        "work."
    )
    options.runs(_defrag, epilog, "memory defrag --dry-run")


def _defrag(arguments: Arguments, console: Console) -> int:
    memory = open_here(console)
    run = unwrap(memory.defrag(dry_run=arguments.dry_run, force=arguments.force))
    if run.dry_run:
        print_foreseen(memory, run.plan.actions, console)
        console.out(*_retiered(run))
    console.warn(*run.warnings)
    left = (f"left to judge: {each.kind} of {', '.join(each.ids)}: {each.reason}" for each in run.left)
    console.answer(_defrag_document(run), *left, run.sentence())
    return run.exit_code if run.trouble is None else console.fail(run.trouble)


def _retiered(run: DefragRun) -> Iterator[str]:
    titles = {} if run.scan is None else {each.meta.id: each.meta.title for each in run.scan.live.entries}
    changes = (change for each in run.plan.actions for change in each.changes)
    titles |= {id: entry.meta.title for id, entry in entries_written(changes).items()}
    for id in run.retiered:
        yield f"# {run.tiers_before.of(id)} to {run.tiers.of(id)}: {id}  {titles.get(id, '')}".rstrip()


def _defrag_document(run: DefragRun) -> dict[str, Any]:
    actions = [
        {"action": each.kind, "ids": list(each.ids), "newIds": list(each.new_ids), "words": each.words}
        for each in run.plan.actions
    ]
    return {
        "run": run.id,
        **fields_of(run, "dry_run", "asked"),
        "actions": actions,
        "refused": rows_of(run.plan.dropped, "subject", "reasons"),
        "deferred": [{"action": kind_of(each.action), "ids": list(ids_of(each.action))} for each in run.plan.deferred],
        "left": rows_of(run.left, "kind", "ids", "reason"),
        "retiered": len(run.retiered),
        "tiers": fields_of(run.tiers, "hot", "warm"),
        "targets": [] if run.published is None else rows_of(run.published.targets, "path", "outcome"),
        "warnings": list(run.warnings),
    }


# -- log --------------------------------------------------------------------------------------------------------------

DEFAULT_RUNS = 20


def configure_log(options: Options) -> None:
    options.number("-n", f"show at most N runs (default {DEFAULT_RUNS})", least=1)
    options.add(
        "--day", metavar="YYYY-MM-DD", help="show all that the runs of one day (UTC) did, and the notes of that day"
    )
    epilog = (
        "Newest first. Each run has a short name: `memory diff NAME` shows what it changed, `memory undo NAME` takes "
        "it back."
    )
    options.runs(_log, epilog, "memory log --json")


def _log(arguments: Arguments, console: Console) -> None:
    day: str | None = arguments.day
    if day is not None and (len(day) != 10 or ms_of(f"{day}T00:00") is None):
        raise UsageInvalid(f"--day is {day!r}, expected a date such as 2026-02-13")
    memory = open_here(console)
    limit = arguments.n if arguments.n is not None or day is not None else DEFAULT_RUNS
    runs = memory.shown_runs(unwrap(memory.log.runs(limit, day or "")))
    if not runs and not console.json:
        console.warn("No run yet." if day is None else "No run on that day.")
    said: set[str] = set()
    rows = [
        (iso_of(each.started_at_ms)[:16].replace("T", " "), each.machine, short_id(each.run_id), _words(each, said))
        for each in runs
    ]
    if day is None:
        lines = [*console.rows(("UTC", "machine", "run", "what it did"), rows, give_way=("UTC", "machine"))]
    else:
        lines = [line for row, run in zip(rows, runs, strict=True) for line in ("  ".join(row), *_details(run))]
    document: dict[str, Any] = {"runs": list(map(run_document, runs))}
    if day is not None:
        listed = (each.listed.meta for each in unwrap(memory.reading.list(ListFilter())).entries)
        notes = [each for each in listed if day in (day_of(each.created_at_ms), day_of(each.updated_at_ms))]
        document["notes"] = rows_of(notes, "id", "title", "created_at_ms", "updated_at_ms")
        lines += ["Notes made or changed that day, as they are now:"] if notes else []
        lines += (f"    {each.id}  {one_line(each.title, _TITLE_CHARS)}" for each in notes)
    console.answer(document, *lines)


def _details(run: LoggedRun) -> Iterator[str]:
    for each in run.actions:
        ids = " to ".join(" ".join(side) for side in (each.ids, each.new_ids) if side)
        yield "    " + one_line(f"{each.kind} {ids}  {each.words}".rstrip(), _LINE_CHARS)
    for line in (*(f"not done: {each}" for each in run.dropped), *run.warnings):
        yield f"    {one_line(line, _LINE_CHARS)}"


def _words(run: LoggedRun, said: set[str]) -> str:
    """Returns what the run did; `said` are the reasons of the runs above, which are not said again."""
    done, waiting, reason = run.summary.partition(" waiting (")
    summary = f"{done}{waiting}as above)" if reason in said else run.summary
    said.update(filter(None, [reason]))
    undone = None if run.undone_by is None else f"undone by {short_id(run.undone_by)}"
    return one_line("; ".join(filter(None, (evolve(run, summary=summary).told, undone))), _LINE_CHARS)


# -- diff -------------------------------------------------------------------------------------------------------------

_SUMMARY_CHARS = 500


def configure_diff(options: Options) -> None:
    run = "a run from `memory log` (default: the newest that changed something)"
    one = options.one_of()
    one.add("run", metavar="RUN", nargs="?", help=run)
    one.moment(
        "--since", "all that changed since: 30d (m h d w y), a date such as 2026-02-13, or a commit of the store"
    )
    epilog = (
        "Shows notes, tiers and managed sections before and after the run; this does not need git. With --since it "
        "compares the last commit of that time with the newest one: notes and tiers, whoever changed them."
    )
    options.runs(_diff, epilog, "memory diff")


def _diff(arguments: Arguments, console: Console) -> None:
    if arguments.since is None:
        logged, parts = unwrap(open_here(console).run_diff(arguments.run))
        document = diff_document(logged, parts)
        heading = f"# {called(logged)}: {one_line(logged.summary, _SUMMARY_CHARS)}".rstrip(": ")
    else:
        commit, parts = unwrap(open_here(console).diff_since(arguments.since))
        document = changes_document(parts) | {"commit": commit}
        heading = f"# {counted(len(parts), 'change')} since the {f'commit {commit[:7]}' if commit else 'beginning'}"
    console.answer(document, heading, *([render_diff(parts)] if parts else []))


# -- undo -------------------------------------------------------------------------------------------------------------


def configure_undo(options: Options) -> None:
    options.add("run", metavar="RUN", nargs="?", help="a run from `memory log` (default: the newest that still stands)")
    options.flag("--dry-run", "print what would change as a diff and change nothing")
    epilog = (
        "Notes, archive, tiers and managed sections become what they were before the run, byte for byte. Notes that "
        "somebody changed since then stay as they are, and are listed. The inbox and what memory knows about "
        "sessions do not change. To undo an undo, give its name; `memory restore ID` takes back an edit. Only you can "
        "run this, not an agent."
    )
    options.runs(_undo, epilog, "memory undo --dry-run")


def _undo(arguments: Arguments, console: Console) -> None:
    memory = open_here(console)
    undone = unwrap(memory.undo(arguments.run, dry_run=arguments.dry_run))
    lines: list[str] = []
    if undone.dry_run:
        parts = memory.run_diff(undone.undid.run_id, backwards=True).map(lambda found: found[1]).value_or(())
        lines += [render_diff(parts)] if parts else []
    lines.append(one_line(sentence_of(undone), _LINE_CHARS))
    if not undone.dry_run:
        for action in undone.actions:
            ids = " ".join(action.all_ids)
            lines.append(f"  {action.kind:8} {ids}  {one_line(action.words, _TITLE_CHARS)}".rstrip())
        lines += [f"  section  {path}" for path in undone.sections]
    console.warn(*undone.warnings)
    console.answer(undone_document(undone), *lines)
