"""What is known of a note and of a session, gathered from the store, the ledger, the inbox, the session marks, the runs and git.
Changes and counts nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from attrs import evolve
from returns.result import Result

from agent_memory.adapters.disk.paths import names_below, read_image
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import FAILED, MAX_RETIRED_BYTES, PROCESSED, QueueTroubles, is_entry_name
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.domain.change import Change, Create, Replace
from agent_memory.domain.entry import Caller, Meta, reads_of
from agent_memory.domain.note_story import (
    Chapter,
    NoteStory,
    Revision,
    TierStanding,
    chapters_of,
    unread_notes,
    unread_runs,
)
from agent_memory.domain.queue import Trouble, queue_key, session_id_of
from agent_memory.domain.run_log import MOST_RUNS, LoggedRun
from agent_memory.domain.session_trace import Capture, FoundSessions, Place, SeenByRun, SessionTrace
from agent_memory.domain.text.plain_text import first_few
from agent_memory.domain.tiering.score import score
from agent_memory.domain.tiering.standing import best_tier
from agent_memory.domain.vocabulary import Sensitivity, Tier
from agent_memory.errors import EntryNotFound, EntryProtected, Error, UsageInvalid
from agent_memory.formats.inbox_json import parse_inbox_entry
from agent_memory.ports import Clock, RunLog, Store, UsageLedger
from agent_memory.results import as_result, unwrap, warning_of

T = TypeVar("T")

# -- a note -----------------------------------------------------------------------------------------------------------

MOST_REVISIONS = 50


@as_result
def note_story(
    id: str,
    store: Store,
    ledger: UsageLedger,
    log: RunLog,
    clock: Clock,
    caller: Caller,
    revisions_of: Callable[[str, int], Result[tuple[Revision, ...], Error]],
) -> NoteStory:
    """The story of the live note with this id or alias, else of the archived one, on behalf of a caller. `revisions_of` has
    the newest commits that touched a path, at most so many.

    EntryProtected where an agent asks for what is secret. A run log or a repository that cannot be read takes its part of
    the story away, and is named, as is each note and run that cannot be."""
    try:
        stored = unwrap(store.read(id))
    except EntryNotFound as absent:
        if not absent.archived:
            raise
        stored = unwrap(store.read(id, archived=True))
    meta = stored.meta
    if meta.sensitivity is Sensitivity.SECRET and caller.is_agent:
        raise EntryProtected(id, "an explanation", "secret")
    listings = unwrap(store.list()), unwrap(store.list(archived=True))
    live, archive = ({each.meta.id: each for each in listing.entries} for listing in listings)
    everything = (*live.values(), *archive.values())
    totals, tiers, now_ms = unwrap(ledger.totals()), unwrap(store.tiers()), clock.now_ms()
    runs, no_runs = _or_why_not(log.runs(MOST_RUNS))
    revisions, no_revisions = _or_why_not(revisions_of(stored.listed.path, MOST_REVISIONS))
    chapters = chapters_of(frozenset(meta.all_ids), runs)
    since = _tiers_since(meta, chapters, runs)
    rivals = [live[id].meta for id in tiers.hot if id in live and id != meta.id]
    scores = (
        score(each, reads_of(each, totals), now_ms)
        for each in rivals
        if not each.pinned and meta.shares_a_place_with(each)
    )
    standing = TierStanding(
        meta=meta,
        tier=Tier.HOT if meta.pinned and best_tier(meta) is Tier.HOT else tiers.of(meta.id),
        usage=reads_of(meta, totals),
        now_ms=now_ms,
        archived=stored.listed.archived,
        tiers_decided=since is not None or bool(no_runs),
        decided_since=since is not False,
        weakest_hot=min(scores, default=None),
    )
    return NoteStory(
        asked=id,
        stored=stored,
        standing=standing,
        chapters=chapters,
        revisions=revisions,
        merged=tuple(archive[id] for id in meta.aliases if id in archive),
        supersedes=tuple(each for each in everything if each.meta.id in meta.supersedes),
        superseded_by=tuple(each for each in everything if meta.id in each.meta.supersedes),
        unread=(*no_runs, *no_revisions, *unread_runs(runs), *unread_notes(*listings)),
    )


def _tiers_since(meta: Meta, chapters: Iterable[Chapter], runs: Iterable[LoggedRun]) -> bool | None:
    """Whether a defrag has looked at the store since the note was written; None where there was no defrag at all."""
    tierings = [run.started_at_ms for run in runs if run.machine == "defrag" and run.result == "completed"]
    if not tierings:
        return None
    written = [each.at_ms for each in chapters if meta.id in each.new_ids]
    return max(tierings) >= max(written, default=meta.created_at_ms)


def _or_why_not(result: Result[tuple[T, ...], Error]) -> tuple[tuple[T, ...], tuple[str, ...]]:
    return result.value_or(()), warning_of(result)


# -- a session --------------------------------------------------------------------------------------------------------

MOST_MARKS = 100
_MOST_NAMED = 5

Key = tuple[str, str]
"""Harness and session id."""


@as_result
def session_traces(
    session_id: str,
    root: Path,
    store: Store,
    log: RunLog,
    marks: SessionMarksFiles,
    deferred: Callable[[], Result[tuple[Change, ...], Error]],
    caller: Caller,
) -> FoundSessions:
    """What became of the session with this id, of every harness that has one, or else of the one whose id begins so; none
    where nothing is known of it. UsageInvalid where several begin so."""
    captures, unopened, unread = captures_beginning_with(str(root), session_id)
    listings = unwrap(store.list()), unwrap(store.list(archived=True))
    runs = unwrap(log.runs(MOST_RUNS))
    marked = {
        (each.harness.value, each.session_id): each for each in unwrap(marks.beginning_with(session_id, MOST_MARKS))
    }
    seen: dict[Key, list[SeenByRun]] = defaultdict(list)
    for run in runs:
        for each in run.sessions:
            if each.session_id is not None and each.session_id.startswith(session_id):
                told = (each.verdict, each.reason, each.entry_ids, each.dropped)
                seen[each.harness, each.session_id].append(SeenByRun(run.run_id, run.started_at_ms, run.machine, *told))
    # What is secret is not even named to an agent.
    entries = [
        each
        for listing in listings
        for each in listing.entries
        if not (each.meta.sensitivity is Sensitivity.SECRET and caller.is_agent)
    ]
    changed = [each.entry.meta for each in unwrap(deferred()) if isinstance(each, Create | Replace)]

    def trace_of(key: Key) -> SessionTrace:
        trace = SessionTrace(
            harness=key[0],
            session_id=key[1],
            mark=marked.get(key),
            captures=tuple(each for each in captures if each.key == key),
            runs=tuple(seen.get(key, ())),
            deferred=tuple(meta.id for meta in changed if key in _keys_of(meta)),
        )
        recorded = trace.recorded_ids
        made = (each for each in entries if each.meta.id in recorded or key in _keys_of(each.meta))
        newest_first = sorted(made, key=lambda each: (each.archived, -each.meta.created_at_ms, each.meta.id))
        return evolve(trace, entries=tuple(newest_first))

    noted = (key for each in entries for key in _keys_of(each.meta) if key[1].startswith(session_id))
    keys = {*marked, *(each.key for each in captures), *seen, *noted}
    chosen = {key for key in keys if key[1] == session_id} or keys
    ids = sorted({id for _, id in chosen})
    if len(ids) > 1:
        count = f"{'at least ' if unopened else ''}{len(ids):,}"
        problem = f"{session_id} begins the ids of {count} sessions: {first_few(ids, _MOST_NAMED)}"
        raise UsageInvalid(problem, "Give more of it.")
    unread = (*unread, *unread_notes(*listings), *unread_runs(runs))
    return FoundSessions(tuple(map(trace_of, sorted(chosen))), unopened, unread)


def _keys_of(meta: Meta) -> tuple[Key, ...]:
    return tuple((source.harness.value, source.thread_id) for source in meta.sources if source.thread_id)


# -- the captures of a session ----------------------------------------------------------------------------------------

MOST_OPENED = 100_000
"""Files of each directory, the newest first: what is older is told by the session's mark, its notes and the runs."""

_PLACES: tuple[tuple[str, Place], ...] = ((INBOX, "waiting"), (PROCESSED, "processed"), (FAILED, "given-up"))


def captures_beginning_with(root: str, session_id: str) -> tuple[tuple[Capture, ...], int, tuple[str, ...]]:
    """The captures of every session whose id begins so, of any harness, newest first; how many files were not looked into;
    and what could not be read, one sentence each."""
    troubles = unwrap(QueueTroubles(root).read())
    captures: list[Capture] = []
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
            if image is not None and session_id.encode("utf-8", "backslashreplace") in image.data:
                capture = _capture(image.data.decode("utf-8", "replace"), name, place, troubles)
                captures += [capture] if capture is not None and capture.key[1].startswith(session_id) else []
    return tuple(sorted(captures, key=lambda each: (-each.entry.at_ms, each.name))), unopened, tuple(unread)


def _capture(text: str, name: str, place: Place, troubles: Mapping[str, Trouble]) -> Capture | None:
    """The capture in a file; None for one of no session, and for what is no entry: `memory status` tells of those."""
    entry = parse_inbox_entry(text).value_or(None)
    if entry is None or session_id_of(entry) is None:
        return None
    trouble = troubles.get(queue_key(entry, name)) if place == "waiting" else None
    return Capture(entry, place, name, trouble)
