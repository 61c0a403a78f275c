"""`memory handoff`: finds and reads the session, puts it into words, and keeps it as its one handoff note."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen
from returns.result import Failure, Result

from agent_memory.capture.switches import EXCLUDED, Switches, was_paused
from agent_memory.errors import Error, HistoryUnavailable, SessionForgotten, SwitchedOff, UsageInvalid
from agent_memory.extraction.handoff import Handover, handover_body, handover_of, is_handoff_of
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Kind, MemoryEntry, Meta, Origin, Source, Status, least_trusted
from agent_memory.redaction.redact import redact_path
from agent_memory.results import as_result, unwrap
from agent_memory.rules.change import Change
from agent_memory.rules.drafts import stored_body, stored_description, stored_tags, stored_title, taken_ids
from agent_memory.rules.forgotten import forgotten_note
from agent_memory.rules.origin import Claim, cleared, origin_of, with_source
from agent_memory.session.history import History, SessionMark
from agent_memory.session.queue import Context, InboxEntry
from agent_memory.session.windows import redact_history
from agent_memory.text.ids import mint_id
from agent_memory.text.instants import DAY_MS

if TYPE_CHECKING:
    from agent_memory.care.tombstones import Tombstones
    from agent_memory.ports import Clock, HistorySource
    from agent_memory.store.kept_histories_files import KeptHistories
    from agent_memory.store.recorded_writes import RecordedWrites


@frozen
class HandingOverIo:
    histories: HistorySource
    """By retrieval method."""
    kept: KeptHistories
    tombstones: Tombstones
    switches: Callable[[], Switches]
    holds_back: bool = field(default=False, kw_only=True)
    scope_of: Callable[[str | None], str]
    writes: RecordedWrites
    clock: Clock
    recent: Callable[[], Iterator[Result[InboxEntry, Error]]]
    """The known sessions, newest first, each as often as it was captured; an error where one cannot be looked at."""
    handoff_days: int = 7
    recovers: bool = False
    """Whether the last messages of any session are wanted, and not only of one that was cut off."""
    rested_by_ms: int | None = None
    """The newest session that is meant ended by then: the caller's own is still at work."""


@frozen
class Taken:
    entry: InboxEntry
    history: History
    """Redacted."""
    handover: Handover

    @property
    def ended_at_ms(self) -> int:
        ended = self.handover.ended_at_ms
        return self.entry.at_ms if ended is None or ended < 0 else ended


@frozen
class Kept:
    id: str | None
    why_not: str = ""


# -- reading ----------------------------------------------------------------------------------------------------------


@as_result
def take_named(io: HandingOverIo, session_id: str, harness: Harness | None, guesses: Sequence[InboxEntry]) -> Taken:
    """Returns the session with this id, by its newest capture, else by the first of `guesses` that can be read.
    SessionForgotten, or the reason why it cannot be read; UsageInvalid where nobody asked for anything in it."""
    known: InboxEntry | None = None
    trouble: Error = UsageInvalid(f"Nothing is known of a session {session_id}", "Name its harness with --harness.")
    for each in io.recent():
        if isinstance(each, Failure):
            # An entry that cannot be read may be a later capture of it, which says no more (P6).
            trouble = each.failure()
            continue
        entry = each.unwrap()
        if entry.retrieval.session_id == session_id and harness in (None, entry.harness):
            known = entry
            break
    tried = guesses if known is None else (known,)
    for entry in tried:
        try:
            taken = _take(io, entry)
        except HistoryUnavailable as absent:
            trouble = absent if len(tried) == 1 else trouble
            continue
        if taken is None:
            raise UsageInvalid("Nobody asked for anything in that session, so there is nothing to hand over")
        return taken
    raise trouble


@as_result
def take_newest(io: HandingOverIo, scope: str, harness: Harness | None) -> Taken:
    """Returns the newest session of the place that can be read and in which a person asked for something."""
    tried: set[tuple[str, str | None]] = set()
    trouble: Error | None = None
    older: Taken | None = None
    for each in io.recent():
        entry = unwrap(each)  # an entry that cannot be read may be the newest (P6)
        key = (entry.harness.value, entry.retrieval.session_id)
        is_elsewhere = bool(entry.context.cwd or entry.context.repo) and _scope_of(io, entry) != scope
        if key in tried or (harness is not None and entry.harness is not harness) or is_elsewhere:
            continue
        tried.add(key)
        try:
            taken = _take(io, entry, scope)
        except Error as error:
            trouble = trouble or error
        else:
            if taken is not None and not (io.rested_by_ms is not None and taken.ended_at_ms > io.rested_by_ms):
                if taken.handover.exchanges or not io.recovers:
                    return taken
                older = older or taken  # all files are new where a home was copied
        # Of the newest sessions of a place some may be automated, empty or gone.
        if len(tried) == 20:
            break
    if older is not None:
        return older
    raise trouble or UsageInvalid("No session here can be handed over", "Name one by its id.")


def _scope_of(io: HandingOverIo, entry: InboxEntry) -> str:
    return redact_path(entry.context.repo or "") or io.scope_of(entry.context.cwd)


def _take(io: HandingOverIo, entry: InboxEntry, scope: str | None = None) -> Taken | None:
    """Returns the session; None if no person worked in it, or it was elsewhere than asked for."""
    history = _heard(io, entry)
    if history is None:
        return None
    if not (entry.context.cwd or entry.context.repo):  # it was found by its transcript, which says where it was
        entry = evolve(entry, context=Context(cwd=history.cwd, branch=history.branch))
    if scope not in (None, _scope_of(io, entry)):
        return None
    redacted = redact_history(history)
    handover = handover_of(redacted, io.clock.now_ms(), recovers=io.recovers)
    return None if handover is None else Taken(entry, redacted, handover)


@as_result
def history_beyond(io: HandingOverIo, entry: InboxEntry, at_ms: int) -> History | None:
    """Returns the redacted history of a session: what was kept of it if that reaches beyond this instant, since reading
    that takes a fiftieth of the time, else its transcript. None if no person worked in it."""
    kept = io.kept.fetch(entry.harness, entry.retrieval.session_id or "", None).value_or(None)
    if kept is not None and (kept.ended_at_ms or 0) > at_ms:
        return _heard(io, entry, kept)
    history = _heard(io, entry)
    return history and redact_history(history)


def _heard(io: HandingOverIo, entry: InboxEntry, kept: History | None = None) -> History | None:
    """Returns what was said in a session while memory was not paused; None if no person worked in it."""
    session_id = entry.retrieval.session_id or ""
    tombstone = unwrap(io.tombstones.of_session(entry.harness, session_id))
    if tombstone is not None:
        raise SessionForgotten(session_id, tombstone.at_ms)
    history = kept or _history(io, entry, session_id)
    if history.own_call or history.automated:
        return None
    where, switches = (entry.context.cwd or history.cwd, entry.context.repo or ""), io.switches()
    if (off := switches.off(*where)) is not None and off.kind == EXCLUDED:
        raise SwitchedOff(off.sentence)
    pauses = switches.pauses_of(*where)
    heard = (turn for turn in history.turns if not was_paused(pauses, turn.at_ms or entry.at_ms))
    return evolve(history, turns=tuple(heard))


def _history(io: HandingOverIo, entry: InboxEntry, session_id: str) -> History:
    """Returns the history from the transcript (for a very long one the beginning and the last part) or, if the harness
    has removed that, what was kept of it."""
    try:
        history = unwrap(io.histories.fetch(entry, None))
        head = history.turns[
            :200
        ]  # of a session that needs several fetches the first turns are kept with the last part
        for _ in range(256):  # fetches of about 16 MiB each
            if not history.remaining:
                break
            last = history.turns[-1]
            ends = (last.record_id, last.at_ms, last.number)
            mark = SessionMark(history.harness, history.session_id, *ends, tools_answered=True, agent_name="handoff")
            history = unwrap(io.histories.fetch(entry, mark))
    except HistoryUnavailable:
        kept = unwrap(io.kept.fetch(entry.harness, session_id, None))
        if kept is None:
            raise
        return kept
    before = (turn for turn in head if not history.turns or turn.number < history.turns[0].number)
    return evolve(history, turns=(*before, *history.turns))


# -- keeping ----------------------------------------------------------------------------------------------------------


@as_result
def keep_handover(io: HandingOverIo, taken: Taken, *, unasked: bool = False) -> Kept:
    """Returns the session's handoff note: a new one, or the present one updated in place. None for a session that ended
    longer ago than a handoff lives, for one whose note a person pinned or forgot, and `unasked` for a first note of one
    in which nothing is left to take up."""
    expires_at_ms = taken.ended_at_ms + io.handoff_days * DAY_MS
    if expires_at_ms <= io.clock.now_ms():
        return Kept(None, f"it ended more than {io.handoff_days} days ago")
    title, body = stored_title(taken.handover.handoff.title), stored_body(handover_body(taken.handover))
    with io.writes.locks.write():  # or two that hand over the same session at once would make two notes
        live, archive = unwrap(io.writes.store.listings())
        if forgotten_note(unwrap(io.tombstones.of_entries()), title, body, taken.ended_at_ms) is not None:
            return Kept(None, "its note was forgotten")
        if any(each.is_said_by(title, body) for each in unwrap(io.tombstones.rejected())):
            return Kept(None, "you rejected its note")
        whose = (taken.handover.harness, taken.handover.session_id)
        known = next((each for each in live.entries if is_handoff_of(each.meta, *whose)), None)
        if known is None and unasked and not taken.handover.is_worth_keeping:
            return Kept(None, "what was asked in it was done, and nothing is left to take up")
        if known is None:
            id = mint_id(title, taken.ended_at_ms, taken_ids(live, archive))
            change = Change.of(MemoryEntry(_new_meta(io, taken, id, title, expires_at_ms), body))
        else:
            id, stored = known.meta.id, unwrap(io.writes.store.read(known.meta.id))
            if stored.meta.pinned:
                return Kept(None, f"{id} is pinned, and stays as it is")
            if (stored.meta.title, stored.body) == (title, body):
                return Kept(id)
            fresh = _new_meta(io, taken, id, title, expires_at_ms)
            meta = evolve(
                stored.meta,
                title=fresh.title,
                description=fresh.description,
                tags=fresh.tags,
                origin=least_trusted([stored.meta.origin, fresh.origin]),
                cleared=fresh.cleared,
                withheld=stored.meta.withheld or fresh.withheld,
                updated_at_ms=fresh.updated_at_ms,
                expires_at_ms=fresh.expires_at_ms,
                sources=with_source(stored.meta.sources, fresh.sources[0]),
            )
            change = Change.of(MemoryEntry(meta, body), stored.listed.content_hash)
        io.writes.apply(f"handoff: {title}", change)
        return Kept(id)


def _new_meta(io: HandingOverIo, taken: Taken, id: str, title: str, expires_at_ms: int) -> Meta:
    handover, scope = taken.handover, _scope_of(io, taken.entry)
    turns = handover.handoff.turns
    claim = Claim(title, f"{title}\n{handover_body(handover)}", f"{scope} {handover.cwd or ''}")
    source = Source(
        handover.harness,
        handover.session_id,
        repo=None if scope == GLOBAL_SCOPE else scope,
        cwd=handover.cwd,
        agent=handover.agent,
        turns=turns,
        branch=handover.branch,
    )
    return Meta(
        id=id,
        title=title,
        description=stored_description(handover.handoff.description),
        kind=Kind.HANDOFF,
        tags=stored_tags(handover.tags),
        status=Status.CAPTURED,
        origin=least_trusted((Origin.AGENT, origin_of(claim, turns, taken.history))),  # the agent tells what it did
        cleared=cleared(claim, taken.history),
        scope=scope,
        created_at_ms=taken.ended_at_ms,
        updated_at_ms=io.clock.now_ms(),
        expires_at_ms=expires_at_ms,
        withheld=io.holds_back,
        sources=(source,),
    )
