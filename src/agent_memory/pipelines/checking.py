"""The middle of consolidate: check what the agent answered about the session's next window."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import SessionRequest
from agent_memory.domain.change_set import ChangeSet, ProposedEntry
from agent_memory.domain.entry import Listings, StoredEntry
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote, session_id_of
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.entry_updates import CHANGES_NOTHING
from agent_memory.domain.planning.known_subjects import subject_of
from agent_memory.domain.planning.plan_window import plan_inline_fallback, plan_window
from agent_memory.domain.planning.taken_ids import TakenIds
from agent_memory.domain.run import Run, Work
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Status
from agent_memory.errors import Error, ReplyRefused
from agent_memory.formats.reply import parse_reply
from agent_memory.known_notes import KnownNotes, Near
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.pipelines.forgotten import unforgotten
from agent_memory.pipelines.keeping import with_history_kept, with_uses
from agent_memory.pipelines.settling import set_back_by_fault, settle
from agent_memory.pipelines.shelf import Shelf, read_shelf
from agent_memory.ports import Agent
from agent_memory.results import sealed


def parse_output(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """The plan with this window's part; after the last window, what becomes of the session."""
    work = run.work
    if work is None or work.reply is None or work.request is None:
        return Success(run)
    request, reply = work.request, work.reply

    def with_part(done: Work, kept: ChangeSet, facts: PlanFacts) -> Work:
        return evolve(done, plan=plan_window(kept, facts, work.plan))

    def planned(shelf: Shelf) -> Result[Run, Error]:
        facts = plan_facts(io, run, work, request, shelf)
        with_fallback = evolve(work, fallback=plan_inline_fallback(facts))
        match sealed(parse_reply(reply.text, request.nonce)):
            case Failure(refused):
                return _refused(io, run, with_fallback, refused)
            case Success(change_set):
                return unforgotten(io, change_set, request).bind(
                    lambda kept: _similar_notes(io, kept, work.scope).bind(
                        lambda similar: _after_window(
                            io, run, with_part(with_fallback, kept, evolve(facts, similar=similar)), kept.skipped, shelf
                        )
                    )
                )

    return read_shelf(io).bind(planned)


def _similar_notes(
    io: ConsolidateIo, change_set: ChangeSet, scope: str
) -> Result[dict[ProposedEntry, tuple[StoredEntry, ...]], Error]:
    """The live notes about the same subject as each proposed entry; entries without any are left out."""
    known = io.known or KnownNotes(io.store)
    wanted = [(subject_of(each), GLOBAL_SCOPE if each.scope == "global" else scope) for each in change_set.entries]
    if not wanted:
        return Success({})

    def by_entry(found: Sequence[Near]) -> dict[ProposedEntry, tuple[StoredEntry, ...]]:
        return {each: near.similar for each, near in zip(change_set.entries, found, strict=True) if near.similar}

    return known.near_each(wanted).map(by_entry)


def _refused(io: ConsolidateIo, run: Run, work: Work, refused: ReplyRefused) -> Result[Run, Error]:
    spent = io.runs.spend_reply(work.reply_keys[-1])
    return spent.map(lambda _: set_back_by_fault(io, run, work, refused))


def _after_window(io: ConsolidateIo, run: Run, work: Work, skipped: str | None, shelf: Shelf) -> Result[Run, Error]:
    done = evolve(work, window_index=work.window_index + 1, request=None, reply=None)
    if done.window_index < len(done.windows):
        return Success(evolve(run, work=done))
    done = with_uses(evolve(done, next_mark=_next_mark(io, done)), shelf.live)
    if _is_useless(done, io.agent):
        reasons = tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in done.plan.dropped)
        return _refused(io, run, done, ReplyRefused(("nothing in it passed the checks", *reasons[:5])))
    run = with_history_kept(io, run, done)
    if done.plan.changes:
        return Success(settle(io, run, done, "planned") if run.dry_run else evolve(run, work=done))
    return Success(settle(io, run, done, "skipped", done.plan.skipped or "all of it was stored already"))


def _is_useless(work: Work, agent: Agent) -> bool:
    """Whether the agent proposed something, and nothing of it may be done. That a note would be stored whole instead (as
    one is that the agent left out) makes no reply of it, but for the built-in, which does nothing else with a note."""
    plan = work.plan
    stored_whole = () if agent.status is Status.CAPTURED else work.fallback.changes
    own_changes = [change for change in plan.changes if change not in stored_whole]
    return bool(plan.dropped) and not own_changes and not plan.skipped and not _all_known(plan)


def plan_facts(io: ConsolidateIo, run: Run, work: Work, request: SessionRequest, shelf: Shelf) -> PlanFacts:
    """All that the check of a change set may look at, as the store is now."""
    entry = work.pending.entry
    return PlanFacts(
        entry=entry,
        session_id=session_id_of(entry) or "",
        window=request.window,
        scope=work.scope,
        live=shelf.live.entries,
        taken_ids=TakenIds(Listings(shelf.live, shelf.archive)),
        shown={each.meta.id: each for each in request.shown},
        status=io.agent.status,
        now_ms=io.clock.now_ms(),
        changed_before=run.changed,
        live_at_start=run.live_at_start,
        handoff_id=request.handoff_id,
        handoff_days=io.handoff_days,
        vocabulary=io.vocabulary(),
        lookup=shelf.live.lookup,
        agent_writes=entry.harness is not Harness.MANUAL and isinstance(entry.retrieval, InlineNote),
        session=work.history,
    )


def _next_mark(io: ConsolidateIo, work: Work) -> SessionMark | None:
    entry, history = work.pending.entry, work.history
    session_id = session_id_of(entry)
    if history is None or session_id is None or isinstance(entry.retrieval, InlineNote | FileSnapshot):
        return None
    last = history.turns[-1]
    ends = () if work.mark is None else work.mark.ends
    return SessionMark(
        harness=entry.harness,
        session_id=session_id,
        last_record_id=last.record_id,
        last_at_ms=last.at_ms,
        turns_seen=last.number,
        tools_answered=history.tools_answered_before or any(turn.role == "tool" for turn in history.turns),
        agent_name=io.agent.name,
        handoff_id=None if work.mark is None else work.mark.handoff_id,
        entry_ids=() if work.mark is None else work.mark.entry_ids,
        transcript=history.transcript,
        elsewhere=tuple(end for end in ends if end.transcript not in ("", history.transcript)),
    )


def _all_known(plan: Plan) -> bool:
    """Whether nothing was dropped but what memory holds already: to say that again is no fault."""
    return all(
        any("already stored" in reason or reason == CHANGES_NOTHING for reason in each.reasons) for each in plan.dropped
    )
