"""The story of `memory handoff`: the session is found and read, put into words, and kept as its one handoff note."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Change, Create, Replace
from agent_memory.domain.entry import Listing, MemoryEntry, Meta, Source, StoredEntry
from agent_memory.domain.forgetting.tombstone import EntryTombstone, forgotten_note
from agent_memory.domain.handing_over.handover import Handover, handover_of
from agent_memory.domain.handing_over.own_note import is_handoff_of
from agent_memory.domain.handing_over.words import handover_body
from agent_memory.domain.history import History, SessionMark, Turn
from agent_memory.domain.inbox_entry import InboxEntry, session_id_of
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.planning.drafts import stored_body, stored_description, stored_tags, stored_title
from agent_memory.domain.planning.origin import Claim, origin_of
from agent_memory.domain.planning.provenance import with_source
from agent_memory.domain.planning.taken_ids import taken_ids
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.transcripts.redacted_history import redact_history
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Kind, Status
from agent_memory.errors import Error, HistoryUnavailable, SessionForgotten, UsageInvalid
from agent_memory.ports import Clock, HistorySource, KeptHistories, Places, Store, Tombstones
from agent_memory.recorded_writes import RecordedWrites
from agent_memory.results import sealed

_MOST_FETCHES = 256
"""Of about 16 MiB each."""
_HEAD_TURNS = 200
"""Of a session that needs several fetches: what it began with, and its last part."""
_MOST_TRIED = 20
"""Of the newest sessions of a place, should some be automated, empty or gone."""


@frozen
class HandingOverIo:
    """All that the story acts on."""

    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    kept: KeptHistories
    tombstones: Tombstones
    places: Places
    store: Store
    writes: RecordedWrites
    clock: Clock
    recent: Callable[[], Iterator[Result[InboxEntry, Error]]]
    """The sessions that are known, the newest first, a session as often as it was captured; an error where one cannot be
    looked at."""
    handoff_days: int = 7


@frozen
class Taken:
    """A session as it was read."""

    entry: InboxEntry
    history: History
    """Redacted."""
    handover: Handover


@frozen
class Kept:
    """What became of the note."""

    id: str | None
    why_not: str = ""


# -- reading ----------------------------------------------------------------------------------------------------------


def take_named(
    io: HandingOverIo, session_id: str, harness: Harness | None, guesses: Sequence[InboxEntry]
) -> Result[Taken, Error]:
    """The session with this id, by its newest capture, else by the first of `guesses` that can be read. SessionForgotten,
    or why it cannot be read; UsageInvalid where nobody asked for anything in it."""
    known: InboxEntry | None = None
    trouble: Error = UsageInvalid(f"Nothing is known of a session {session_id}", "Name its harness with --harness.")
    for each in io.recent():
        match sealed(each):
            case Failure(error):
                trouble = error  # what cannot be looked at may be a later capture of it, which says no more (P6)
            case Success(entry) if _is(entry, session_id, harness):
                known = entry
                break
            case Success(_):
                pass
    for entry in guesses if known is None else (known,):
        match sealed(_take(io, entry)):
            case Success(taken):
                return _with_work(taken)
            case Failure(HistoryUnavailable()) if len(guesses) > 1 and known is None:
                continue
            case Failure(error):
                trouble = error
                break
    return Failure(trouble)


def take_newest(io: HandingOverIo, scope: str, harness: Harness | None) -> Result[Taken, Error]:
    """The newest session of the place that can be read and in which a person asked for something."""
    tried: dict[tuple[str, str | None], None] = {}
    trouble: Error | None = None
    for each in io.recent():
        if isinstance(each, Failure):
            return each  # it may be the newest (P6)
        entry = each.unwrap()
        key = (entry.harness.value, session_id_of(entry))
        if key in tried or (harness is not None and entry.harness is not harness) or _scope_of(io, entry) != scope:
            continue
        tried[key] = None
        match sealed(_take(io, entry)):
            case Success(taken) if taken is not None:
                return Success(taken)
            case Success(_):
                pass
            case Failure(error):
                trouble = trouble or error
        if len(tried) == _MOST_TRIED:
            break
    none = UsageInvalid("No session of this place is known that could be handed over", "Name one with --session.")
    return Failure(trouble or none)


def _is(entry: InboxEntry, session_id: str, harness: Harness | None) -> bool:
    return session_id_of(entry) == session_id and harness in (None, entry.harness)


def _scope_of(io: HandingOverIo, entry: InboxEntry) -> str:
    return redact_path(entry.context.repo or "") or io.places.scope_of(entry.context.cwd)


def _with_work(taken: Taken | None) -> Result[Taken, Error]:
    if taken is None:
        return Failure(UsageInvalid("Nobody asked for anything in that session, so there is nothing to hand over"))
    return Success(taken)


def _take(io: HandingOverIo, entry: InboxEntry) -> Result[Taken | None, Error]:
    """The session; None where no person worked in it."""
    session_id = session_id_of(entry) or ""

    def taken(history: History) -> Taken | None:
        if history.own_call or history.automated:
            return None
        redacted = redact_history(history)
        handover = handover_of(redacted, io.clock.now_ms())
        return None if handover is None else Taken(entry, redacted, handover)

    match sealed(io.tombstones.of_session(entry.harness, session_id)):
        case Failure(error):
            return Failure(error)
        case Success(tombstone):
            if tombstone is not None:
                return Failure(SessionForgotten(session_id, tombstone.at_ms))
            return _history(io, entry, session_id).map(taken)


def _history(io: HandingOverIo, entry: InboxEntry, session_id: str) -> Result[History, Error]:
    """From its transcript; where the harness has removed that, what was kept of it."""
    source = io.histories.get(entry.retrieval.method)
    if source is None:
        reason = f"this version has no way to read {entry.retrieval.method} yet"
        return Failure(HistoryUnavailable(session_id, reason))
    match sealed(_whole(source, entry)):
        case Failure(HistoryUnavailable() as absent):
            return io.kept.fetch(entry.harness, session_id, None).bind(
                lambda kept: Failure(absent) if kept is None else Success(kept)
            )
        case Failure(error):
            return Failure(error)
        case Success(history):
            return Success(history)


def _whole(source: HistorySource, entry: InboxEntry) -> Result[History, Error]:
    """The history; of a very long one the beginning and the last part."""
    fetched = source.fetch(entry, None)
    head = fetched.map(lambda history: history.turns[:_HEAD_TURNS]).value_or(())
    for _ in range(_MOST_FETCHES):
        if isinstance(fetched, Failure) or not fetched.unwrap().remaining:
            break
        fetched = source.fetch(entry, _mark_after(fetched.unwrap()))
    return fetched.map(partial(_after, head))


def _after(head: Sequence[Turn], history: History) -> History:
    before = (turn for turn in head if not history.turns or turn.number < history.turns[0].number)
    return evolve(history, turns=(*before, *history.turns))


def _mark_after(history: History) -> SessionMark:
    last = history.turns[-1]
    return SessionMark(history.harness, history.session_id, last.record_id, last.at_ms, last.number, True, "handoff")


# -- keeping ----------------------------------------------------------------------------------------------------------


def keep_handover(io: HandingOverIo, taken: Taken) -> Result[Kept, Error]:
    """The session's handoff note: a new one, or the one that it has, brought up to date in place. None for a session that
    ended longer ago than a handoff lives, and for one whose note a person pinned or had forgotten."""
    expires_at_ms = _expires_at_ms(io, taken)
    if expires_at_ms <= io.clock.now_ms():
        return Success(Kept(None, f"it ended more than {io.handoff_days} days ago"))

    def kept(live: Listing, archive: Listing, forgotten: tuple[EntryTombstone, ...]) -> Result[Kept, Error]:
        title, body = stored_title(taken.handover.handoff.title), stored_body(handover_body(taken.handover))
        if forgotten_note(forgotten, title, body, _ended_at_ms(io, taken)) is not None:
            return Success(Kept(None, "its note was forgotten"))
        whose = (taken.handover.harness, taken.handover.session_id)
        known = next((each for each in live.entries if is_handoff_of(each.meta, *whose)), None)
        if known is None:
            id = mint_id(title, _ended_at_ms(io, taken), taken_ids(live, archive))
            return _written(io, Create(MemoryEntry(_new_meta(io, taken, id, title), body)), id)
        return io.store.read(known.meta.id).bind(lambda stored: _renewed(io, taken, stored, title, body))

    with io.writes.locks.write() as held:  # or two that hand over the same session at once make two notes of it
        return (
            held.bind(lambda _: io.store.list())
            .bind(lambda live: io.store.list(archived=True).map(lambda archive: (live, archive)))
            .bind(lambda lists: io.tombstones.of_entries().bind(lambda forgotten: kept(*lists, forgotten)))
        )


def _renewed(io: HandingOverIo, taken: Taken, stored: StoredEntry, title: str, body: str) -> Result[Kept, Error]:
    if stored.meta.pinned:
        return Success(Kept(None, f"{stored.meta.id} is pinned, and stays as it is"))
    if (stored.meta.title, stored.body) == (title, body):
        return Success(Kept(stored.meta.id))
    fresh = _new_meta(io, taken, stored.meta.id, title)
    meta = evolve(
        stored.meta,
        title=title,
        description=fresh.description,
        tags=fresh.tags,
        origin=max(stored.meta.origin, fresh.origin, key=list(type(fresh.origin)).index),
        updated_at_ms=fresh.updated_at_ms,
        expires_at_ms=fresh.expires_at_ms,
        sources=with_source(stored.meta.sources, fresh.sources[0]),
    )
    return _written(io, Replace(MemoryEntry(meta, body), stored.listed.content_hash), stored.meta.id)


def _written(io: HandingOverIo, change: Change, id: str) -> Result[Kept, Error]:
    subject = f"handoff: {change.entry.meta.title}" if isinstance(change, Create | Replace) else "handoff"
    return io.writes.apply(change, id, subject).map(lambda _: Kept(id))


def _new_meta(io: HandingOverIo, taken: Taken, id: str, title: str) -> Meta:
    handover, scope = taken.handover, _scope_of(io, taken.entry)
    body = handover_body(handover)
    turns = handover.handoff.turns
    claim = Claim(title, f"{title}\n{body}", f"{scope} {handover.cwd or ''}")
    return Meta(
        id=id,
        title=title,
        description=stored_description(handover.handoff.description),
        kind=Kind.HANDOFF,
        tags=stored_tags(handover.tags),
        status=Status.CAPTURED,
        origin=origin_of(claim, turns, taken.history),
        scope=scope,
        created_at_ms=_ended_at_ms(io, taken),
        updated_at_ms=io.clock.now_ms(),
        expires_at_ms=_expires_at_ms(io, taken),
        sources=(
            Source(
                handover.harness,
                handover.session_id,
                repo=None if scope == GLOBAL_SCOPE else scope,
                cwd=handover.cwd,
                agent=handover.agent,
                turns=turns,
            ),
        ),
    )


def _ended_at_ms(io: HandingOverIo, taken: Taken) -> int:
    ended = taken.handover.ended_at_ms
    return taken.entry.at_ms if ended is None or ended < 0 else ended


def _expires_at_ms(io: HandingOverIo, taken: Taken) -> int:
    return _ended_at_ms(io, taken) + io.handoff_days * DAY_MS
