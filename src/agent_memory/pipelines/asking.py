"""Consolidate and its agent: what the steps act on, how the work on a session ends, and the middle of the story: the agent is asked
about the session's next window, and what it answers is checked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet

from attrs import evolve, frozen
from returns.result import Success

from agent_memory.domain.agent_request import AgentReply, SessionRequest
from agent_memory.domain.change import Create
from agent_memory.domain.entry import Listed, Listing, Meta, StoredEntry
from agent_memory.domain.handover import is_handoff_of
from agent_memory.domain.history import History, SessionMark
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote, session_id_of
from agent_memory.domain.plan import ChangeSet, Plan, PlanFacts, ProposedEntry, live_when_applied, stored_when_applied
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.planning.plan_window import (
    CHANGES_NOTHING,
    IS_NEWER,
    plan_inline_fallback,
    plan_window,
    subject_of,
)
from agent_memory.domain.planning.shown import (
    Ranked,
    catalog_of,
    choose_shown,
    ids_to_show,
    note_chars,
    rank_related,
    tag_vocabulary,
)
from agent_memory.domain.queue import Outcome, Trouble, Verdict
from agent_memory.domain.queueing.fold import after_fault, after_timeout, after_unavailable, is_exhausted
from agent_memory.domain.run import Run, Work
from agent_memory.domain.tagging import TagVocabulary
from agent_memory.domain.transcripts.entry_uses import entry_uses
from agent_memory.domain.transcripts.windows import cut_windows
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Kind, Status
from agent_memory.errors import AgentTimedOut, Error, PathRefused, ReplyRefused, StateCorrupt, StoreIo
from agent_memory.formats.prompt import PromptBudget, PromptFacts, plan_prompt_budget, render_consolidate_prompt
from agent_memory.formats.prompt_frame import Frame
from agent_memory.formats.reply import parse_reply
from agent_memory.known_notes import KnownNotes
from agent_memory.pipelines.driver import answered
from agent_memory.pipelines.fetching import unforgotten
from agent_memory.ports import (
    Agent,
    Clock,
    HistorySource,
    Inbox,
    KeptHistories,
    Places,
    Recorder,
    RunRecords,
    SessionMarks,
    Store,
    Tombstones,
    UsageLedger,
)
from agent_memory.results import unwrap, warning_of

TIMEOUTS_THAT_PAUSE = 2
WHOLE_SESSION_SHOWN_CHARS = 200_000
"""Of entries in full for an agent that takes a session whole."""
NEW_NOTES_CHARS = 12_000
"""What the earlier parts of a session may have brought, in full and in the catalog."""


@frozen
class ConsolidateIo:
    """The adapters, and the few settings that steps need."""

    inbox: Inbox
    histories: Mapping[str, HistorySource]
    """By retrieval method."""
    places: Places
    store: Store
    agent: Agent
    marks: SessionMarks
    recorder: Recorder
    runs: RunRecords
    clock: Clock
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    handoff_days: int = 7
    tombstones: Tombstones | None = None
    """What was forgotten; None where nothing ever is."""
    kept: KeptHistories | None = None
    """None where no histories are kept."""
    ledger: UsageLedger | None = None
    """None where nobody counts what agents look at."""
    vocabulary: Callable[[], TagVocabulary] = TagVocabulary
    """The tags that a person has accepted or renamed."""
    known: KnownNotes | None = None
    """What finds notes about the same subject; without it the listing does."""
    progress: Callable[[str], object] = str


# -- how the work on a session ends -----------------------------------------------------------------------------------


def settle(
    io: ConsolidateIo,
    run: Run,
    work: Work,
    verdict: Verdict,
    reason: str = "",
    *,
    error: Error | None = None,
    trouble: Trouble | None = None,
    entry_ids: tuple[str, ...] = (),
) -> Run:
    """The run with the outcome of the session in hand known and nothing left to write for it."""
    if error is not None:  # its traceback would keep the session's history in memory until the run ends
        error.__traceback__ = error.__context__ = None
    dropped = tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in work.plan.dropped)
    outcome = Outcome(verdict, run.id, io.clock.now_ms(), entry_ids, reason, dropped)
    return evolve(run, work=evolve(work, outcome=outcome, error=error, trouble=trouble))


def set_back(io: ConsolidateIo, run: Run, work: Work, error: Error, verdict: Verdict = "refused") -> Run:
    """The session stays pending with its trouble: one attempt more, unless its history is only not there yet (`unavailable`).
    The last attempt gives it up, or stores an inline note whole. Two calls in a row that took too long (`timed-out`) are the
    command's fault: the run pauses."""
    before, told = work.pending.trouble, (error.code, str(error), io.clock.now_ms())
    if verdict == "unavailable":
        trouble = after_unavailable(before, *told)
    else:
        after = after_timeout if verdict == "timed-out" else after_fault
        trouble = after(before, fingerprint(work.history), *told)
    if not is_exhausted(trouble):
        ended = settle(io, run, work, verdict, str(error), error=error, trouble=trouble)
    elif isinstance(work.pending.entry.retrieval, InlineNote) and work.fallback.changes:
        ended = evolve(run, work=evolve(work, plan=work.fallback, reply=None, windows=(), window_index=0))
    else:
        ended = settle(io, run, evolve(work, plan=Plan()), "gave-up", str(error), error=error, trouble=trouble)
    if verdict != "timed-out":
        return ended
    timeouts = run.timeouts_in_a_row + 1
    return evolve(ended, timeouts_in_a_row=timeouts, paused=error if timeouts >= TIMEOUTS_THAT_PAUSE else None)


def pause(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Run:
    """Stop the run: the fault is not the session's, so everything stays pending and nothing is counted."""
    return evolve(settle(io, run, work, "paused", str(error), error=error), paused=error)


def fingerprint(history: History | None) -> str:
    """What identifies the content that was tried: another content starts the attempts afresh."""
    if history is None or not history.turns:
        return ""
    last = history.turns[-1]
    text = f"{last.number} {last.record_id} {sum(len(turn.text) for turn in history.turns)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# -- the agent is asked -----------------------------------------------------------------------------------------------


def run_agent(io: ConsolidateIo, run: Run) -> Run:
    """The redacted reply for the next window: a stored one that was paid for, else a new one."""
    work = run.work
    if work is None or work.history is None:
        return run
    history, live = work.history, unwrap(io.store.list()).entries
    # A later window sees the store as the earlier ones will leave it.
    entries = live_when_applied(work.plan, live)
    planned = stored_when_applied(work.plan, live)
    session_id = session_id_of(work.pending.entry)
    ranked = rank_related(history, entries, work.scope, session_id)

    def shown_of(related: Iterable[Ranked], max_chars: int) -> tuple[StoredEntry, ...]:
        return _shown(io, work, ids_to_show(related), planned, max_chars, entries)

    limit = io.agent.max_prompt_chars
    if limit is None:  # nor is it shown a catalog
        shown = shown_of(ranked, WHOLE_SESSION_SHOWN_CHARS)
        return _ask(io, run, evolve(work, windows=(history,)), shown, lambda _: "")
    catalog = catalog_of(ranked, entries, work.scope)
    try:
        budget = unwrap(plan_prompt_budget(io.prompt_template, limit, catalog))
    except Error as error:
        return pause(io, run, work, error)
    windows = work.windows or _windows(history, budget, shown_of(ranked, budget.shown_chars))
    window = windows[work.window_index]
    near = ranked if len(windows) == 1 else rank_related(window, entries, work.scope, session_id)
    left = budget.beside(window)
    tags = tag_vocabulary(entries, io.vocabulary())

    def prompt_of(request: SessionRequest) -> str:
        facts = PromptFacts(
            frame=Frame(request.nonce, io.random_word()),
            request=request,
            scope=work.scope,
            budget=left,
            catalog=catalog,
            vocabulary=tags,
            handoff_days=io.handoff_days,
        )
        return render_consolidate_prompt(io.prompt_template, facts)

    return _ask(io, run, evolve(work, windows=windows), shown_of(near, left.shown_chars), prompt_of)


def _windows(history: History, budget: PromptBudget, shown: Iterable[StoredEntry]) -> tuple[History, ...]:
    """The parts of a session. What these notes do not take of their third is the transcript's; but later parts are shown the
    notes of the earlier ones too."""
    notes_chars = sum(map(note_chars, shown))
    windows = cut_windows(history, budget.window_chars(notes_chars))
    return windows if len(windows) == 1 else cut_windows(history, budget.window_chars(notes_chars + NEW_NOTES_CHARS))


def _shown(
    io: ConsolidateIo,
    work: Work,
    related: tuple[str, ...],
    planned: Mapping[str, StoredEntry],
    max_chars: int,
    live: Sequence[Listed],
) -> tuple[StoredEntry, ...]:
    """The session's own handoff and the most related entries, as many as fit; what cannot be read is not shown."""
    handoffs = [each for each in live if each.meta.kind is Kind.HANDOFF]
    handoff = _handoff_id(work, planned, (each.meta for each in handoffs))
    ids = dict.fromkeys((*((handoff,) if handoff else ()), *related))
    found = (Success(planned[id]) if id in planned else io.store.read(id) for id in ids)
    stored = [each.unwrap() for each in found if isinstance(each, Success)]
    return choose_shown(stored, max_chars)


def _ask(
    io: ConsolidateIo,
    run: Run,
    work: Work,
    shown: tuple[StoredEntry, ...],
    prompt_of: Callable[[SessionRequest], str],
) -> Run:
    by_id = {each.meta.id: each for each in shown}
    handoff = _handoff_id(work, by_id, (each.meta for each in shown))
    request = SessionRequest(
        prompt="",
        nonce=io.random_word(),
        entry=work.pending.entry,
        window=work.windows[work.window_index],
        shown=shown,
        handoff_id=handoff if handoff in by_id else None,
        now_ms=io.clock.now_ms(),
        final_window=work.window_index == len(work.windows) - 1 and not work.remaining,
    )
    key = reply_key(io, work, request.window)
    try:
        reply = answered(io.agent, io.runs, run.id, key, evolve(request, prompt=prompt_of(request)))
    except (StoreIo, StateCorrupt, PathRefused):
        raise
    except AgentTimedOut as error:
        return set_back(io, run, work, error, "timed-out")
    except ReplyRefused as error:
        return set_back(io, run, work, error)
    except Error as error:
        return pause(io, run, work, error)
    is_new = reply.nonce == request.nonce
    request = evolve(request, nonce=reply.nonce)
    keys = (*work.reply_keys, key)
    in_hand = evolve(work, request=request, reply=AgentReply(reply.text), reply_keys=keys)
    return evolve(run, work=in_hand, timeouts_in_a_row=0 if is_new else run.timeouts_in_a_row)


def _handoff_id(work: Work, entries: Mapping[str, StoredEntry], live: Iterable[Meta]) -> str | None:
    """The handoff that the session has: of an earlier run, planned by an earlier window, or of `memory handoff`."""
    if work.mark is not None and work.mark.handoff_id is not None:
        return work.mark.handoff_id
    created = [change.entry.meta.id for change in work.plan.changes if isinstance(change, Create)]
    planned = (id for id in created if id in entries and entries[id].meta.kind is Kind.HANDOFF)
    session_id = session_id_of(work.pending.entry)
    stored = (each.id for each in live if session_id and is_handoff_of(each, work.pending.entry.harness, session_id))
    return next(planned, None) or next(stored, None)


def reply_key(io: ConsolidateIo, work: Work, window: History) -> str:
    """What a stored reply is found by: session, record range, agent."""
    entry = work.pending.entry
    session = session_id_of(entry) if not isinstance(entry.retrieval, InlineNote | FileSnapshot) else None
    first, last = window.turns[0], window.turns[-1]
    records = f"{first.number}:{first.record_id}..{last.number}:{last.record_id}:{len(last.text)}"
    return f"{entry.harness} {session or work.pending.name} {records} window {work.window_index} {io.agent.name}"


# -- what it answered -------------------------------------------------------------------------------------------------


def parse_output(io: ConsolidateIo, run: Run) -> Run:
    """The plan with this window's part; after the last window, what becomes of the session."""
    work = run.work
    if work is None or work.reply is None or work.request is None:
        return run
    request = work.request
    live, archive = unwrap(io.store.list()), unwrap(io.store.list(archived=True))
    facts = _plan_facts(io, run, work, request, live, archive)
    done = evolve(work, fallback=plan_inline_fallback(facts))
    try:
        change_set = unwrap(parse_reply(work.reply.text, request.nonce))
    except ReplyRefused as refused:
        return _refused(io, run, done, refused)
    kept = unforgotten(io, change_set, request)
    facts = evolve(facts, similar=_similar_notes(io, kept, work.scope))
    done = evolve(
        done, plan=plan_window(kept, facts, work.plan), window_index=work.window_index + 1, request=None, reply=None
    )
    if done.window_index < len(done.windows):
        return evolve(run, work=done)
    done = _with_uses(evolve(done, next_mark=_next_mark(io, done)), live)
    if _is_useless(done, io.agent):
        reasons = tuple(f"{each.subject}: {'; '.join(each.reasons)}" for each in done.plan.dropped)
        return _refused(io, run, done, ReplyRefused(("nothing in it passed the checks", *reasons[:5])))
    run = _with_history_kept(io, run, done)
    if done.plan.changes:
        return settle(io, run, done, "planned") if run.dry_run else evolve(run, work=done)
    return settle(io, run, done, "skipped", done.plan.skipped or "all of it was stored already")


def _refused(io: ConsolidateIo, run: Run, work: Work, refused: ReplyRefused) -> Run:
    unwrap(io.runs.spend_reply(work.reply_keys[-1]))
    return set_back(io, run, work, refused)


def _similar_notes(
    io: ConsolidateIo, change_set: ChangeSet, scope: str
) -> dict[ProposedEntry, tuple[StoredEntry, ...]]:
    """The live notes about the same subject as each proposed entry; entries without any are left out."""
    wanted = [(subject_of(each), GLOBAL_SCOPE if each.scope == "global" else scope) for each in change_set.entries]
    if not wanted:
        return {}
    found = unwrap((io.known or KnownNotes(io.store)).near_each(wanted))
    return {each: near.similar for each, near in zip(change_set.entries, found, strict=True) if near.similar}


def _is_useless(work: Work, agent: Agent) -> bool:
    """Whether the agent proposed something, and nothing of it may be done. That a note would be stored whole instead (as
    one is that the agent left out) makes no reply of it, but for the built-in, which does nothing else with a note."""
    plan = work.plan
    stored_whole = () if agent.status is Status.CAPTURED else work.fallback.changes
    own_changes = [change for change in plan.changes if change not in stored_whole]
    return bool(plan.dropped) and not own_changes and not plan.skipped and not _all_known(plan)


def _plan_facts(
    io: ConsolidateIo, run: Run, work: Work, request: SessionRequest, live: Listing, archive: Listing
) -> PlanFacts:
    """All that the check of a change set may look at, as the store is now."""
    entry = work.pending.entry
    return PlanFacts(
        entry=entry,
        session_id=session_id_of(entry) or "",
        window=request.window,
        scope=work.scope,
        live=live.entries,
        taken_ids=taken_ids(live, archive),
        shown={each.meta.id: each for each in request.shown},
        status=io.agent.status,
        now_ms=io.clock.now_ms(),
        changed_before=run.changed,
        live_at_start=run.live_at_start,
        handoff_id=request.handoff_id,
        handoff_days=io.handoff_days,
        vocabulary=io.vocabulary(),
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
    """Whether nothing was dropped but what memory holds already, or knows better by now: to say that is no fault."""
    faultless = (CHANGES_NOTHING, IS_NEWER)
    return all(
        any("already stored" in reason or reason in faultless for reason in each.reasons) for each in plan.dropped
    )


def _with_history_kept(io: ConsolidateIo, run: Run, work: Work) -> Run:
    """The run, once the history in hand is kept, before anything that could only be finished without it: a run that goes
    on from a checkpoint has no history. That it could not be kept is a warning: the notes are what counts."""
    history = work.history
    if io.kept is None or history is None or work.next_mark is None or run.dry_run or work.from_kept:
        return run
    return evolve(run, warnings=(*run.warnings, *warning_of(io.kept.keep(history, work.after_record_id))))


def _with_uses(work: Work, live: Listing) -> Work:
    """The work with the entries that the session's agent opened directly and that were not counted yet; its next mark
    knows them, and those that memory counted itself when it printed them."""
    history, mark = work.history, work.next_mark
    if history is None or mark is None:
        return work
    uses = entry_uses(history.turns)
    now_called = _ids(live, {*uses.read, *(id for id, _ in uses.opened_at_ms)})
    known = {*(() if work.mark is None else work.mark.used_ids), *(now_called.get(id, id) for id in uses.read)}
    opened = {now_called[id]: at_ms for id, at_ms in reversed(uses.opened_at_ms) if id in now_called}
    fresh = tuple((id, at_ms) for id, at_ms in sorted(opened.items()) if id not in known)
    return evolve(work, used=fresh, next_mark=evolve(mark, used_ids=tuple(sorted({*known, *opened}))))


def _ids(live: Listing, wanted: AbstractSet[str]) -> dict[str, str]:
    """The id of the live entry by each of these ids that one has or had."""
    aliases = {id: each.meta.id for id in wanted for each in live.bearers(id) if id in each.meta.aliases}
    return {**aliases, **{id: id for id in wanted if id in live.by_id}}
