"""One past session looked at: whether there is something in it that memory has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import evolve, field, frozen

from agent_memory.domain.found_session import FoundSession, SeenSession, Sight, Sighted, after_of
from agent_memory.domain.history import COPY, History, Role, SessionMark, Turn
from agent_memory.domain.inbox_entry import Context, InboxEntry
from agent_memory.domain.queue import KnownSessions
from agent_memory.domain.queueing.fold import queue_key, session_key
from agent_memory.domain.queueing.redacted_entry import as_consumed
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.windows import turn_chars
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import ERRORS, HistoryUnavailable
from agent_memory.ports import Clock, HistorySource, Inbox, SeenSessions, SessionFinder, SessionMarks, Tombstones
from agent_memory.results import unwrap
from agent_memory.wording import describe

UNIQUE_ID_CHARS = 16
"""A shorter record id may be a count, which another session has too."""


@frozen
class BackfillIo:
    """The adapters, and the few facts about this machine that steps need."""

    finders: Mapping[Harness, SessionFinder]
    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    inbox: Inbox
    marks: SessionMarks
    clock: Clock
    calls_for: Callable[[History], int]
    """How often the agent command is asked about a history."""
    repo_of: Callable[[str], str | None]
    """The scope key of a directory; None where that is `global`."""
    is_private: Callable[[str], bool]
    """Whether a directory is one in which agent commands of ours run (P23)."""
    tombstones: Tombstones | None = None
    seen: SeenSessions | None = None
    """What was seen in sessions before; None where each is read again."""
    asked: str = ""
    """What `calls_for` depends on beside the history."""
    progress: Callable[[str], object] = str


@frozen
class Looking:
    """What all sessions are compared with. `seen` grows with each session that is looked at."""

    known: KnownSessions
    event: str
    """Of the inbox entries that come of it."""
    since_ms: int | None = None
    ends: frozenset[tuple[Harness, str]] = frozenset()
    """The records at which consolidated sessions end, of harnesses whose copies of a session share its record ids."""
    seen: IdSet = field(factory=IdSet)
    """Records of the sessions looked at so far."""
    first: dict[tuple[Harness, str], str | None] = field(factory=dict[tuple[Harness, str], "str | None"])
    """The transcript of each session that was looked at first."""


def is_unique(turn: Turn) -> bool:
    """Whether no other session has the record id by chance."""
    return len(turn.record_id) >= UNIQUE_ID_CHARS


def look_at(io: BackfillIo, found: FoundSession, looking: Looking) -> Sighted:
    """What there is to be done about a session. Nothing is written, and its text is not kept."""
    entry = InboxEntry(found.changed_at_ms, found.harness, found.retrieval, Context(event=looking.event))
    looking.first.setdefault((found.harness, found.session_id), found.path)
    keys = (queue_key(entry, ""), session_key(entry, ""))  # the second is one that names no transcript
    if any(key in looking.known.waiting for key in keys):
        return Sighted(found, "waiting")
    if max(looking.known.given_up_at_ms.get(key, -1) for key in keys) >= found.changed_at_ms:
        return Sighted(found, "given-up")
    try:
        # A person may have had it forgotten (P28).
        if io.tombstones is not None and unwrap(io.tombstones.of_session(found.harness, found.session_id)) is not None:
            return Sighted(found, "forgotten")
        mark = unwrap(io.marks.get(found.harness, found.session_id))
    except ERRORS as error:
        return Sighted(found, "unreadable", problem=describe(error))
    return Sighted(found, "done") if _is_over(found, mark) else _read(io, found, entry, mark, looking)


def _is_over(found: FoundSession, mark: SessionMark | None) -> bool:
    """Whether the harness itself says that nothing came after the mark."""
    if mark is None or mark.last_at_ms is None or found.ended_at_ms is None:
        return False
    return found.ended_at_ms <= mark.last_at_ms


def _read(
    io: BackfillIo, found: FoundSession, entry: InboxEntry, mark: SessionMark | None, looking: Looking
) -> Sighted:
    known = recalled(io, found, entry, mark, looking)
    if known is not None:
        return known
    source = io.histories.get(found.retrieval.method)
    if source is None:
        return Sighted(found, "unreadable", problem=f"this version has no way to read {found.retrieval.method} yet")
    try:
        history = unwrap(source.fetch(entry, mark))
    except HistoryUnavailable as absent:
        return Sighted(found, "unreadable", problem=absent.reason)
    except ERRORS as error:
        return Sighted(found, "unreadable", problem=describe(error))
    keep_seen(io, found, mark, history)
    return _judged(io, found, entry, mark, looking, history)


def _judged(
    io: BackfillIo,
    found: FoundSession,
    entry: InboxEntry,
    mark: SessionMark | None,
    looking: Looking,
    history: History,
) -> Sighted:
    cwd = found.cwd or history.cwd
    if history.own_call or (cwd is not None and io.is_private(cwd)):
        return Sighted(found, "own-call")
    if history.automated:
        return Sighted(found, "automated")
    ended_at_ms = history.ended_at_ms if history.ended_at_ms is not None else found.changed_at_ms
    begins_at = None
    if found.shares_record_ids:
        # Another transcript of the very session is no copy of another: its mark would be that of both.
        is_first = looking.first[found.harness, found.session_id] == found.path
        begins_at = _begins_at(history, looking) if mark is None and is_first else None
        for turn in history.turns:
            if is_unique(turn):
                looking.seen.add(turn.record_id)
    if begins_at is not None:
        history = evolve(history, turns=tuple(turn for turn in history.turns if turn.number > begins_at.turns_seen))
        if not history.turns:
            return Sighted(found, "copy", begins_at=begins_at)
    if not history.turns:
        return Sighted(found, "empty" if mark is None else "done")
    if looking.since_ms is not None and ended_at_ms < looking.since_ms:
        return Sighted(found, "older")
    sight: Sight = "new" if mark is None else "grown"
    return Sighted(
        found,
        sight,
        entry=evolve(entry, at_ms=min(ended_at_ms, io.clock.now_ms()), context=_context(io, cwd, history, entry)),
        chars=sum(map(turn_chars, history.turns)),
        calls=io.calls_for(history),
        is_partial=history.remaining,
        begins_at=begins_at,
    )


def _context(io: BackfillIo, cwd: str | None, history: History, entry: InboxEntry) -> Context:
    repo = None if cwd is None else io.repo_of(cwd)
    return Context(cwd=cwd, repo=repo, branch=history.branch, event=entry.context.event)


# -- forks and resumed copies -----------------------------------------------------------------------------------------


def _begins_at(history: History, looking: Looking) -> SessionMark | None:
    """The mark from which a copy of another session says something new; None for a session of its own."""
    covered = _covered(history.turns, history.harness, looking)
    if not covered:
        return None
    last = history.turns[covered - 1]
    return SessionMark(
        harness=history.harness,
        session_id=history.session_id,
        last_record_id=last.record_id,
        last_at_ms=last.at_ms,
        turns_seen=last.number,
        tools_answered=any(turn.role is Role.TOOL for turn in history.turns[:covered]),
        agent_name=COPY,
        transcript=history.transcript,
    )


def _covered(turns: Sequence[Turn], harness: Harness, looking: Looking) -> int:
    """How many of the first turns are in a session that was consolidated, or looked at before this one."""
    consolidated = max(
        (at for at, turn in enumerate(turns, 1) if (harness, turn.record_id) in looking.ends and is_unique(turn)),
        default=0,
    )
    looked_at = next((at for at, turn in enumerate(turns) if turn.record_id not in looking.seen), len(turns))
    return max(consolidated, looked_at)


_SETTLED_MS = 2_000
"""A file that changed so shortly before it was read may change once more within the grain of its times."""


def keep_seen(io: BackfillIo, found: FoundSession, mark: SessionMark | None, history: History) -> None:
    """Remember what the session says, unless its file is not the whole of it or may still be written to."""
    if io.seen is None or not found.looks or found.changed_at_ms + _SETTLED_MS > io.clock.now_ms():
        return
    turns = history.turns
    seen = SeenSession(
        harness=found.harness.value,
        looks=found.looks,
        after=after_of(mark),
        own_call=history.own_call,
        automated=history.automated,
        has_turns=bool(turns),
        ended_at_ms=history.ended_at_ms,
        cwd=found.cwd or history.cwd,
        branch=history.branch,
        chars=sum(map(turn_chars, turns)),
        calls=io.calls_for(history) if turns else 0,
        asked=io.asked,
        is_partial=history.remaining,
        first_id=turns[0].record_id if turns else "",
        unique_ids=tuple(turn.record_id for turn in turns if is_unique(turn)) if found.shares_record_ids else (),
    )
    place = InboxEntry(0, found.harness, found.retrieval, Context(cwd=seen.cwd, branch=seen.branch))
    if as_consumed(place).context == place.context:  # a cache is no place for a secret either (P20)
        io.seen.keep(found, seen)


def recalled(
    io: BackfillIo, found: FoundSession, entry: InboxEntry, mark: SessionMark | None, looking: Looking
) -> Sighted | None:
    """The session as reading it would show it; None where it has to be read: it is not known, it changed, it may be a copy of
    another, or the agent command would now be asked otherwise."""
    seen = None if io.seen is None else io.seen.recall(found, mark)
    if seen is None:
        return None
    if seen.own_call or (seen.cwd is not None and io.is_private(seen.cwd)):
        return Sighted(found, "own-call")
    if seen.automated:
        return Sighted(found, "automated")
    if seen.asked != io.asked:
        return None
    if found.shares_record_ids:
        if mark is None and _may_be_copy(seen, found, looking):
            return None
        for id in seen.unique_ids:  # of a session that is not read: one that is would be taken for a copy of itself
            looking.seen.add(id)
    if not seen.has_turns:
        return Sighted(found, "empty" if mark is None else "done")
    ended_at_ms = seen.ended_at_ms if seen.ended_at_ms is not None else found.changed_at_ms
    if looking.since_ms is not None and ended_at_ms < looking.since_ms:
        return Sighted(found, "older")
    sight: Sight = "new" if mark is None else "grown"
    repo = None if seen.cwd is None else io.repo_of(seen.cwd)
    context = Context(cwd=seen.cwd, repo=repo, branch=seen.branch, event=entry.context.event)
    at_ms = min(ended_at_ms, io.clock.now_ms())
    return Sighted(
        found,
        sight,
        entry=evolve(entry, at_ms=at_ms, context=context),
        chars=seen.chars,
        calls=seen.calls,
        is_partial=seen.is_partial,
    )


def _may_be_copy(seen: SeenSession, found: FoundSession, looking: Looking) -> bool:
    return seen.first_id in looking.seen or any((found.harness, id) in looking.ends for id in seen.unique_ids)
