"""The sessions that memory knows, newest first: what was captured of each, what notes it left, and what became of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import frozen
from returns.result import Result

from agent_memory.care.why_note import NamedNote, named
from agent_memory.care.why_session import keys_of
from agent_memory.errors import Error
from agent_memory.note.note import Listed, Usage, reads_of
from agent_memory.recall.delivery_log import Delivery
from agent_memory.results import unwrap
from agent_memory.rules.run_log import LoggedRun
from agent_memory.session.queue import InboxEntry, session_id_of
from agent_memory.session.resume import resume_command
from agent_memory.store.history_index import IndexedPart


@frozen
class SessionLine:
    harness: str
    session_id: str
    last_at_ms: int
    """When it was captured last, or given notes; else when it ended."""
    scope: str
    cwd: str | None
    branch: str | None
    first_words: str
    """The person's; empty where its history is not at hand."""
    captures: int
    verdict: str
    """What the newest run made of it; empty where none has read it."""
    notes: tuple[NamedNote, ...]
    """Live and archived ones that name it as a source."""
    told: int
    """How often a session was given one of these notes."""
    used: int
    """How often one of them was read."""
    given: int
    """Notes that the session itself was given."""
    reopen: str | None


def list_sessions(
    captured: Iterable[Result[InboxEntry, Error]],
    kept: Iterable[IndexedPart],
    scope_of: Callable[[tuple[str, ...]], str | None],
    runs: Iterable[LoggedRun],
    notes: Iterable[Listed],
    deliveries: Iterable[Delivery],
    totals: Mapping[str, Usage],
    first_words_of: Callable[[InboxEntry], str],
) -> tuple[SessionLine, ...]:
    """Returns the sessions that were captured, given notes or kept, the newest first. `captured` and `runs` come newest
    first; `scope_of` returns None for the directories of a session that is not shown; `first_words_of` is asked about those
    that still wait."""
    latest: dict[tuple[str, str], InboxEntry] = {}
    last: dict[tuple[str, str], int] = {}
    counts: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str], tuple[str, ...]] = {}
    branches: dict[tuple[str, str], str] = {}
    words: dict[tuple[str, str], str] = {}
    for each in captured:
        entry = unwrap(each)
        key = (entry.harness.value, session_id_of(entry) or "")
        latest.setdefault(key, entry)
        last.setdefault(key, entry.at_ms)
        counts[key] = counts.get(key, 0) + 1
        if entry.context.cwd:
            places.setdefault(key, (entry.context.cwd,))
        if entry.context.branch:
            branches.setdefault(key, entry.context.branch)
    for part in kept:
        key = (part.harness, part.session_id)
        if key not in counts:
            last[key] = max(last.get(key, part.ended_at_ms), part.ended_at_ms)
        places[key] = (*places.get(key, ()), *part.places)
        branches.setdefault(key, part.branch or "")
        words[key] = words.get(key) or part.first_words
    given: dict[tuple[str, str], set[str]] = {}
    told: dict[str, int] = {}
    for delivery in deliveries:
        for id in delivery.ids:
            told[id] = told.get(id, 0) + 1
        if delivery.session:
            key = (delivery.harness, delivery.session)
            given.setdefault(key, set()).update(delivery.ids)
            last[key] = max(last.get(key, 0), delivery.at_ms)
    verdicts: dict[tuple[str, str], str] = {}
    for run in runs:
        for session in run.sessions:
            verdicts.setdefault((session.harness, session.session_id or ""), session.verdict)
    own: dict[tuple[str, str], list[Listed]] = {}
    for note in notes:
        for key in keys_of(note.meta):
            own.setdefault(key, []).append(note)
    newest = sorted((key for key in last if key[1]), key=lambda key: (-last[key], key))
    scopes = {key: scope_of(tuple(dict.fromkeys(places.get(key, ())))) for key in newest}
    cwds = {key: next(iter(places.get(key, ())), None) for key in newest}
    return tuple(
        SessionLine(
            *key,
            last_at_ms=last[key],
            scope=scope,
            cwd=cwds[key],
            branch=branches.get(key) or None,
            first_words=words.get(key)
            or (first_words_of(latest[key]) if key in latest and key not in verdicts else ""),
            captures=counts.get(key, 0),
            verdict=verdicts.get(key, ""),
            notes=named(own.get(key, ())),
            told=sum(told.get(each.meta.id, 0) for each in own.get(key, ())),
            used=sum(reads_of(each.meta, totals).count for each in own.get(key, ())),
            given=len(given.get(key, ())),
            reopen=resume_command(*key, cwds[key]),
        )
        for key in newest
        if (scope := scopes[key]) is not None
    )
