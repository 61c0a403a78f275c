"""What is known of a note and of a session, gathered from the store, the ledger, the inbox, the session marks, the runs and git.
Changes and counts nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from attrs import evolve, frozen
from returns.result import Result

from agent_memory.adapters.disk.paths import names_below, read_image
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import FAILED, MAX_RETIRED_BYTES, PROCESSED, QueueTroubles, is_entry_name
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.domain.change import Change, Create, Replace
from agent_memory.domain.entry import Caller, Listed, Meta, StoredEntry, Usage, reads_of
from agent_memory.domain.note_story import (
    Chapter,
    NoteStory,
    Revision,
    TierStanding,
    chapters_of,
    unread_notes,
    unread_runs,
)
from agent_memory.domain.queue import InboxEntry, Outcome, Trouble, queue_key, session_id_of
from agent_memory.domain.run_log import LoggedRun, SessionMark
from agent_memory.domain.session_trace import Capture, FoundSessions, Place, SeenByRun, SessionTrace
from agent_memory.domain.tiering.resolve import shares_a_section
from agent_memory.domain.tiering.score import score
from agent_memory.domain.tiering.standing import best_tier
from agent_memory.domain.vocabulary import Sensitivity, Tier, TierList
from agent_memory.errors import EntryNotFound, EntryProtected, Error, UsageInvalid
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry
from agent_memory.ports import Clock, RunLog, Store, UsageLedger
from agent_memory.results import as_result, unwrap

T = TypeVar("T")

MOST_RUNS = 5_000
"""About a year of them."""

# -- a note -----------------------------------------------------------------------------------------------------------

MOST_REVISIONS = 50


@frozen
class NoteStories:
    """The stories of notes, on behalf of a caller."""

    store: Store
    ledger: UsageLedger
    log: RunLog
    clock: Clock
    caller: Caller
    revisions_of: Callable[[str, int], Result[tuple[Revision, ...], Error]]
    """The newest commits that touched a path, at most so many."""

    @as_result
    def story(self, id: str) -> NoteStory:
        """The story of the live note with this id or alias, else of the archived one. EntryProtected where an agent asks for
        what is secret. A run log or a repository that cannot be read takes its part of the story away, and is named, as is
        each note and run that cannot be."""
        stored = self._stored(id)
        meta = stored.meta
        if meta.sensitivity is Sensitivity.SECRET and self.caller.is_agent:
            raise EntryProtected(id, "an explanation", "secret")
        listings = unwrap(self.store.list()), unwrap(self.store.list(archived=True))
        live, archive = ({each.meta.id: each for each in listing.entries} for listing in listings)
        everything = (*live.values(), *archive.values())
        totals, tiers = unwrap(self.ledger.totals()), unwrap(self.store.tiers())
        runs, no_runs = _or_why_not(self.log.runs(MOST_RUNS))
        revisions, no_revisions = _or_why_not(self.revisions_of(stored.listed.path, MOST_REVISIONS))
        chapters = chapters_of(frozenset((meta.id, *meta.aliases)), runs)
        since = _tiers_since(meta, chapters, runs)
        standing = TierStanding(
            meta=meta,
            tier=Tier.HOT if meta.pinned and best_tier(meta) is Tier.HOT else tiers.of(meta.id),
            usage=reads_of(meta, totals),
            now_ms=self.clock.now_ms(),
            archived=stored.listed.archived,
            tiers_decided=since is not None or bool(no_runs),
            decided_since=since is not False,
            weakest_hot=self._weakest_hot(meta, tiers, live, totals),
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

    def _stored(self, id: str) -> StoredEntry:
        try:
            return unwrap(self.store.read(id))
        except EntryNotFound as absent:
            if not absent.archived:
                raise
            return unwrap(self.store.read(id, archived=True))

    def _weakest_hot(
        self, meta: Meta, tiers: TierList, live: Mapping[str, Listed], totals: Mapping[str, Usage]
    ) -> float | None:
        rivals = (live[id].meta for id in tiers.hot if id in live and id != meta.id)
        competing = (each for each in rivals if not each.pinned and shares_a_section(meta, each))
        scores = (score(each, reads_of(each, totals), self.clock.now_ms()) for each in competing)
        return min(scores, default=None)


def _tiers_since(meta: Meta, chapters: Iterable[Chapter], runs: Iterable[LoggedRun]) -> bool | None:
    """Whether a defrag has looked at the store since the note was written; None where there was no defrag at all."""
    tierings = [run.started_at_ms for run in runs if run.machine == "defrag" and run.result == "completed"]
    if not tierings:
        return None
    written = [each.run.started_at_ms for each in chapters if meta.id in each.action.new_ids]
    return max(tierings) >= max(written, default=meta.created_at_ms)


def _or_why_not(result: Result[tuple[T, ...], Error]) -> tuple[tuple[T, ...], tuple[str, ...]]:
    try:
        return unwrap(result), ()
    except Error as error:
        return (), (str(error),)


# -- a session --------------------------------------------------------------------------------------------------------

MOST_MARKS = 100
_MOST_NAMED = 5

Key = tuple[str, str]
"""Harness and session id."""


@frozen
class SessionTraces:
    """What became of sessions, on behalf of a caller."""

    root: Path
    store: Store
    log: RunLog
    marks: SessionMarksFiles
    deferred: Callable[[], Result[tuple[Change, ...], Error]]
    caller: Caller

    @as_result
    def find(self, session_id: str) -> FoundSessions:
        """The session with this id, of every harness that has one, or else the one whose id begins so; none where nothing
        is known of it. UsageInvalid where several begin so."""
        captures = captures_beginning_with(str(self.root), session_id)
        listings = unwrap(self.store.list()), unwrap(self.store.list(archived=True))
        runs = unwrap(self.log.runs(MOST_RUNS))
        known = _Known(
            marks={
                (each.harness.value, each.session_id): each
                for each in unwrap(self.marks.beginning_with(session_id, MOST_MARKS))
            },
            captures=captures.captures,
            seen=_seen(runs, session_id),
            # What is secret is not even named to an agent.
            entries=[
                each
                for listing in listings
                for each in listing.entries
                if not (each.meta.sensitivity is Sensitivity.SECRET and self.caller.is_agent)
            ],
            deferred=unwrap(self.deferred()),
        )
        chosen = known.keys(session_id, at_least=captures.unopened > 0)
        unread = (*captures.unread, *unread_notes(*listings), *unread_runs(runs))
        return FoundSessions(tuple(map(known.trace, chosen)), captures.unopened, unread)


@frozen
class _Known:
    """What is known of all sessions whose id begins so."""

    marks: Mapping[Key, SessionMark]
    captures: tuple[Capture, ...]
    seen: Mapping[Key, Sequence[SeenByRun]]
    entries: Sequence[Listed]
    deferred: tuple[Change, ...]

    def keys(self, session_id: str, *, at_least: bool) -> list[Key]:
        noted = (key for each in self.entries for key in _keys_of(each.meta) if key[1].startswith(session_id))
        captured = ((each.harness.value, each.session_id) for each in self.captures)
        keys = {*self.marks, *captured, *self.seen, *noted}
        chosen = {key for key in keys if key[1] == session_id} or keys
        ids = sorted({id for _, id in chosen})
        if len(ids) > 1:
            more = f" and {len(ids) - _MOST_NAMED:,} more" if len(ids) > _MOST_NAMED else ""
            count = f"{'at least ' if at_least else ''}{len(ids):,}"
            problem = f"{session_id} begins the ids of {count} sessions: {', '.join(ids[:_MOST_NAMED])}{more}"
            raise UsageInvalid(problem, "Give more of it.")
        return sorted(chosen)

    def trace(self, key: Key) -> SessionTrace:
        changed = (each.entry.meta for each in self.deferred if isinstance(each, Create | Replace))
        trace = SessionTrace(
            harness=key[0],
            session_id=key[1],
            mark=self.marks.get(key),
            captures=tuple(each for each in self.captures if (each.harness.value, each.session_id) == key),
            runs=tuple(self.seen.get(key, ())),
            deferred=tuple(meta.id for meta in changed if key in _keys_of(meta)),
        )
        return evolve(trace, entries=self._made_from(trace))

    def _made_from(self, trace: SessionTrace) -> tuple[Listed, ...]:
        """The notes that name the session, and those that were recorded as made of it; live ones first, then the newest."""
        recorded = {
            *(() if trace.mark is None else trace.mark.entry_ids),
            *(id for each in trace.captures if each.outcome is not None for id in each.outcome.entry_ids),
            *(id for each in trace.runs for id in each.seen.entry_ids),
        }
        key = (trace.harness, trace.session_id)
        made = (each for each in self.entries if each.meta.id in recorded or key in _keys_of(each.meta))
        return tuple(sorted(made, key=lambda each: (each.archived, -each.meta.created_at_ms, each.meta.id)))


def _seen(runs: Iterable[LoggedRun], session_id: str) -> Mapping[Key, Sequence[SeenByRun]]:
    seen: dict[Key, list[SeenByRun]] = defaultdict(list)
    for run in runs:
        for each in run.sessions:
            if each.session_id is not None and each.session_id.startswith(session_id):
                seen[each.harness, each.session_id].append(SeenByRun(run, each))
    return seen


def _keys_of(meta: Meta) -> tuple[Key, ...]:
    return tuple((source.harness.value, source.thread_id) for source in meta.sources if source.thread_id)


# -- the captures of a session ----------------------------------------------------------------------------------------

MOST_OPENED = 100_000
"""Files of each directory, the newest first: what is older is told by the session's mark, its notes and the runs."""

MOST_KEPT = 2_000
"""Captures in memory: a beginning may be that of all sessions there are."""

_PLACES: Mapping[str, Place] = {INBOX: "waiting", PROCESSED: "processed", FAILED: "given-up"}


@frozen
class FoundCaptures:
    """The captures, newest first, and how many files were not looked into."""

    captures: tuple[Capture, ...]
    unopened: int
    unread: tuple[str, ...] = ()
    """What could not be read, one sentence each."""


def captures_beginning_with(root: str, session_id: str) -> FoundCaptures:
    """The captures of every session whose id begins so, of any harness."""
    troubles = unwrap(QueueTroubles(root).read())
    captures: list[Capture] = []
    unread: list[str] = []
    unopened = 0
    for relative, place in _PLACES.items():
        # A name begins with the time of its capture.
        names = names_below(root, relative, is_entry_name)[::-1]
        opened = 0
        for name in islice(names, MOST_OPENED):
            if len(captures) == MOST_KEPT:
                break
            opened += 1
            try:
                image = read_image(f"{root}/{relative}/{name}", MAX_RETIRED_BYTES)
            except Error as error:
                unread.append(str(error))
                continue
            capture = None if image is None else _capture(image.data, name, place, session_id, troubles)
            captures += [] if capture is None else [capture]
        unopened += len(names) - opened
    newest_first = tuple(sorted(captures, key=lambda each: (-each.at_ms, each.name)))
    return FoundCaptures(newest_first, unopened, tuple(unread))


def _capture(data: bytes, name: str, place: Place, session_id: str, troubles: Mapping[str, Trouble]) -> Capture | None:
    """The capture in a file; None for one of another session, and for what is no entry: `memory status` tells of those."""
    if session_id.encode("utf-8", "backslashreplace") not in data:
        return None
    entry, outcome = _understood(data.decode("utf-8", "replace"), place)
    named = None if entry is None else session_id_of(entry)
    if entry is None or named is None or not named.startswith(session_id):
        return None
    return Capture(
        harness=entry.harness,
        session_id=named,
        place=place,
        name=name,
        at_ms=entry.at_ms,
        cwd=entry.context.cwd,
        repo=entry.context.repo,
        trouble=troubles.get(queue_key(entry, name)) if place == "waiting" else None,
        outcome=outcome,
    )


def _understood(text: str, place: Place) -> tuple[InboxEntry | None, Outcome | None]:
    if place == "waiting":
        return parse_inbox_entry(text).value_or(None), None
    return parse_retired_entry(text).value_or((None, None))
