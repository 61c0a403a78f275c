"""What became of a session, from the inbox, the session marks, the runs and the notes that name it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from returns.result import Failure, Result, Success

from agent_memory.adapters.explaining.entry_stories import MOST_RUNS
from agent_memory.adapters.inbox.session_captures import captures_beginning_with
from agent_memory.adapters.records.session_marks_files import SessionMarksFiles
from agent_memory.domain.change import Change, Create, Replace
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.explaining.session_trace import Capture, FoundSessions, SeenByRun, SessionTrace
from agent_memory.domain.explaining.unread import unread_notes, unread_runs
from agent_memory.domain.history import SessionMark
from agent_memory.domain.note_draft import Caller
from agent_memory.domain.run_log import LoggedRun
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error, UsageInvalid
from agent_memory.ports import RunLog, Store
from agent_memory.values import evolve, frozen

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
