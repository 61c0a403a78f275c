"""What consolidate keeps besides notes: the session's redacted history, and what its agent looked at."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listing
from agent_memory.domain.forgetting.tombstone import REASON
from agent_memory.domain.history import SessionMark
from agent_memory.domain.run import Run, Work
from agent_memory.domain.transcripts.entry_uses import entry_uses
from agent_memory.errors import Error
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.wording import describe


def with_history_kept(io: ConsolidateIo, run: Run, work: Work) -> Run:
    """The run, once the history in hand is kept, before anything that could only be finished without it: a run that goes
    on from a checkpoint has no history. That it could not be kept is a warning: the notes are what counts."""
    history = work.history
    if io.kept is None or history is None or work.next_mark is None or run.dry_run or work.from_kept:
        return run
    return _with_warning(run, io.kept.keep(history, work.after_record_id))


def with_uses(work: Work, live: Listing) -> Work:
    """The work with the entries that the session's agent opened directly and that were not counted yet; its next mark
    knows them, and those that memory counted itself when it printed them."""
    history, mark = work.history, work.next_mark
    if history is None or mark is None:
        return work
    uses = entry_uses(history.turns)
    now_called = _ids(live, {*uses.read, *(id for id, _ in uses.opened_at_ms)})
    known = {*_known_uses(work.mark), *(now_called.get(id, id) for id in uses.read)}
    opened = {now_called[id]: at_ms for id, at_ms in reversed(uses.opened_at_ms) if id in now_called}
    fresh = tuple((id, at_ms) for id, at_ms in sorted(opened.items()) if id not in known)
    return evolve(work, used=fresh, next_mark=evolve(mark, used_ids=tuple(sorted({*known, *opened}))))


def with_uses_counted(io: ConsolidateIo, run: Run) -> Run:
    """The run, once these uses are in the ledger. After the mark, which knows them, and not by a run that goes on from a
    checkpoint: a use may then be forgotten, but none is ever counted twice."""
    work = run.work
    if io.ledger is None or work is None or run.resumed:
        return run
    for id, at_ms in work.used:
        at_ms = at_ms if at_ms is not None else io.clock.now_ms()
        run = _with_warning(run, io.ledger.append(id, at_ms, work.pending.entry.harness.value))
    return run


def _ids(live: Listing, wanted: AbstractSet[str]) -> dict[str, str]:
    """The id of the live entry by each of these ids that one has or had."""
    aliases = {id: each.meta.id for id in wanted for each in live.bearers(id) if id in each.meta.aliases}
    return {**aliases, **{id: id for id in wanted if id in live.found.by_id}}


def _known_uses(mark: SessionMark | None) -> tuple[str, ...]:
    return () if mark is None else mark.used_ids


def _with_warning(run: Run, result: Result[None, Error]) -> Run:
    if not isinstance(result, Failure):
        return run
    return evolve(run, warnings=(*run.warnings, describe(result.failure())))


def spend_replies(io: ConsolidateIo, work: Work) -> Result[None, Error]:
    """Put away the replies that were used. Those to a session that said again what a person had forgotten go: they say it
    as well (P28)."""
    forgets = any(REASON in each.reasons for each in work.plan.dropped)
    for key in work.reply_keys:
        spent = io.runs.drop_reply(key) if forgets else io.runs.spend_reply(key)
        if isinstance(spent, Failure):
            return spent
    return Success(None)
