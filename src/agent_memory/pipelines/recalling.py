"""What is known of a past session whose transcript stayed as it was when it was read."""

from __future__ import annotations

from agent_memory.domain.backfill import Sight, Sighted
from agent_memory.domain.found_session import FoundSession
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import Context, InboxEntry
from agent_memory.domain.queueing.redacted_entry import as_consumed
from agent_memory.domain.seen_session import SeenSession, after_of
from agent_memory.domain.transcripts.windows import turn_chars
from agent_memory.pipelines.backfill_io import BackfillIo, Looking, is_unique
from agent_memory.values import evolve

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
