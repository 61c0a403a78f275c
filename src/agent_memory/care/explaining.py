"""What is known of a note, of a session and of the health of the store, gathered from the store, the ledger, the inbox,
the session marks, the runs, git and the logs of hooks. Changes and counts nothing."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from returns.result import Failure, Result

from agent_memory.capture.hook_files import INBOX, LOG_NAME, PREVIOUS_LOG_NAME, hook_log_directories
from agent_memory.capture.inbox_files import (
    FAILED,
    MAX_RETIRED_BYTES,
    PROCESSED,
    InboxFiles,
    QueueTroubles,
    captures,
    failed_entries,
    is_entry_name,
)
from agent_memory.capture.inbox_json import parse_inbox_entry
from agent_memory.care.explained import (
    FoundCapture,
    FoundSessions,
    NoteHistory,
    Place,
    SessionOutcome,
    TierStanding,
    ToldSource,
    events_of,
    keys_of,
    named,
    said_by,
    tier_reasons,
    trace_session,
    unread_notes,
    unread_runs,
)
from agent_memory.care.health import Health, HookProblem, deliveries_by_harness
from agent_memory.config import Config
from agent_memory.errors import EntryNotFound, EntryProtected, Error, StateCorrupt, StoreIo, UsageInvalid
from agent_memory.files.paths import as_store_io, names_below, read_image
from agent_memory.files.root import home_of
from agent_memory.git.git_history import pending_commits
from agent_memory.note.note import Listed, reads_of, without_secret
from agent_memory.note.vocabulary import Tier
from agent_memory.ports import Agent, RunLog
from agent_memory.recall.delivery_log import DeliveryLog
from agent_memory.recall.reading import Reading
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.agent_request import DaySpend
from agent_memory.rules.change import Change, entries_written
from agent_memory.rules.run_log import MOST_RUNS, Revision
from agent_memory.rules.score import score, score_parts
from agent_memory.session.queue import queue_key, session_id_of
from agent_memory.setup.schedule import job_healths
from agent_memory.store.bookkeeping_files import SessionMarksFiles, SpendLedgerFiles
from agent_memory.store.run_json import RESULTS
from agent_memory.text.instants import day_of, ms_in_name, ms_of
from agent_memory.text.json_shape import is_object
from agent_memory.text.plain_text import first_few

# -- a note -----------------------------------------------------------------------------------------------------------

MOST_REVISIONS = 50


@as_result
def note_history(
    id: str,
    reading: Reading,
    log: RunLog,
    revisions_of: Callable[[str, int], Result[tuple[Revision, ...], Error]],
    told_where: Callable[[Listed], tuple[str, ...]],
) -> NoteHistory:
    """Returns the history of the live note with this id or alias, else of the archived one. `revisions_of` has the
    newest commits that touched a path, at most so many.

    EntryProtected where an agent asks for what is secret. A run log or a repository that cannot be read takes its part
    of the history away, and is named, as is each note and run that cannot be."""
    store = reading.store
    try:
        stored = unwrap(store.read(id))
    except EntryNotFound as absent:
        if not absent.archived:
            raise
        stored = unwrap(store.read(id, archived=True))
    meta, listed = stored.meta, stored.listed
    if meta.is_secret and reading.caller.is_agent:
        raise EntryProtected(id, "an explanation", "secret")
    listings = unwrap(store.list()), unwrap(store.list(archived=True))
    live, archive = ({each.meta.id: each for each in listing.entries} for listing in listings)
    everything = (*live.values(), *archive.values())
    totals, tiers, now_ms = unwrap(reading.ledger.totals()), unwrap(store.tiers()), reading.clock.now_ms()
    logged, revisions = log.runs(MOST_RUNS), revisions_of(listed.path, MOST_REVISIONS)
    runs = logged.value_or(())
    events = events_of(frozenset(meta.all_ids), runs)
    # Has a defrag looked at the store since the note was written, and was there one at all?
    tierings = [run.started_at_ms for run in runs if run.machine == "defrag" and run.result == "completed"]
    written = max((each.at_ms for each in events if meta.id in each.new_ids), default=meta.created_at_ms)
    rivals = (live[each].meta for each in tiers.hot if each in live and each != meta.id)
    scores = (
        score(each, reads_of(each, totals), now_ms)
        for each in rivals
        if not each.pinned and meta.shares_a_place_with(each)
    )
    usage, tier = reads_of(meta, totals), tiers.of(meta.id)
    if meta.pinned and meta.best_tier is Tier.HOT:
        tier = Tier.HOT
    reasons: tuple[str, ...] = ("It is archived.",)
    if not listed.archived:
        is_decided = bool(tierings) or isinstance(logged, Failure)
        is_seen = not tierings or max(tierings) >= written
        weakest = min(scores, default=None)
        reasons = tier_reasons(meta, tier, now_ms, is_decided=is_decided, is_seen=is_seen, weakest_hot=weakest)
    return NoteHistory(
        id=meta.id,
        asked=id,
        title=meta.title,
        kind=meta.kind,
        status=meta.status,
        scope=meta.scope,
        path=listed.path,
        archived=listed.archived,
        origin=meta.origin,
        promoted_by=meta.promoted_by,
        said_by=said_by(meta),
        created_at_ms=meta.created_at_ms,
        updated_at_ms=meta.updated_at_ms,
        sources=tuple(map(ToldSource.of, meta.sources)),
        history=events,
        commits=revisions.value_or(()),
        aliases=meta.aliases,
        merged=named(archive[each] for each in meta.aliases if each in archive),
        supersedes=named(each for each in everything if each.meta.id in meta.supersedes),
        superseded_by=named(each for each in everything if meta.id in each.meta.supersedes),
        tier=TierStanding(tier, meta.best_tier, meta.pinned, reasons, score_parts(meta, usage, now_ms).rounded),
        usage=usage,
        told=told_where(listed),
        unread=(*warning_of(logged), *warning_of(revisions), *unread_runs(runs), *unread_notes(*listings)),
    )


# -- a session --------------------------------------------------------------------------------------------------------

MOST_MARKS = 100
_MOST_NAMED = 5

Key = tuple[str, str]
"""Harness and session id."""


@as_result
def find_sessions(
    session_id: str,
    root: Path,
    reading: Reading,
    log: RunLog,
    marks: SessionMarksFiles,
    deferred: Callable[[], Result[tuple[Change, ...], Error]],
) -> FoundSessions:
    """Returns what became of the session with this id, of every harness that has one, or else of the one whose id
    begins so; none where nothing is known of it. UsageInvalid where several begin so."""
    captures, unopened, unread = captures_beginning_with(str(root), session_id)
    listings = unwrap(reading.store.list()), unwrap(reading.store.list(archived=True))
    runs = unwrap(log.runs(MOST_RUNS))
    marked = {
        (each.harness.value, each.session_id): each for each in unwrap(marks.beginning_with(session_id, MOST_MARKS))
    }
    by_runs: dict[Key, list[SessionOutcome]] = defaultdict(list)
    for run in runs:
        for each in run.sessions:
            if each.session_id is not None and each.session_id.startswith(session_id):
                told = (each.verdict, each.reason, each.entry_ids, each.dropped)
                outcome = SessionOutcome(run.run_id, run.machine, run.started_at_ms, *told)
                by_runs[each.harness, each.session_id].append(outcome)
    # What is secret is not even named to an agent.
    notes = [each for listing in listings for each in listing.entries]
    notes = [*without_secret(notes)] if reading.caller.is_agent else notes
    changed = [each.meta for each in entries_written(unwrap(deferred())).values()]
    noted = (key for each in notes for key in keys_of(each.meta) if key[1].startswith(session_id))
    keys = {*marked, *(each.key for each in captures), *by_runs, *noted}
    chosen = {key for key in keys if key[1] == session_id} or keys
    ids = sorted({id for _, id in chosen})
    if len(ids) > 1:
        count = f"{'at least ' if unopened else ''}{len(ids):,}"
        problem = f"{session_id} matches {count} sessions: {first_few(ids, _MOST_NAMED)}"
        raise UsageInvalid(problem, "Give more of it.")
    traces = (
        trace_session(
            key,
            [each for each in captures if each.key == key],
            tuple(by_runs.get(key, ())),
            notes,
            marked.get(key),
            tuple(meta.id for meta in changed if key in keys_of(meta)),
        )
        for key in sorted(chosen)
    )
    unread = (*unread, *unread_notes(*listings), *unread_runs(runs))
    return FoundSessions(session_id, tuple(traces), unopened, unread)


# -- the captures of a session ----------------------------------------------------------------------------------------

MOST_OPENED = 100_000
"""Files of each directory, the newest first: what is older is told by the session's mark, its notes and the runs."""

_PLACES: tuple[tuple[str, Place], ...] = ((INBOX, "waiting"), (PROCESSED, "processed"), (FAILED, "given-up"))


def captures_beginning_with(root: str, session_id: str) -> tuple[tuple[FoundCapture, ...], int, tuple[str, ...]]:
    """Returns the captures of every session whose id begins so, of any harness, newest first; how many files were not
    looked into; and what could not be read, one sentence each. Of what is no entry, `memory status` tells."""
    troubles = unwrap(QueueTroubles(root).read())
    captures: list[FoundCapture] = []
    unread: list[str] = []
    unopened = 0
    for relative, place in _PLACES:
        # A name begins with the time of its capture.
        names = names_below(root, relative, is_entry_name)[::-1]
        unopened += max(0, len(names) - MOST_OPENED)
        for name in names[:MOST_OPENED]:
            try:
                image = read_image(f"{root}/{relative}/{name}", MAX_RETIRED_BYTES)
            except Error as error:
                unread.append(str(error))
                continue
            if image is None or session_id.encode("utf-8", "backslashreplace") not in image.data:
                continue
            entry = parse_inbox_entry(image.data.decode("utf-8", "replace")).value_or(None)
            named = None if entry is None else session_id_of(entry)
            if entry is not None and named is not None and named.startswith(session_id):
                trouble = troubles.get(queue_key(entry, name)) if place == "waiting" else None
                captures.append(FoundCapture(entry, place, name, trouble))
    return tuple(sorted(captures, key=lambda each: (-each.entry.at_ms, each.name))), unopened, tuple(unread)


# -- the health of a store ---------------------------------------------------------------------------------------------

RECENT_RUNS = 100
"""So far back the newest run of each machine is looked for."""


def read_health(
    config: Config,
    agent: Result[Agent, Error],
    reading: Reading,
    inbox: InboxFiles,
    log: RunLog,
    spend: SpendLedgerFiles,
) -> Health:
    """Returns the health of the store and of all around it; it changes nothing and calls nothing. A file of ours that
    cannot be read is an error, not "all is well" (P6)."""
    root, environ, now_ms = inbox.root, inbox.environ, reading.clock.now_ms()
    live, archive = unwrap(reading.store.list()), unwrap(reading.store.list(archived=True))
    names = unwrap(inbox.names())
    recent = log.runs(RECENT_RUNS)
    logged = recent.value_or(())
    # The newest run of each machine, newest first; a damaged report hides no other.
    last = {run.machine: run for run in reversed(logged) if run.result in RESULTS}
    runs = tuple(sorted(last.values(), key=lambda each: each.run_id, reverse=True))
    # Nobody can tell what became of a run whose report is damaged, so that the last may not be the last (P6).
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
    if installed is not None and not os.access(installed.program, os.X_OK):
        # A job that fails since an executable is gone says so nowhere else.
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
        warnings=(
            *warning_of(agent),
            *warning_of(recent),
            *damaged,
            *map(str, unread_logs),
            *warning_of(owed),
        ),
        last_captures=tuple(dict(unwrap(captures(str(root)))).items()),
        now_ms=now_ms,
        agent=agent.map(lambda each: each.name).value_or("not usable"),
        max_calls_per_day=config.llm.max_calls_per_day,
        deliveries=deliveries_by_harness(DeliveryLog(str(root)).deliveries(), now_ms),
        jobs=jobs,
        job_problems=tuple(problems),
    )


def hook_log_of(root: Path, environ: Mapping[str, str]) -> tuple[tuple[HookProblem, ...], tuple[Error, ...]]:
    """Returns what the logs of hooks tell of a root: every capture and injection that is known not to have arrived,
    oldest first, and why some of it cannot be read, since nobody can say what is in that (P6). What is damaged in them
    is passed over."""
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
                    named = told.get("root")
                    # A hook tells the root that it was given, which may lead there by a link.
                    if named is None or (isinstance(named, str) and os.path.realpath(named) == os.path.realpath(root)):
                        at, harness, message = (str(told.get(key, "")) for key in ("at", "harness", "message"))
                        problems.append(HookProblem(at, harness, str(told.get("act") or "capture"), message))
    return tuple(sorted(problems, key=lambda problem: problem.at)), tuple(unread)
