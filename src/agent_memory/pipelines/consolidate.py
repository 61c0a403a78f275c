"""The consolidate pipeline: one function per state, in the order of the states.

Every step takes a run and returns the run after it. A failure that belongs to one session becomes that session's
outcome; an error that a step raises ends the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import compress

from attrs import evolve, field, frozen
from returns.result import Failure, Result, Success

from agent_memory.capture.inbox_files import Inbox
from agent_memory.capture.switches import EXCLUDED, Switches, was_paused
from agent_memory.care.tombstones import Tombstones
from agent_memory.config import BUILTIN
from agent_memory.errors import (
    AgentTimedOut,
    Defect,
    Error,
    HistoryUnavailable,
    PathRefused,
    ReplyRefused,
    StateCorrupt,
    StoreIo,
)
from agent_memory.extraction.handoff import is_handoff_of
from agent_memory.machines import Consolidate, Model, Step, answered, finish_run, run_machine
from agent_memory.note.note import GLOBAL_SCOPE, Kind, Listing, Meta, Status, StoredEntry
from agent_memory.note.tagging import TagVocabulary
from agent_memory.ports import Agent, Clock, HistorySource, Recorder
from agent_memory.prompt.prompt import Frame, PromptFacts, plan_prompt_budget, render_consolidate_prompt
from agent_memory.prompt.reply import parse_reply
from agent_memory.recall.known_notes import KnownNotes
from agent_memory.redaction.redact import redact_path
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.change import Cause, Change, admit, changed_ids, entries_written
from agent_memory.rules.drafts import taken_ids
from agent_memory.rules.forgotten import forgotten_note, without_unwanted
from agent_memory.rules.plan import Plan, PlanFacts, SessionRequest, live_when_applied, stored_when_applied
from agent_memory.rules.plan_window import held_back, plan_inline_fallback, plan_window, subject_of
from agent_memory.rules.run import Run, Settled, Work
from agent_memory.rules.shown import catalog_of, choose_shown, ids_to_show, note_chars, rank_related, tag_vocabulary
from agent_memory.session.history import History, Role, SessionMark, TranscriptEnd, Turn
from agent_memory.session.queue import (
    UPGRADE_EVENT,
    FileSnapshot,
    InboxEntry,
    InlineNote,
    Outcome,
    Trouble,
    Verdict,
    after_fault,
    after_timeout,
    after_unavailable,
    is_exhausted,
)
from agent_memory.session.tool_calls import entry_uses
from agent_memory.session.windows import cut_windows, redact_history
from agent_memory.store.bookkeeping import SessionMarks
from agent_memory.store.kept_histories_files import KeptHistories
from agent_memory.store.run_files import RunRecords
from agent_memory.store.store_files import Store
from agent_memory.store.usage_ledger import UsageLedger
from agent_memory.text.plain_text import counted


def fetch(io: ConsolidateIo, work: Work) -> Work:
    """Returns the work with the turns after its mark: from the transcript or, if that is missing or cannot be read now,
    from what was kept of it. In the second case `remaining` is set, since nobody knows what came after that.

    A session that is looked at again gets all its turns: from what was kept if that has its beginning, since the
    transcript may be gone or rewritten by now, else from the transcript.
    """
    mark = work.mark
    if mark is not None and is_looked_at_again(io, work.pending.entry, mark):
        kept = _from_kept(io, work, None)
        if kept is None:
            return _from_source(io, work, None)
        remaining = kept.remaining
        try:  # nobody has seen what came since the mark yet: it is processed right after this
            remaining = remaining or bool(_from_source(io, work, mark).turns)
        except Error as error:
            # If a transcript cannot be read now, its contents would otherwise wait for the next capture.
            if isinstance(error, StoreIo) or (isinstance(error, HistoryUnavailable) and not error.is_missing):
                raise
        return evolve(kept, remaining=remaining)
    try:
        return _from_source(io, work, mark)
    except HistoryUnavailable as absent:
        kept = _from_kept(io, work, mark)
        if kept is None or not (absent.is_missing or kept.turns):
            raise
        return kept if absent.is_missing else evolve(kept, remaining=True)


def _with(work: Work, history: History, after: SessionMark | None, next_mark: SessionMark | None = None) -> Work:
    history = evolve(history, after_record=None if after is None else after.last_record_id)
    return evolve(work, history=history, remaining=history.remaining, next_mark=next_mark)


def is_looked_at_again(io: ConsolidateIo, entry: InboxEntry, mark: SessionMark) -> bool:
    """Returns whether a command is to look again at what the built-in consolidated."""
    is_asked_for = entry.context.event == UPGRADE_EVENT
    return is_asked_for and mark.agent_name == BUILTIN and io.agent.status is Status.CONSOLIDATED


def _marked_id(entry: InboxEntry) -> str | None:
    """Returns the session's id under which its mark is kept; None for an entry that is complete in itself."""
    return None if isinstance(entry.retrieval, InlineNote | FileSnapshot) else entry.retrieval.session_id


def _from_source(io: ConsolidateIo, work: Work, mark: SessionMark | None) -> Work:
    entry = work.pending.entry
    history = unwrap(io.histories.fetch(entry, mark))
    if mark is not None and mark.within(history.transcript) is None:
        return _without_shared(io, work, mark, history)
    return _with(work, history, mark)


def _without_shared(io: ConsolidateIo, work: Work, mark: SessionMark, history: History) -> Work:
    """Returns the part of a known session's transcript that was never read: the session moved with its project, was
    resumed in another directory, or was copied. What it shares with the consolidated session is left out, judged by
    what was kept of that, else by the records at which it ends."""
    kept = _from_kept(io, work, None)
    if kept is not None:
        said = frozenset(map(_said, kept.turns))
        is_new = [_said(turn) not in said for turn in redact_history(history).turns]
    else:
        ends = {end.last_record_id for end in mark.ends}
        last = max((at for at, turn in enumerate(history.turns) if turn.record_id in ends), default=-1)
        is_new = [at > last for at in range(len(history.turns))]
    own = evolve(history, turns=tuple(compress(history.turns, is_new)), tools_answered_before=history.tools_answered)
    if own.turns or not history.turns:
        return _with(work, own, mark)
    end = history.turns[-1]
    here = TranscriptEnd(history.transcript, end.record_id, end.at_ms, end.number)
    known = evolve(mark, elsewhere=(*mark.elsewhere, here))
    if history.remaining:
        return _from_source(io, work, known)
    return _with(work, own, mark, next_mark=known)


def _said(turn: Turn) -> tuple[str, Role, str]:
    return turn.record_id, turn.role, turn.text


def _from_kept(io: ConsolidateIo, work: Work, mark: SessionMark | None) -> Work | None:
    """Returns what was kept of the session. If it cannot be read now, that is an error (P6); if it is damaged, it
    counts as missing."""
    session_id = _marked_id(work.pending.entry)
    if io.kept is None or session_id is None:
        return None
    try:
        history = unwrap(io.kept.fetch(work.pending.entry.harness, session_id, mark))
    except StoreIo:
        raise
    except Error:
        return None
    return None if history is None else evolve(_with(work, history, mark), from_kept=True)


# -- what a person had forgotten is left out (P28) ------------------------------------------------------------------------


def why_forgotten(io: ConsolidateIo, entry: InboxEntry) -> str | None:
    """Returns the reason why the entry must not be looked at, if there is one: its session was forgotten, or its note,
    which was written down before that."""
    note = entry.retrieval
    if isinstance(note, InlineNote):
        known = unwrap(io.tombstones.of_entries())
        is_known = forgotten_note(known, note.title, note.body, entry.at_ms) is not None
        return "the note was forgotten" if is_known else None
    session_id = _marked_id(entry)
    is_known = session_id is not None and unwrap(io.tombstones.of_session(entry.harness, session_id)) is not None
    return "the session was forgotten" if is_known else None


TIMEOUTS_THAT_PAUSE = 2
NEW_NOTES_CHARS = 12_000
"""The room for notes that earlier parts of a session may have brought, in full and in the catalog."""


@frozen
class ConsolidateIo:
    inbox: Inbox
    histories: HistorySource
    scope_of: Callable[[str | None], str]
    store: Store
    agent: Agent
    marks: SessionMarks
    recorder: Recorder
    runs: RunRecords[Run, Change]
    clock: Clock
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    switches: Callable[[], Switches]
    tombstones: Tombstones
    holds_back: bool = field(default=False, kw_only=True)
    """Whether new notes are withheld until a person approves them (`review.before`)."""
    ledger: UsageLedger
    known: KnownNotes
    handoff_days: int = 7
    kept: KeptHistories | None = None
    """None if no histories are kept."""
    vocabulary: Callable[[], TagVocabulary] = TagVocabulary
    """The tags that a person has accepted or renamed."""
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
    """Returns the run with the outcome of the session in hand, for which nothing is left to write."""
    if error is not None:  # its traceback would keep the session's history in memory until the run ends
        error.__traceback__ = error.__context__ = None
    outcome = Outcome(verdict, run.id, io.clock.now_ms(), entry_ids, reason, _told(work.plan))
    return evolve(run, work=evolve(work, outcome=outcome, error=error, trouble=trouble))


def set_back(io: ConsolidateIo, run: Run, work: Work, error: Error, verdict: Verdict = "refused") -> Run:
    """Returns the run with the session left pending with its trouble. That is one attempt more, unless its history is
    only not there yet (`unavailable`). The last attempt gives it up, or stores an inline note whole. Two calls in a row
    that took too long (`timed-out`) are the command's fault: the run pauses."""
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
    """Stops the run: the fault is not the session's, so everything stays pending and nothing is counted."""
    return evolve(settle(io, run, work, "paused", str(error), error=error), paused=error)


def fingerprint(history: History | None) -> str:
    """Returns what identifies the content that was tried: with new content the attempts start afresh."""
    if history is None or not history.turns:
        return ""
    last = history.turns[-1]
    text = f"{last.number} {last.record_id} {sum(len(turn.text) for turn in history.turns)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# -- the agent is asked -----------------------------------------------------------------------------------------------


def run_agent(io: ConsolidateIo, run: Run) -> Run:
    """Returns the redacted reply for the next window: a stored one that was paid for, else a new one."""
    work = run.work
    if work is None or work.history is None:
        return run
    history, live = work.history, unwrap(io.store.list()).entries
    # A later window sees the store as the earlier ones will leave it.
    planned = stored_when_applied(work.plan, live)
    entries = live_when_applied(work.plan, live, planned)
    session_id = work.pending.entry.retrieval.session_id
    ranked = rank_related(history, entries, work.scope, session_id)

    def shown_of(related: Mapping[str, float], max_chars: int) -> tuple[StoredEntry, ...]:
        """Returns the session's own handoff and the most related notes, as many as fit; what cannot be read is not
        shown."""
        handoff = _handoff_id(work, planned, (each.meta for each in entries))
        ids = dict.fromkeys((*((handoff,) if handoff else ()), *ids_to_show(related)))
        found = (Success(planned[id]) if id in planned else io.store.read(id) for id in ids)
        return choose_shown([each.unwrap() for each in found if isinstance(each, Success)], max_chars)

    limit = io.agent.max_prompt_chars
    if limit is None:  # nor is it shown a catalog
        shown = shown_of(ranked, 200_000)  # the room for notes in full, for an agent that takes a session whole
        return _ask(io, run, evolve(work, windows=(history,)), shown, lambda _: "")
    catalog = catalog_of(ranked, entries, work.scope)
    try:
        budget = unwrap(plan_prompt_budget(io.prompt_template, limit, catalog))
    except Error as error:
        return pause(io, run, work, error)
    windows = work.windows
    if not windows:  # what the first notes do not use of their third goes to the transcript
        notes_chars = sum(note_chars(each.meta, len(each.body)) for each in shown_of(ranked, budget.shown_chars))
        windows = cut_windows(history, budget.window_chars(notes_chars))
        if len(windows) > 1:  # later parts are shown the notes of the earlier ones too
            windows = cut_windows(history, budget.window_chars(notes_chars + NEW_NOTES_CHARS))
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


def _ask(
    io: ConsolidateIo, run: Run, work: Work, shown: tuple[StoredEntry, ...], prompt_of: Callable[[SessionRequest], str]
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
    in_hand = evolve(work, request=request, reply=reply, reply_keys=(*work.reply_keys, key))
    is_new = reply.nonce == request.nonce
    return evolve(run, work=in_hand, timeouts_in_a_row=0 if is_new else run.timeouts_in_a_row)


def _handoff_id(work: Work, entries: Mapping[str, StoredEntry], live: Iterable[Meta]) -> str | None:
    """Returns the id of the session's handoff: from an earlier run, planned by an earlier window, or written by `memory
    handoff`."""
    if work.mark is not None and work.mark.handoff_id is not None:
        return work.mark.handoff_id
    created = (change.id for change in work.plan.changes if change.act == "create")
    planned = (id for id in created if id in entries and entries[id].meta.kind is Kind.HANDOFF)
    session_id = work.pending.entry.retrieval.session_id
    stored = (each.id for each in live if session_id and is_handoff_of(each, work.pending.entry.harness, session_id))
    return next(planned, None) or next(stored, None)


def reply_key(io: ConsolidateIo, work: Work, window: History) -> str:
    """Returns the key of a stored reply: session, record range, agent."""
    entry = work.pending.entry
    first, last = window.turns[0], window.turns[-1]
    records = f"{first.number}:{first.record_id}..{last.number}:{last.record_id}:{len(last.text)}"
    session = _marked_id(entry) or work.pending.name
    return f"{entry.harness} {session} {records} window {work.window_index} {io.agent.name}"


# -- what it answered -------------------------------------------------------------------------------------------------


def parse_output(io: ConsolidateIo, run: Run) -> Run:
    """Returns the plan with this window's part; after the last window, the outcome of the session."""
    work = run.work
    if work is None or work.reply is None or work.request is None:
        return run
    request = work.request
    live, archive = unwrap(io.store.listings())
    entry = work.pending.entry
    facts = PlanFacts(
        entry=entry,
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
        session=work.history,
    )
    done = evolve(work, fallback=plan_inline_fallback(facts))
    try:
        change_set = unwrap(parse_reply(work.reply.text, work.reply.nonce))
    except ReplyRefused as refused:
        return _refused(io, run, done, refused)
    if not isinstance(entry.retrieval, InlineNote):
        # Forgotten parts of an inline note were never sent (`why_forgotten`); what is meant here came later.
        gone, rejected = unwrap(io.tombstones.of_entries()), unwrap(io.tombstones.rejected())
        change_set = without_unwanted(change_set, gone, rejected, request.window, entry.at_ms, facts.shown)
    wanted = [(subject_of(each), GLOBAL_SCOPE if each.scope == "global" else work.scope) for each in change_set.entries]
    found = unwrap(io.known.near_each(wanted)) if wanted else ()
    similar = {each: near.similar for each, near in zip(change_set.entries, found, strict=True) if near.similar}
    facts = evolve(facts, similar=similar)
    plan = plan_window(change_set, facts, work.plan)
    done = evolve(
        done,
        plan=held_back(plan, facts.shown) if io.holds_back else plan,
        window_index=work.window_index + 1,
        request=None,
        reply=None,
    )
    if done.window_index < len(done.windows):
        return evolve(run, work=done)
    done = _marked(io, done, live)
    if _is_useless(done, io.agent):
        return _refused(io, run, done, ReplyRefused(("nothing in it passed the checks", *_told(done.plan)[:5])))
    if io.kept is not None and work.history is not None and done.next_mark and not (run.dry_run or work.from_kept):
        # Before anything that could only be finished without the history: a run that goes on from a checkpoint has none.
        history_kept = io.kept.keep(work.history)
        run = evolve(run, warnings=(*run.warnings, *warning_of(history_kept)))  # the notes are what counts
    if done.plan.changes:
        return settle(io, run, done, "planned") if run.dry_run else evolve(run, work=done)
    return settle(io, run, done, "skipped", done.plan.skipped or "all of it was stored already")


def _refused(io: ConsolidateIo, run: Run, work: Work, refused: ReplyRefused) -> Run:
    unwrap(io.runs.spend_reply(work.reply_keys[-1]))
    return set_back(io, run, work, refused)


def _told(plan: Plan) -> tuple[str, ...]:
    return tuple(each.words for each in plan.dropped)


def _is_useless(work: Work, agent: Agent) -> bool:
    """Returns whether the agent proposed something and nothing of it may be done. An inline note that would be stored
    whole instead does not make the reply useful, except from the built-in, which does nothing else with a note."""
    plan = work.plan
    stored_whole = () if agent.status is Status.CAPTURED else work.fallback.changes
    if plan.skipped or any(change not in stored_whole for change in plan.changes):
        return False
    return any(each.cause is Cause.REFUSED for each in plan.dropped)


def _marked(io: ConsolidateIo, work: Work, live: Listing) -> Work:
    """Returns the work with the mark that its session will have, and with the notes that the session's agent opened
    directly and that were not counted yet. The mark remembers them, and those that memory counted when it printed them.
    """
    entry, history, session_id = work.pending.entry, work.history, _marked_id(work.pending.entry)
    if history is None or session_id is None:
        return work
    last, before = history.turns[-1], work.mark
    read, first_opened = entry_uses(history.turns)
    wanted = {*read, *first_opened}
    now_called = {id: each.meta.id for each in live.entries for id in wanted.intersection(each.meta.aliases)}
    now_called |= {id: id for id in wanted if id in live.by_id}
    known = {*(before.used_ids if before else ()), *(now_called.get(id, id) for id in read)}
    opened = {now_called[id]: at_ms for id, at_ms in reversed(first_opened.items()) if id in now_called}
    mark = SessionMark(
        harness=entry.harness,
        session_id=session_id,
        last_record_id=last.record_id,
        last_at_ms=last.at_ms,
        turns_seen=last.number,
        tools_answered=history.tools_answered,
        agent_name=io.agent.name,
        handoff_id=before.handoff_id if before else None,
        entry_ids=before.entry_ids if before else (),
        used_ids=tuple(sorted({*known, *opened})),
        transcript=history.transcript,
        elsewhere=tuple(end for end in before.ends if end.transcript not in ("", history.transcript)) if before else (),
    )
    fresh = tuple((id, at_ms) for id, at_ms in sorted(opened.items()) if id not in known)
    return evolve(work, used=fresh, next_mark=mark)


PENDING_VERDICTS = frozenset({"refused", "unavailable", "timed-out"})
"""With these, the session stays in the inbox, with its trouble."""

UNTOUCHED_VERDICTS = frozenset({"paused", "planned"})
"""With these, the session stays in the inbox as it was."""


@as_result
def consolidate(io: ConsolidateIo, run: Run) -> Run:
    """Returns the finished run. It first finishes whatever a crash left half done, and records hand edits as such."""
    if not run.dry_run:
        finished = unwrap(finish_interrupted(io))
        told = f"An interrupted run was finished first: {finished.sentence}." if finished else None
        run = evolve(run, warnings=(*filter(None, [told]), *warning_of(io.recorder.adopt_hand_edits())))
        run = take_up_deferred(io, run)
    return run_machine(Consolidate(Model(run)), steps(io), io.runs, partial(rescue, io))


@as_result
def finish_interrupted(io: ConsolidateIo) -> Run | None:
    """Finishes a run that crashed after it had begun to write; None where there is none."""
    return finish_run(Consolidate, steps(io), io.runs, partial(rescue, io))


def steps(io: ConsolidateIo) -> Mapping[str, Step[Run]]:
    """Returns the steps by state; each has the name of its state."""
    middle = (load_queue, fetch_history, run_agent, parse_output)
    return {
        step.__name__: partial(as_result(step), io) for step in (*middle, write_entries, mark_processed, commit_changes)
    }


def load_queue(io: ConsolidateIo, run: Run) -> Run:
    """Loads the sessions to look at, and counts the live notes (the run's limit on changes is a share of them)."""
    queue = unwrap(io.inbox.load(io.clock.now_ms()))
    left_alone = (f"inbox/{each.name} was left where it is: {each.reason}" for each in queue.unreadable)
    return evolve(
        run,
        queue=queue.pending,
        quarantined=queue.quarantined,
        waiting=queue.waiting,
        waiting_reason=queue.reason,
        warnings=(*run.warnings, *left_alone),
        live_at_start=len(unwrap(io.store.list()).entries),
    )


def fetch_history(io: ConsolidateIo, run: Run) -> Run:
    """Takes the next session in hand, with its turns since the mark, redacted."""
    pending, queue = run.queue[0], run.queue[1:]
    work = Work(pending)
    taken = evolve(run, queue=queue, work=work)
    number, session = len(run.settled) + 1, pending.entry.retrieval.session_id or pending.name
    total = number + len(queue)
    io.progress(f"{number:,} of {max(number, min(total, run.limit or total)):,}: {pending.entry.harness} {session}")
    try:
        if (left := _left_out(io, taken, work, pending.entry.context.cwd)) is not None:
            return left
        forgotten = why_forgotten(io, pending.entry)
        if forgotten is not None:
            return settle(io, taken, work, "skipped", forgotten)
        session_id = _marked_id(pending.entry)
        mark = None if session_id is None else unwrap(io.marks.get(pending.entry.harness, session_id))
    except Error as error:  # the store's fault and not the session's: the session waits, and no attempt is counted
        return set_back(io, taken, work, error, "unavailable")
    work = evolve(work, mark=mark)
    try:
        fetched = fetch(io, work)
    except (HistoryUnavailable, StoreIo) as absent:
        is_gone = isinstance(absent, HistoryUnavailable) and absent.is_missing
        if is_gone and mark is not None and is_looked_at_again(io, pending.entry, mark):
            # It existed once, and a second look cannot wait for it to come back.
            return settle(io, taken, work, "gave-up", str(absent), error=absent)
        return set_back(io, taken, work, absent, "unavailable")
    except Error as error:
        return set_back(io, taken, work, error)
    return _looked_at(io, taken, fetched)


def _looked_at(io: ConsolidateIo, run: Run, work: Work) -> Run:
    """Returns the run with the fetched turns redacted, or with the outcome of a session that has nothing to learn from."""
    history, nothing = work.history, evolve(work, history=None, remaining=False)
    assert history is not None
    if history.own_call:
        return settle(io, run, nothing, "own-call", "memory's own call to the agent command")
    if history.automated:
        return settle(io, run, nothing, "skipped", "an automated session without a person")
    if not history.turns:
        return settle(io, run, nothing, "unchanged" if work.mark else "skipped", "it holds no new turns")
    entry = work.pending.entry
    cwd = entry.context.cwd or history.cwd
    if entry.context.cwd is None and (left := _left_out(io, run, nothing, cwd)) is not None:
        return left
    if pauses := io.switches().pauses_of(cwd, entry.context.repo or ""):
        turns = tuple(turn for turn in history.turns if not was_paused(pauses, turn.at_ms or entry.at_ms))
        if not turns:
            return settle(io, run, nothing, "skipped", "memory was paused meanwhile")
        history = evolve(history, turns=turns)
    scope = io.scope_of(cwd)
    if scope in (GLOBAL_SCOPE, f"path:{cwd}") and entry.context.repo:  # the directory may be gone
        scope = redact_path(entry.context.repo)
    return evolve(run, work=evolve(work, history=redact_history(history), scope=scope))


def _left_out(io: ConsolidateIo, run: Run, work: Work, cwd: str | None) -> Run | None:
    """Returns the run with the session left out, if memory stays out of its project. During a pause it waits."""
    off = io.switches().off(cwd, work.pending.entry.context.repo or "")
    if off is None:
        return None
    return settle(io, run, work, "skipped" if off.kind == EXCLUDED else "paused", off.sentence)


def write_entries(io: ConsolidateIo, run: Run) -> Run:
    work = run.work
    if work is None or not work.plan.changes:
        return run
    receipt, mark = unwrap(io.store.apply(work.plan.changes, run_id=run.id)), work.next_mark
    if mark is not None:
        created = [each.id for each in receipt.applied if each.act == "create"]
        entries = entries_written(work.plan.changes)
        handoffs = [id for id in created if entries[id].meta.kind is Kind.HANDOFF]
        entry_ids = tuple(dict.fromkeys((*mark.entry_ids, *created)))
        mark = evolve(mark, entry_ids=entry_ids, handoff_id=[mark.handoff_id, *handoffs][-1])
    dropped = (*work.plan.dropped, *receipt.dropped)
    applied = evolve(work, receipt=receipt, plan=evolve(work.plan, dropped=dropped), next_mark=mark)
    grown = evolve(run, changed=run.changed | {each.id for each in receipt.applied if each.act != "create"})
    if not receipt.applied:
        return settle(io, grown, applied, "skipped", "its notes changed meanwhile")
    written = tuple(each.id for each in receipt.applied if each.act in ("create", "replace"))
    return settle(io, grown, applied, "written", entry_ids=written)


def mark_processed(io: ConsolidateIo, run: Run) -> Run:
    """Moves the mark, then takes the entry out of the inbox (P3): its results are durable by now."""
    work = run.work
    if work is None or work.outcome is None or run.dry_run or work.outcome.verdict in UNTOUCHED_VERDICTS:
        return run
    if work.outcome.verdict in PENDING_VERDICTS:
        if work.trouble is not None:
            unwrap(io.inbox.note(work.pending, work.trouble))
        return run
    if work.outcome.verdict == "gave-up":
        unwrap(io.inbox.give_up(work.pending, work.outcome))
        return run
    if work.next_mark is not None:
        unwrap(io.marks.put(work.next_mark))
    if work.plan.deferred:  # for the next run; what is kept already is kept once
        known = unwrap(io.runs.deferred())
        unwrap(io.runs.put_deferred(tuple(dict.fromkeys((*known, *work.plan.deferred)))))
    # Replies to a session that repeated what a person had forgotten are removed: they repeat it too (P28).
    forgets = any(each.cause is Cause.FORGOTTEN for each in work.plan.dropped)
    for key in work.reply_keys:
        unwrap(io.runs.drop_reply(key) if forgets else io.runs.spend_reply(key))
    if not work.remaining:
        unwrap(io.inbox.retire(work.pending, work.outcome))
    # After the mark, which remembers them, and not by a run that goes on from a checkpoint: a read may be missed then, but
    # none is ever counted twice.
    warnings = list(run.warnings)
    if not run.resumed:
        for id, at_ms in work.used:
            at_ms = at_ms if at_ms is not None else io.clock.now_ms()
            warnings += warning_of(io.ledger.append(id, at_ms, work.pending.entry.harness.value))
    queue = (work.pending, *run.queue) if work.remaining else run.queue
    return evolve(run, warnings=tuple(warnings), queue=queue)


def commit_changes(io: ConsolidateIo, run: Run) -> Run:
    """Makes one commit for the session, then goes on to the next. Git trouble is a warning: the notes are on disk (P4)."""
    work = run.work
    if work is None or work.outcome is None:
        return evolve(run, work=None)
    settled = Settled(work.pending, work.outcome, work.plan, work.receipt, work.error)
    done = evolve(run, work=None, settled=(*run.settled, settled))
    if run.dry_run or work.receipt is None or not work.receipt.applied:
        return done
    entry, applied, session = work.pending.entry, work.receipt.applied, work.pending.entry.retrieval.session_id
    subject = f"consolidate: {counted(len(applied), 'note')} from {entry.harness}{f' session {session[:12]}' if session else ''}"
    signs = {"create": "+", "replace": "~", "retire": "-", "restore": "+"}
    body = "\n".join(f"{signs[each.act]} {each.id} {each.title}".rstrip() for each in applied)
    paths = [path for each in applied for path in each.touched]
    recorded = io.recorder.record(paths, subject, body, session, entry.harness)
    return evolve(done, warnings=(*run.warnings, *warning_of(recorded)))


def rescue(io: ConsolidateIo, state: str, run: Run, defect: Defect) -> Result[Run, Error]:
    """A bug met while reading one session costs that session an attempt, and the others nothing."""
    if state == "fetch_history":
        work = Work(run.queue[0])
        return Success(set_back(io, evolve(run, queue=run.queue[1:], work=work), work, defect))
    if state in ("run_agent", "parse_output") and run.work is not None:
        return Success(set_back(io, run, run.work, defect))
    return Failure(defect)


# -- what earlier runs had to leave -----------------------------------------------------------------------------------


def take_up_deferred(io: ConsolidateIo, run: Run) -> Run:
    """Applies what earlier runs had to leave, within this run's limit. Notes that changed meanwhile stay as they are
    (P8)."""
    changes = unwrap(io.runs.deferred())
    if not changes:
        return run
    now, later = admit(changes, frozenset(), len(unwrap(io.store.list()).entries))
    receipt = unwrap(io.store.apply(now, run_id=run.id))
    unwrap(io.runs.put_deferred(later))
    grown = evolve(run, changed=changed_ids(now), taken_up=receipt.applied)
    if not receipt.applied:
        return grown
    left = counted(len(receipt.applied), "change")
    recorded = io.recorder.record(receipt.touched, f"consolidate: {left} left by earlier runs")
    return evolve(grown, warnings=(*run.warnings, *warning_of(recorded)))
