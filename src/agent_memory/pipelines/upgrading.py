"""Asking a command to look again at what the built-in consolidated."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen
from returns.result import Failure

from agent_memory.domain.command import BUILTIN
from agent_memory.domain.entry import Listing, Source
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import (
    UPGRADE_EVENT,
    Context,
    InboxEntry,
    SessionRetrieval,
    retrieval_of,
)
from agent_memory.domain.queueing.fold import queue_key
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import InboxEntryInvalid
from agent_memory.ports import Clock, Inbox, SessionMarks, Store
from agent_memory.results import as_result, unwrap, warning_of

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


@as_result
def plan_upgrades(inbox: Inbox, marks: SessionMarks, store: Store, clock: Clock) -> Upgrades:
    """The sessions that the built-in consolidated last. Those given up are left out: `--retry-failed` brings them back.
    Nothing is written."""
    known, places, now_ms = unwrap(inbox.known()), _places(unwrap(store.list())), clock.now_ms()
    entries: list[InboxEntry] = []
    warnings: list[str] = []
    waiting = 0
    # What was given up may name a transcript of the session, at the end of its key.
    given_up = {key for each in known.given_up_at_ms for key in (each, each.rpartition(" ")[0])}
    for each in marks.all():
        if isinstance(each, Failure):
            warnings += warning_of(each)
            continue
        mark = each.unwrap()
        retrieval = retrieval_of(mark.harness, mark.session_id) if mark.agent_name == BUILTIN else None
        if retrieval is None:
            continue
        entry = _entry(mark, retrieval, places, now_ms)
        key = queue_key(entry, "")
        waiting += key in known.asked_again
        if key not in known.asked_again and key not in given_up:
            entries.append(entry)
    return Upgrades(tuple(sorted(entries, key=lambda entry: entry.at_ms)), waiting, tuple(warnings))


@as_result
def ask_again(inbox: Inbox, upgrades: Upgrades) -> None:
    """Put them into the inbox, where they wait behind all others, over as many days as the calls allow."""
    for entry in upgrades.entries:
        try:
            unwrap(inbox.put(entry))
        except (
            InboxEntryInvalid
        ):  # what a note says of its place may have been edited into something that no entry may hold
            unwrap(inbox.put(evolve(entry, context=Context(event=UPGRADE_EVENT))))


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
