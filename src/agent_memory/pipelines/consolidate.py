"""The story of consolidate: one function per state, in the order of the states.

Every step is `Run -> Result[Run, Error]` over the adapters. A failure that belongs to one session becomes that session's
outcome; what a step returns as Failure ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Applied, Change, Receipt, Retire
from agent_memory.domain.history import SessionMark
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote, session_id_of
from agent_memory.domain.plan import Plan
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.run_limits import Admitted, admit
from agent_memory.domain.queue import Loaded, Pending, Quarantined
from agent_memory.domain.redacted_path import redact_path
from agent_memory.domain.run import Run, Settled, Work
from agent_memory.domain.run_summary import sentence_of
from agent_memory.domain.transcripts.redacted_history import redact_history
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind
from agent_memory.errors import Defect, Error, HistoryUnavailable, StoreIo
from agent_memory.machines.consolidate import Consolidate
from agent_memory.machines.pipeline import Model
from agent_memory.pipelines.asking import run_agent
from agent_memory.pipelines.checking import parse_output
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.pipelines.driver import Step, drive_and_report
from agent_memory.pipelines.fetching import Fetched, fetch, is_looked_at_again
from agent_memory.pipelines.forgotten import why_forgotten
from agent_memory.pipelines.keeping import spend_replies, with_uses_counted
from agent_memory.pipelines.settling import set_back_by_absence, set_back_by_fault, settle
from agent_memory.ports import Store
from agent_memory.results import sealed
from agent_memory.wording import describe

PENDING_VERDICTS = frozenset({"refused", "unavailable", "timed-out"})
"""The session stays in the inbox, with its trouble."""

UNTOUCHED_VERDICTS = frozenset({"paused", "planned"})
"""The session stays in the inbox as it was."""


def consolidate(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """The finished run. First whatever a crash left half done is finished, and hand edits are recorded as such."""

    def work_through(ready: Run) -> Result[Run, Error]:
        return run_machine(io, Consolidate(Model(ready)))

    if run.dry_run:
        return work_through(run)

    def with_what_was_left(finished: Run | None) -> Result[Run, Error]:
        told = () if finished is None else (f"An interrupted run was finished first: {sentence_of(finished)}.",)
        return take_up_deferred(io, evolve(run, warnings=(*told, *_told(io.recorder.adopt_hand_edits()))))

    return finish_interrupted(io).bind(with_what_was_left).bind(work_through)


def finish_interrupted(io: ConsolidateIo) -> Result[Run | None, Error]:
    """Carry out the rest of a run that crashed after it had begun to write; None where there is none."""

    def finished(found: tuple[str, Run] | None) -> Result[Run | None, Error]:
        if found is None:
            return Success(None)
        state, run = found
        return run_machine(io, Consolidate(Model(run), start_value=state)).map(lambda ended: ended)

    return io.runs.unfinished().bind(finished)


def run_machine(io: ConsolidateIo, machine: Consolidate) -> Result[Run, Error]:
    """Drive the machine to its end and write the report of the run, whatever the end was."""
    return drive_and_report(machine, steps(io), io.runs.checkpoint, partial(rescue, io), io.runs.finish)


def steps(io: ConsolidateIo) -> Mapping[str, Step[Run]]:
    """The table of steps, by state."""
    table: dict[str, Callable[[ConsolidateIo, Run], Result[Run, Error]]] = {
        "load_queue": load_queue,
        "fetch_history": fetch_history,
        "run_agent": run_agent,
        "parse_output": parse_output,
        "write_entries": write_entries,
        "mark_processed": mark_processed,
        "commit_changes": commit_changes,
    }
    return {state: partial(step, io) for state, step in table.items()}


# -- load_queue -------------------------------------------------------------------------------------------------------


def load_queue(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """The sessions to look at, and how many entries live now (the run's limit on changes is a share of them)."""

    def loaded(queue: Loaded) -> Result[Run, Error]:
        return io.store.list().map(
            lambda listing: evolve(
                run,
                queue=queue.pending,
                quarantined=queue.quarantined,
                waiting=queue.waiting,
                waiting_reason=queue.reason,
                warnings=(*run.warnings, *(_left_alone(each) for each in queue.unreadable)),
                live_at_start=len(listing.entries),
            )
        )

    return io.inbox.load(run.limit, io.clock.now_ms()).bind(loaded)


def _left_alone(unreadable: Quarantined) -> str:
    return f"inbox/{unreadable.name} was left where it is: {unreadable.reason}"


# -- fetch_history ----------------------------------------------------------------------------------------------------


def fetch_history(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """Take the next session in hand, with its turns since the mark, redacted."""
    pending, queue = run.queue[0], run.queue[1:]
    taken = evolve(run, queue=queue, work=Work(pending))
    number, session = len(run.settled) + 1, session_id_of(pending.entry) or pending.name
    io.progress(f"{number:,} of {number + len(queue):,}: {pending.entry.harness} {session}")
    match sealed(why_forgotten(io, pending.entry)):
        case Failure(error):
            return Success(set_back_by_absence(io, taken, Work(pending), error))
        case Success(reason) if reason is not None:
            return Success(settle(io, taken, Work(pending), "skipped", reason))
        case Success(_):
            pass
    match sealed(_mark_of(io, pending)):
        case Failure(error):  # the store's fault and not the session's: it waits, and no attempt is counted
            return Success(set_back_by_absence(io, taken, Work(pending), error))
        case Success(mark):
            match sealed(fetch(io, pending.entry, mark)):
                case Success(fetched):
                    return Success(_with_history(io, taken, Work(pending, mark=mark), fetched))
                case Failure(HistoryUnavailable(is_missing=True) as gone) if mark is not None and is_looked_at_again(
                    io, pending.entry, mark
                ):  # it was there once, and whoever wants to look again cannot wait for it
                    return Success(settle(io, taken, Work(pending, mark=mark), "gave-up", describe(gone), error=gone))
                case Failure((HistoryUnavailable() | StoreIo()) as absent):
                    return Success(set_back_by_absence(io, taken, Work(pending, mark=mark), absent))
                case Failure(error):
                    return Success(set_back_by_fault(io, taken, Work(pending, mark=mark), error))


def _mark_of(io: ConsolidateIo, pending: Pending) -> Result[SessionMark | None, Error]:
    session_id = session_id_of(pending.entry)
    if session_id is None or isinstance(pending.entry.retrieval, InlineNote | FileSnapshot):
        return Success(None)
    return io.marks.get(pending.entry.harness, session_id)


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


# -- write_entries ----------------------------------------------------------------------------------------------------


def write_entries(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """Apply the session's plan as one transaction."""
    work = run.work
    if work is None or not work.plan.changes:
        return Success(run)

    def written(receipt: Receipt) -> Run:
        receipt = with_titles(receipt, titles)
        applied = evolve(
            work,
            receipt=receipt,
            plan=evolve(work.plan, dropped=(*work.plan.dropped, *receipt.dropped)),
            next_mark=_mark_with_entries(work.next_mark, receipt, work),
        )
        changed = run.changed | {each.id for each in receipt.applied if each.act != "create"}
        grown = evolve(run, changed=changed)
        if not receipt.applied:
            return settle(io, grown, applied, "skipped", "its entries changed meanwhile")
        return settle(io, grown, applied, "written", entry_ids=_written_ids(receipt))

    titles = titles_of(io.store, work.plan.changes)
    return io.store.apply(work.plan.changes, run_id=run.id).map(written)


def _written_ids(receipt: Receipt) -> tuple[str, ...]:
    return tuple(each.id for each in receipt.applied if each.act in ("create", "replace"))


def _mark_with_entries(mark: SessionMark | None, receipt: Receipt, work: Work) -> SessionMark | None:
    if mark is None:
        return None
    created = tuple(each.id for each in receipt.applied if each.act == "create")
    written = planned_entries(work.plan)
    handoffs = [id for id in created if written[id].meta.kind is Kind.HANDOFF]
    handoff_id = handoffs[-1] if handoffs else mark.handoff_id
    return evolve(mark, entry_ids=tuple(dict.fromkeys((*mark.entry_ids, *created))), handoff_id=handoff_id)


# -- mark_processed ---------------------------------------------------------------------------------------------------


def mark_processed(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """Move the mark, then take the entry out of the inbox (P3): its results are durable by now."""
    work = run.work
    if work is None or work.outcome is None or run.dry_run or work.outcome.verdict in UNTOUCHED_VERDICTS:
        return Success(run)
    if work.outcome.verdict in PENDING_VERDICTS:
        noted = Success(None) if work.trouble is None else io.inbox.note(work.pending, work.trouble)
        return noted.map(lambda _: run)
    if work.outcome.verdict == "gave-up":
        return io.inbox.give_up(work.pending, work.outcome).map(lambda _: run)
    outcome = work.outcome
    marked = Success(None) if work.next_mark is None else io.marks.put(work.next_mark)
    return (
        marked.bind(lambda _: defer(io, work.plan.deferred))
        .bind(lambda _: spend_replies(io, work))
        .bind(lambda _: Success(None) if work.remaining else io.inbox.retire(work.pending, outcome))
        .map(lambda _: with_uses_counted(io, run))
        .map(lambda run: evolve(run, queue=(work.pending, *run.queue)) if work.remaining else run)
    )


# -- commit_changes ---------------------------------------------------------------------------------------------------


def commit_changes(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """One commit for the session, then on to the next. Git trouble is a warning: the notes are on disk (P4)."""
    work = run.work
    if work is None or work.outcome is None:
        return Success(evolve(run, work=None))
    settled = Settled(work.pending, work.outcome, work.plan, work.receipt, work.error)
    done = evolve(run, work=None, settled=(*run.settled, settled))
    if run.dry_run or work.receipt is None or not work.receipt.applied:
        return Success(done)
    entry = work.pending.entry
    subject, body = commit_words(work, work.receipt)
    paths = [path for each in work.receipt.applied for path in each.touched]
    warnings = _told(io.recorder.record(paths, subject, body, session_id_of(entry), entry.harness))
    return Success(evolve(done, warnings=(*run.warnings, *warnings)))


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


def _told(result: Result[object, Error]) -> tuple[str, ...]:
    return (describe(result.failure()),) if isinstance(result, Failure) else ()


# -- bugs -------------------------------------------------------------------------------------------------------------


def rescue(io: ConsolidateIo, state: str, run: Run, defect: Defect) -> Result[Run, Error]:
    """A bug met while reading one session costs that session an attempt, not the others their turn."""
    if state == "fetch_history":
        work = Work(run.queue[0])
        return Success(set_back_by_fault(io, evolve(run, queue=run.queue[1:], work=work), work, defect))
    if state in ("run_agent", "parse_output") and run.work is not None:
        return Success(set_back_by_fault(io, run, run.work, defect))
    return Failure(defect)


def defer(io: ConsolidateIo, changes: tuple[Change, ...]) -> Result[None, Error]:
    """Keep these for the next run; what is kept already is kept once."""
    if not changes:
        return Success(None)
    return io.runs.deferred().bind(lambda known: io.runs.put_deferred(tuple(dict.fromkeys((*known, *changes)))))


def take_up_deferred(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """Apply what earlier runs had to leave, as far as this run may; they count for its limit. Entries that changed
    meanwhile stay as they are (P8)."""

    def admitted(changes: tuple[Change, ...]) -> Result[Run, Error]:
        if not changes:
            return Success(run)
        return io.store.list().bind(lambda live: apply(admit(changes, frozenset(), len(live.entries))))

    def apply(sorted_: Admitted) -> Result[Run, Error]:
        titles = titles_of(io.store, sorted_.changes)
        return io.store.apply(sorted_.changes, run_id=run.id).bind(
            lambda receipt: io.runs.put_deferred(sorted_.deferred).map(
                lambda _: recorded(sorted_, with_titles(receipt, titles))
            )
        )

    def recorded(sorted_: Admitted, receipt: Receipt) -> Run:
        grown = evolve(run, changed=sorted_.changed, taken_up=receipt.applied)
        if not receipt.applied:
            return grown
        paths = [path for each in receipt.applied for path in each.touched]
        count = len(receipt.applied)
        changes = f"{count} change{'' if count == 1 else 's'}"
        result = io.recorder.record(paths, f"consolidate: {changes} left by earlier runs")
        if isinstance(result, Failure):
            return evolve(grown, warnings=(*run.warnings, describe(result.failure())))
        return grown

    return io.runs.deferred().bind(admitted)


def titles_of(store: Store, changes: Sequence[Change]) -> Mapping[str, str]:
    """The titles by id, as the changes write them; of what they retire, as it is before."""
    retired = [change.id for change in changes if isinstance(change, Retire)]
    found = [(id, store.read(id)) for id in retired]
    before = {id: stored.unwrap().meta.title for id, stored in found if isinstance(stored, Success)}
    return {**before, **{id: entry.meta.title for id, entry in planned_entries(Plan(tuple(changes))).items()}}


def with_titles(receipt: Receipt, titles: Mapping[str, str]) -> Receipt:
    """The receipt with the title of each entry that has one."""
    return evolve(receipt, applied=tuple(evolve(each, title=titles.get(each.id, "")) for each in receipt.applied))
