"""What became of a session, from the inbox, the session marks, the runs and the notes that name it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.paths import FileImage, read_image
from agent_memory.adapters.disk.root_files import names_below
from agent_memory.adapters.explaining.entry_stories import MOST_RUNS
from agent_memory.adapters.inbox.inbox_put import INBOX
from agent_memory.adapters.inbox.inbox_reading import FAILED, MAX_RETIRED_BYTES, PROCESSED, is_entry_name
from agent_memory.adapters.inbox.queue_troubles import QueueTroubles
from agent_memory.adapters.records.bookkeeping_files import SessionMarksFiles
from agent_memory.domain.change import Change, Create, Replace
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.explaining.session_trace import Capture, FoundSessions, Place, SeenByRun, SessionTrace
from agent_memory.domain.explaining.unread import unread_notes, unread_runs
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import InboxEntry, session_id_of
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.queue import Outcome, Trouble
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error, UsageInvalid
from agent_memory.formats.inbox_json import parse_inbox_entry, parse_retired_entry
from agent_memory.ports import RunLog, Store
from agent_memory.results import as_result, sealed
from agent_memory.wording import describe

MOST_MARKS = 100
_MOST_NAMED = 5

Key = tuple[str, str]
"""Harness and session id."""


@frozen
class _Gathered:
    """What is known of all sessions whose id begins so."""

    captures: tuple[Capture, ...]
    unopened: int
    marks: Mapping[Key, SessionMark]
    entries: tuple[Listed, ...]
    seen: Mapping[Key, Sequence[SeenByRun]]
    deferred: tuple[Change, ...]
    unread: tuple[str, ...]

    def keys(self, session_id: str) -> list[Key]:
        noted = (key for each in self.entries for key in _keys_of(each.meta) if key[1].startswith(session_id))
        captured = ((each.harness.value, each.session_id) for each in self.captures)
        return list(dict.fromkeys((*self.marks, *captured, *self.seen, *noted)))

    def trace(self, key: Key) -> SessionTrace:
        captures = tuple(each for each in self.captures if (each.harness.value, each.session_id) == key)
        trace = SessionTrace(
            harness=key[0],
            session_id=key[1],
            mark=self.marks.get(key),
            captures=captures,
            runs=tuple(self.seen.get(key, ())),
            deferred=_waiting_for(key, self.deferred),
        )
        return evolve(trace, entries=self._made_from(trace))

    def _made_from(self, trace: SessionTrace) -> tuple[Listed, ...]:
        """The entries that name the session, and those that were recorded as made of it; live ones first, then the newest."""
        recorded = {
            *(() if trace.mark is None else trace.mark.entry_ids),
            *(id for each in trace.captures if each.outcome is not None for id in each.outcome.entry_ids),
            *(id for each in trace.runs for id in each.seen.entry_ids),
        }
        key = (trace.harness, trace.session_id)
        made = (each for each in self.entries if each.meta.id in recorded or key in _keys_of(each.meta))
        return tuple(sorted(made, key=lambda each: (each.archived, -each.meta.created_at_ms, each.meta.id)))


@frozen
class SessionTraces:
    """Looks; changes and counts nothing."""

    root: Path
    store: Store
    log: RunLog
    marks: SessionMarksFiles
    deferred: Callable[[], Result[tuple[Change, ...], Error]]
    caller: Caller

    def find(self, session_id: str) -> Result[FoundSessions, Error]:
        """The session with this id, of every harness that has one, or else the one whose id begins so; none where nothing
        is known of it. UsageInvalid where several begin so."""
        return self._gathered(session_id).bind(lambda gathered: self._chosen(session_id, gathered))

    def _gathered(self, session_id: str) -> Result[_Gathered, Error]:
        return Result.do(
            _Gathered(
                captures=captures.captures,
                unopened=captures.unopened,
                marks={(mark.harness.value, mark.session_id): mark for mark in marks},
                entries=tuple(each for each in (*live.entries, *archive.entries) if self._may_see(each.meta)),
                seen=_seen(runs, session_id),
                deferred=deferred,
                unread=(*captures.unread, *unread_notes(live, archive), *unread_runs(runs)),
            )
            for captures in captures_beginning_with(str(self.root), session_id)
            for marks in self.marks.beginning_with(session_id, MOST_MARKS)
            for live in self.store.list()
            for archive in self.store.list(archived=True)
            for runs in self.log.runs(MOST_RUNS)
            for deferred in self.deferred()
        )

    def _chosen(self, session_id: str, gathered: _Gathered) -> Result[FoundSessions, Error]:
        keys = gathered.keys(session_id)
        chosen = [key for key in keys if key[1] == session_id] or keys
        ids = sorted({id for _, id in chosen})
        if len(ids) > 1:
            more = f" and {len(ids) - _MOST_NAMED:,} more" if len(ids) > _MOST_NAMED else ""
            count = f"{'at least ' if gathered.unopened else ''}{len(ids):,}"
            problem = f"{session_id} begins the ids of {count} sessions: {', '.join(ids[:_MOST_NAMED])}{more}"
            return Failure(UsageInvalid(problem, "Give more of it."))
        return Success(FoundSessions(tuple(map(gathered.trace, sorted(chosen))), gathered.unopened, gathered.unread))

    def _may_see(self, meta: Meta) -> bool:
        """What is secret is not even named to an agent."""
        return not (meta.sensitivity is Sensitivity.SECRET and self.caller.is_agent)


def _seen(runs: Iterable[LoggedRun], session_id: str) -> Mapping[Key, Sequence[SeenByRun]]:
    seen: dict[Key, list[SeenByRun]] = defaultdict(list)
    for run in runs:
        for each in run.sessions:
            if each.session_id is not None and each.session_id.startswith(session_id):
                seen[each.harness, each.session_id].append(SeenByRun(run.run_id, run.started_at_ms, run.machine, each))
    return seen


def _keys_of(meta: Meta) -> tuple[Key, ...]:
    return tuple((source.harness.value, source.thread_id) for source in meta.sources if source.thread_id)


def _waiting_for(key: Key, deferred: Iterable[Change]) -> tuple[str, ...]:
    written = (each.entry.meta for each in deferred if isinstance(each, Create | Replace))
    return tuple(meta.id for meta in written if key in _keys_of(meta))


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


def captures_beginning_with(root: str, session_id: str) -> Result[FoundCaptures, Error]:
    """The captures of every session whose id begins so, of any harness."""

    def found(troubles: Mapping[str, Trouble]) -> Result[FoundCaptures, Error]:
        captures: list[Capture] = []
        unread: list[str] = []
        unopened = 0
        for relative, place in _PLACES.items():
            match sealed(_names_in(root, relative)):
                case Failure(error):
                    return Failure(error)
                case Success(names):
                    opened = 0
                    for name in islice(names, MOST_OPENED):
                        if len(captures) == MOST_KEPT:
                            break
                        opened += 1
                        image: FileImage | None = None
                        match sealed(as_result(read_image)(f"{root}/{relative}/{name}", MAX_RETIRED_BYTES)):
                            case Success(there):
                                image = there
                            case Failure(error):
                                unread.append(describe(error))
                        capture = _capture(image, name, place, session_id, troubles)
                        captures += [] if capture is None else [capture]
                    unopened += len(names) - opened
        newest_first = tuple(sorted(captures, key=lambda each: (-each.at_ms, each.name)))
        return Success(FoundCaptures(newest_first, unopened, tuple(unread)))

    return QueueTroubles(root).read().bind(found)


def _names_in(root: str, relative: str) -> Result[tuple[str, ...], Error]:
    """By name, the newest first: a name begins with the time of its capture."""
    return as_result(names_below)(root, relative, is_entry_name).map(lambda names: names[::-1])


def _capture(
    image: FileImage | None, name: str, place: Place, session_id: str, troubles: Mapping[str, Trouble]
) -> Capture | None:
    """The capture in a file; None for one of another session, and for what is no entry: `memory status` tells of those."""
    if image is None or session_id.encode("utf-8", "backslashreplace") not in image.data:
        return None
    entry, outcome = _understood(image.data.decode("utf-8", "replace"), place)
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
