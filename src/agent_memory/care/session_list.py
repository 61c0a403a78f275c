"""`memory sessions`: the sessions that memory knows, what was captured of each, what notes it left, and what became of these.
What inbox entries and reports tell comes from the database, so that only new ones are read."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from attrs import frozen

from agent_memory.capture.hook_files import FAILED, INBOX, PROCESSED, is_entry_name
from agent_memory.errors import InboxEntryInvalid
from agent_memory.files.paths import directory_in, look_of, subdirectories
from agent_memory.note.note import Listed, Meta, Origin, Usage, reads_of
from agent_memory.recall.delivery_log import Delivery
from agent_memory.session.resuming import resume_command
from agent_memory.store.note_files import RUNS
from agent_memory.store.session_index import IndexedPart, SessionIndex, statuses_in

Key = tuple[str, str]
"""Harness and session id."""

MOST_OPENED = 5_000
"""How many entries are looked at, the newest by name."""


@frozen
class NamedNote:
    """A note to which another one, or a session, leads."""

    id: str
    title: str
    archived: bool
    origin: Origin


def named(notes: Iterable[Listed]) -> tuple[NamedNote, ...]:
    return tuple([NamedNote(each.meta.id, each.meta.title, each.archived, each.meta.origin) for each in notes])


def keys_of(meta: Meta) -> tuple[tuple[str, str], ...]:
    """Returns harness and id of each session among a note's sources."""
    return tuple([(source.harness, source.thread_id) for source in meta.sources if source.thread_id])


@frozen
class Captured:
    """What an inbox entry tells of its session."""

    path: str
    """Relative to the root."""
    harness: str
    session_id: str
    at_ms: int
    cwd: str | None
    branch: str | None


def told_by_files(index: SessionIndex) -> tuple[list[Captured], dict[Key, str]]:
    """Returns the captures of sessions, newest first, whatever their outcome; and the verdict of the newest run on each
    session. Raises StoreIo for an entry that cannot be read, which may be the newest (P6)."""
    root, reports = index.database.root, dict[str, int]()
    found = [
        (name, f"{place}/{name}", look_of(status))
        for place in (INBOX, PROCESSED, FAILED)
        for name, status in statuses_in(directory_in(root, place), is_entry_name)
    ]
    entries = {path: look for _, path, look in sorted(found, reverse=True)[:MOST_OPENED]}
    for name in reversed(subdirectories(f"{root}/{RUNS}")):
        with suppress(OSError):
            path = f"{RUNS}/{name}/report.json"
            reports[path] = look_of(os.lstat(f"{root}/{path}"))
    told, verdicts = index.told(entries | reports, _told_by), dict[Key, str]()
    for harness, session_id, verdict in (each for path in reports for each in told.get(path, ())):
        verdicts.setdefault((harness, session_id), verdict)
    return [Captured(path, *each) for path in entries for each in told.get(path, ())], verdicts


def _told_by(root: str, path: str) -> list[Any] | None:
    """Returns what one file tells; None if it may tell more the next time."""
    from agent_memory.capture.inbox_files import entry_in  # loads much, and most commands find nothing new
    from agent_memory.session.queue import FileSnapshot, InlineNote
    from agent_memory.store.run_files import RunLog

    place, _, name = path.rpartition("/")
    if place.startswith(f"{RUNS}/"):
        run = RunLog(root).run(place.removeprefix(f"{RUNS}/"))
        if run is None or run.problems:
            return None
        return [[each.harness, each.session_id or "", each.verdict] for each in run.sessions]
    try:
        entry = entry_in(root, place, name)
    except InboxEntryInvalid:
        return []
    if entry is None or isinstance(entry.retrieval, InlineNote | FileSnapshot):
        return None if entry is None else []
    return [[entry.harness, entry.retrieval.session_id or "", entry.at_ms, entry.context.cwd, entry.context.branch]]


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
    captured: Iterable[Captured],
    verdicts: Mapping[Key, str],
    kept: Iterable[IndexedPart],
    scope_of: Callable[..., str | None],
    notes: Iterable[Listed],
    deliveries: Iterable[Delivery],
    totals: Mapping[str, Usage],
    first_words_of: Callable[[Captured], str],
    is_wanted: Callable[[str, str, int], bool],
) -> tuple[SessionLine, ...]:
    """Returns the sessions that were captured, given notes or kept, the newest first. `captured` comes newest first;
    `scope_of` returns None for the directories, or else the scope by its deliveries, of a session that is not shown;
    `first_words_of` is asked about those that still wait."""
    captures, parts = defaultdict[Key, list[Captured]](list), defaultdict[Key, list[IndexedPart]](list)
    given, own = defaultdict[Key, list[Delivery]](list), defaultdict[Key, list[Listed]](list)
    for capture in captured:
        captures[capture.harness, capture.session_id].append(capture)
    for part in kept:
        parts[part.harness, part.session_id].append(part)
    told = Counter[str]()
    for delivery in deliveries:
        told.update(delivery.ids)
        given[delivery.harness, delivery.session].append(delivery)
    for note in notes:
        for key in keys_of(note.meta):
            own[key].append(note)

    def last_at_ms(key: Key) -> int:
        seen = [each.at_ms for each in captures[key][:1]] or [each.ended_at_ms for each in parts[key]]
        return max(seen + [each.at_ms for each in given[key]])

    known = {key: last_at_ms(key) for key in {**captures, **parts, **given} if key[1]}
    lines = list[SessionLine]()
    for key in sorted(known, key=lambda each: (-known[each], each)):
        its, its_parts, deliveries, its_notes = captures[key], parts[key], given[key], own[key]
        cwds = [each.cwd for each in its if each.cwd][:1]
        places = tuple(dict.fromkeys(cwds + [place for part in its_parts for place in part.places]))
        scope = scope_of(places, next((each.scope for each in reversed(deliveries) if each.scope), ""))
        if scope is None or not is_wanted(scope, key[0], known[key]):
            continue
        words = next((part.first_words for part in its_parts if part.first_words), "")
        if not words and its and key not in verdicts:
            words = first_words_of(its[0])
        cwd = next(iter(places), None)
        line = SessionLine(
            *key,
            last_at_ms=known[key],
            scope=scope,
            cwd=cwd,
            branch=next(filter(None, [*(each.branch for each in its), *(part.branch for part in its_parts)]), None),
            first_words=words,
            captures=len(its),
            verdict=verdicts.get(key, ""),
            notes=named(its_notes),
            told=sum([told[each.meta.id] for each in its_notes]),
            used=sum([reads_of(each.meta, totals).count for each in its_notes]),
            given=len({id for each in deliveries for id in each.ids}),
            reopen=resume_command(*key, cwd),
        )
        lines.append(line)
    return tuple(lines)
