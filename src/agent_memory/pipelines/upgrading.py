"""Asking a command to look again at what the built-in consolidated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.command.presets import BUILTIN
from agent_memory.domain.entry import Listing, Source
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import (
    UPGRADE_EVENT,
    Context,
    InboxEntry,
    SessionRetrieval,
    retrieval_of,
)
from agent_memory.domain.queue import KnownSessions
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error, InboxEntryInvalid
from agent_memory.ports import Clock, Inbox, SessionMarks, Store
from agent_memory.results import sealed
from agent_memory.wording import describe

Places = Mapping[tuple[Harness, str], Source]
"""By harness and session id, a source that says where the session took place."""


@frozen
class Upgrades:
    """Which sessions a command is to look at again."""

    entries: tuple[InboxEntry, ...] = ()
    """Oldest first; they do not wait in the inbox yet."""
    waiting: int = 0
    """How many wait there already."""
    warnings: tuple[str, ...] = ()


def plan_upgrades(inbox: Inbox, marks: SessionMarks, store: Store, clock: Clock) -> Result[Upgrades, Error]:
    """The sessions that the built-in consolidated last. Those given up are left out: `--retry-failed` brings them back.
    Nothing is written."""
    return Result.do(
        _upgrades(known, marks, _places(live), clock.now_ms()) for known in inbox.known() for live in store.list()
    )


def ask_again(inbox: Inbox, upgrades: Upgrades) -> Result[None, Error]:
    """Put them into the inbox, where they wait behind all others, over as many days as the calls allow."""
    for entry in upgrades.entries:
        match sealed(inbox.put(entry).lash(partial(_without_place, inbox, entry))):
            case Failure(error):
                return Failure(error)
            case Success(_):
                continue
    return Success(None)


def _without_place(inbox: Inbox, entry: InboxEntry, error: Error) -> Result[str, Error]:
    """What a note says of its place may have been edited into something that no entry may hold."""
    if not isinstance(error, InboxEntryInvalid):
        return Failure(error)
    return inbox.put(evolve(entry, context=Context(event=UPGRADE_EVENT)))


def _upgrades(known: KnownSessions, marks: SessionMarks, places: Places, now_ms: int) -> Upgrades:
    entries: list[InboxEntry] = []
    warnings: list[str] = []
    waiting = 0
    # What was given up may name a transcript of the session, at the end of its key.
    given_up = {key for each in known.given_up_at_ms for key in (each, each.rpartition(" ")[0])}
    for each in marks.all():
        match sealed(each):
            case Failure(error):
                warnings.append(describe(error))
            case Success(mark):
                retrieval = retrieval_of(mark.harness, mark.session_id) if mark.agent_name == BUILTIN else None
                if retrieval is None:
                    continue
                entry = _entry(mark, retrieval, places, now_ms)
                key = queue_key(entry, "")
                waiting += key in known.asked_again
                if key not in known.asked_again and key not in given_up:
                    entries.append(entry)
    return Upgrades(tuple(sorted(entries, key=lambda entry: entry.at_ms)), waiting, tuple(warnings))


def _entry(mark: SessionMark, retrieval: SessionRetrieval, places: Places, now_ms: int) -> InboxEntry:
    place = places.get((mark.harness, mark.session_id))
    context = Context(
        cwd=None if place is None else place.cwd, repo=None if place is None else place.repo, event=UPGRADE_EVENT
    )
    at_ms = now_ms if mark.last_at_ms is None else mark.last_at_ms
    return InboxEntry(at_ms, mark.harness, retrieval, context)


def _places(live: Listing) -> Places:
    sources = (source for each in live.entries for source in each.meta.sources)
    return {(source.harness, source.thread_id): source for source in sources if source.thread_id and source.cwd}
