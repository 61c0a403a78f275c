"""The story of consolidate: one function per state, in the order of the states.

Every step takes a run over the adapters and gives the run after it. A failure that belongs to one session becomes that
session's outcome; an error that a step raises ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Applied, Change, Receipt, Retire
from agent_memory.domain.forgetting import REASON
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote, session_id_of
from agent_memory.domain.plan import Plan, admit, planned_entries
from agent_memory.domain.queue import Pending
from agent_memory.domain.redaction import redact_path
from agent_memory.domain.run import Run, Settled, Work, sentence_of
from agent_memory.domain.transcripts.turns import redact_history
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind
from agent_memory.errors import Defect, Error, HistoryUnavailable, StoreIo
from agent_memory.machines.consolidate import Consolidate
from agent_memory.machines.pipeline import Model
from agent_memory.pipelines.asking import ConsolidateIo, parse_output, run_agent, set_back, settle
from agent_memory.pipelines.driver import Step, drive_and_report
from agent_memory.pipelines.fetching import Fetched, fetch, is_looked_at_again, why_forgotten
from agent_memory.results import as_result, unwrap, warning_of

PENDING_VERDICTS = frozenset({"refused", "unavailable", "timed-out"})
"""The session stays in the inbox, with its trouble."""

UNTOUCHED_VERDICTS = frozenset({"paused", "planned"})
"""The session stays in the inbox as it was."""


@as_result
def consolidate(io: ConsolidateIo, run: Run) -> Run:
    """The finished run. First whatever a crash left half done is finished, and hand edits are recorded as such."""
    if not run.dry_run:
        finished = unwrap(finish_interrupted(io))
        told = () if finished is None else (f"An interrupted run was finished first: {sentence_of(finished)}.",)
        run = evolve(run, warnings=(*told, *warning_of(io.recorder.adopt_hand_edits())))
        run = take_up_deferred(io, run)
    return run_machine(io, Consolidate(Model(run)))


@as_result
def finish_interrupted(io: ConsolidateIo) -> Run | None:
    """Carry out the rest of a run that crashed after it had begun to write; None where there is none."""
    found = unwrap(io.runs.unfinished())
    if found is None:
        return None
    state, run = found
    return run_machine(io, Consolidate(Model(run), start_value=state))


def run_machine(io: ConsolidateIo, machine: Consolidate) -> Run:
    """Drive the machine to its end and write the report of the run, whatever the end was."""
    return drive_and_report(machine, steps(io), io.runs.checkpoint, partial(rescue, io), io.runs.finish)


def steps(io: ConsolidateIo) -> Mapping[str, Step[Run]]:
    """The table of steps, by state."""
    table: dict[str, Callable[[ConsolidateIo, Run], Run]] = {
        "load_queue": load_queue,
        "fetch_history": fetch_history,
        "run_agent": run_agent,
        "parse_output": parse_output,
        "write_entries": write_entries,
        "mark_processed": mark_processed,
        "commit_changes": commit_changes,
    }
    return {state: partial(as_result(step), io) for state, step in table.items()}


def load_queue(io: ConsolidateIo, run: Run) -> Run:
    """The sessions to look at, and how many entries live now (the run's limit on changes is a share of them)."""
    queue = unwrap(io.inbox.load(run.limit, io.clock.now_ms()))
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
    """Take the next session in hand, with its turns since the mark, redacted."""
    pending, queue = run.queue[0], run.queue[1:]
    work = Work(pending)
    taken = evolve(run, queue=queue, work=work)
    number, session = len(run.settled) + 1, session_id_of(pending.entry) or pending.name
    io.progress(f"{number:,} of {number + len(queue):,}: {pending.entry.harness} {session}")
    try:
        forgotten = why_forgotten(io, pending.entry)
        if forgotten is not None:
            return settle(io, taken, work, "skipped", forgotten)
        mark = _mark_of(io, pending)
    except Error as error:  # the store's fault and not the session's: it waits, and no attempt is counted
        return set_back(io, taken, work, error, "unavailable")
    work = evolve(work, mark=mark)
    try:
        fetched = fetch(io, pending.entry, mark)
    except (HistoryUnavailable, StoreIo) as absent:
        is_gone = isinstance(absent, HistoryUnavailable) and absent.is_missing
        if is_gone and mark is not None and is_looked_at_again(io, pending.entry, mark):
            # It was there once, and whoever wants to look again cannot wait for it.
            return settle(io, taken, work, "gave-up", str(absent), error=absent)
        return set_back(io, taken, work, absent, "unavailable")
    except Error as error:
        return set_back(io, taken, work, error)
    return _with_history(io, taken, work, fetched)


def _mark_of(io: ConsolidateIo, pending: Pending) -> SessionMark | None:
    session_id = session_id_of(pending.entry)
    if session_id is None or isinstance(pending.entry.retrieval, InlineNote | FileSnapshot):
        return None
    return unwrap(io.marks.get(pending.entry.harness, session_id))


def _with_history(io: ConsolidateIo, run: Run, work: Work, fetched: Fetched) -> Run:
    history = fetched.history
    if history.own_call:
        return settle(io, run, work, "own-call", "memory's own call to the agent command")
    if history.automated:
        return settle(io, run, work, "skipped", "an automated session in which no person took part")
    if not history.turns:
        work = evolve(work, next_mark=fetched.next_mark)
        return settle(io, run, work, "unchanged" if work.mark else "skipped", "it holds no new turns")
    entry = work.pending.entry
    cwd = entry.context.cwd or history.cwd
    scope = io.places.scope_of(cwd)
    if scope in (GLOBAL_SCOPE, f"path:{cwd}") and entry.context.repo:  # the directory may be gone
        scope = redact_path(entry.context.repo)
    in_hand = evolve(
        work,
        history=redact_history(history),
        scope=scope,
        remaining=history.remaining,
        after_record_id=fetched.after_record_id,
        from_kept=fetched.from_kept,
    )
    return evolve(run, work=in_hand)


def write_entries(io: ConsolidateIo, run: Run) -> Run:
    """Apply the session's plan as one transaction."""
    work = run.work
    if work is None or not work.plan.changes:
        return run
    receipt = _applied(io, run, work.plan.changes)
    applied = evolve(
        work,
        receipt=receipt,
        plan=evolve(work.plan, dropped=(*work.plan.dropped, *receipt.dropped)),
        next_mark=_mark_with_entries(work.next_mark, receipt, work),
    )
    grown = evolve(run, changed=run.changed | {each.id for each in receipt.applied if each.act != "create"})
    if not receipt.applied:
        return settle(io, grown, applied, "skipped", "its entries changed meanwhile")
    written = tuple(each.id for each in receipt.applied if each.act in ("create", "replace"))
    return settle(io, grown, applied, "written", entry_ids=written)


def _mark_with_entries(mark: SessionMark | None, receipt: Receipt, work: Work) -> SessionMark | None:
    if mark is None:
        return None
    created = tuple(each.id for each in receipt.applied if each.act == "create")
    written = planned_entries(work.plan)
    handoffs = [id for id in created if written[id].meta.kind is Kind.HANDOFF]
    handoff_id = handoffs[-1] if handoffs else mark.handoff_id
    return evolve(mark, entry_ids=tuple(dict.fromkeys((*mark.entry_ids, *created))), handoff_id=handoff_id)


def mark_processed(io: ConsolidateIo, run: Run) -> Run:
    """Move the mark, then take the entry out of the inbox (P3): its results are durable by now."""
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
    # Replies to a session that said again what a person had forgotten go: they say it as well (P28).
    forgets = any(REASON in each.reasons for each in work.plan.dropped)
    for key in work.reply_keys:
        unwrap(io.runs.drop_reply(key) if forgets else io.runs.spend_reply(key))
    if not work.remaining:
        unwrap(io.inbox.retire(work.pending, work.outcome))
    counted = _with_uses_counted(io, run, work)
    return evolve(counted, queue=(work.pending, *run.queue)) if work.remaining else counted


def _with_uses_counted(io: ConsolidateIo, run: Run, work: Work) -> Run:
    """The run, once these uses are in the ledger. After the mark, which knows them, and not by a run that goes on from a
    checkpoint: a use may then be forgotten, but none is ever counted twice."""
    if io.ledger is None or run.resumed:
        return run
    warnings = list(run.warnings)
    for id, at_ms in work.used:
        at_ms = at_ms if at_ms is not None else io.clock.now_ms()
        warnings += warning_of(io.ledger.append(id, at_ms, work.pending.entry.harness.value))
    return evolve(run, warnings=tuple(warnings))


def commit_changes(io: ConsolidateIo, run: Run) -> Run:
    """One commit for the session, then on to the next. Git trouble is a warning: the notes are on disk (P4)."""
    work = run.work
    if work is None or work.outcome is None:
        return evolve(run, work=None)
    settled = Settled(work.pending, work.outcome, work.plan, work.receipt, work.error)
    done = evolve(run, work=None, settled=(*run.settled, settled))
    if run.dry_run or work.receipt is None or not work.receipt.applied:
        return done
    entry = work.pending.entry
    subject, body = commit_words(work, work.receipt)
    paths = [path for each in work.receipt.applied for path in each.touched]
    recorded = io.recorder.record(paths, subject, body, session_id_of(entry), entry.harness)
    return evolve(done, warnings=(*run.warnings, *warning_of(recorded)))


def commit_words(work: Work, receipt: Receipt) -> tuple[str, str]:
    """Subject and body of a session's commit, for people who read `git log`."""
    entry = work.pending.entry
    count = len(receipt.applied)
    what = f"{count} note{'' if count == 1 else 's'}"
    session = session_id_of(entry)
    subject = f"consolidate: {what} from {entry.harness}{f' session {session[:12]}' if session else ''}"
    return subject, "\n".join(map(_line, receipt.applied))


def _line(applied: Applied) -> str:
    sign = {"create": "+", "replace": "~", "retire": "-", "restore": "+"}[applied.act]
    return f"{sign} {applied.id} {applied.title}".rstrip()


def rescue(io: ConsolidateIo, state: str, run: Run, defect: Defect) -> Result[Run, Error]:
    """A bug met while reading one session costs that session an attempt, not the others their turn."""
    if state == "fetch_history":
        work = Work(run.queue[0])
        return Success(set_back(io, evolve(run, queue=run.queue[1:], work=work), work, defect))
    if state in ("run_agent", "parse_output") and run.work is not None:
        return Success(set_back(io, run, run.work, defect))
    return Failure(defect)


# -- what earlier runs had to leave -----------------------------------------------------------------------------------


def take_up_deferred(io: ConsolidateIo, run: Run) -> Run:
    """Apply what earlier runs had to leave, as far as this run may; they count for its limit. Entries that changed
    meanwhile stay as they are (P8)."""
    changes = unwrap(io.runs.deferred())
    if not changes:
        return run
    admitted = admit(changes, frozenset(), len(unwrap(io.store.list()).entries))
    receipt = _applied(io, run, admitted.changes)
    unwrap(io.runs.put_deferred(admitted.deferred))
    grown = evolve(run, changed=admitted.changed, taken_up=receipt.applied)
    if not receipt.applied:
        return grown
    paths = [path for each in receipt.applied for path in each.touched]
    count = len(receipt.applied)
    recorded = io.recorder.record(paths, f"consolidate: {count} change{'' if count == 1 else 's'} left by earlier runs")
    return evolve(grown, warnings=(*run.warnings, *warning_of(recorded)))


def _applied(io: ConsolidateIo, run: Run, changes: Sequence[Change]) -> Receipt:
    """What comes of the changes, with the title of each entry as they write it; of what they retire, as it was before."""
    retired = [change.id for change in changes if isinstance(change, Retire)]
    found = [(id, io.store.read(id)) for id in retired]
    titles = {id: stored.unwrap().meta.title for id, stored in found if isinstance(stored, Success)}
    titles |= {id: entry.meta.title for id, entry in planned_entries(Plan(tuple(changes))).items()}
    receipt = unwrap(io.store.apply(changes, run_id=run.id))
    return evolve(receipt, applied=tuple(evolve(each, title=titles.get(each.id, "")) for each in receipt.applied))
