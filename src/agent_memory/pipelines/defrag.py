"""The story of defrag: one function per state, in the order of the states.

Every step takes a run over the adapters and gives the run after it. An error before `apply_changes` leaves the store
as it was; after it, the run is finished by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from attrs import evolve
from returns.result import Failure, Result

from agent_memory.domain.actions import ids_of
from agent_memory.domain.analysis.analyze import analyze
from agent_memory.domain.analysis.features import AnalysisFacts
from agent_memory.domain.change import Receipt, Together
from agent_memory.domain.defrag_run import DefragRun, Scan, brief_sentence_of, commit_words
from agent_memory.domain.defragging.plan_defrag import subject_of
from agent_memory.domain.defragging.tidied import surplus
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Analysis, store_fingerprint
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.planning.drafts import taken_ids
from agent_memory.domain.recording.recorded_paths import is_ignored
from agent_memory.domain.undo_run import Footprint
from agent_memory.errors import Defect, EntryChanged, EntryNotFound, Error, RunNotFound
from agent_memory.machines.defrag import Defrag
from agent_memory.machines.pipeline import Model
from agent_memory.pipelines.defrag_asking import DefragIo, run_agent, still_possible, with_tiers
from agent_memory.pipelines.driver import Step, drive_and_report
from agent_memory.results import as_result, unwrap, warning_of

_LOOKED_BACK_RUNS = 1_500
"""Four months of runs every two hours."""


@as_result
def defrag(io: DefragIo, run: DefragRun) -> DefragRun:
    """The finished run; one in which nobody answered says so in `trouble`, where something could be done without an answer.
    First whatever a crash left half done is finished, and hand edits are recorded as such."""
    if not run.dry_run:
        finished = unwrap(finish_interrupted(io))
        told = () if finished is None else (f"An interrupted run was finished first: {brief_sentence_of(finished)}.",)
        run = evolve(run, warnings=(*told, *warning_of(io.recorder.adopt_hand_edits())))
    return run_machine(io, Defrag(Model(run)))


@as_result
def finish_interrupted(io: DefragIo) -> DefragRun | None:
    """Carry out the rest of a run that crashed after it had begun to write; None where there is none."""
    found = unwrap(io.records.unfinished())
    if found is None:
        return None
    state, run = found
    return run_machine(io, Defrag(Model(run), start_value=state))


def run_machine(io: DefragIo, machine: Defrag) -> DefragRun:
    """Drive the machine to its end and write the report of the run, whatever the end was. One that nobody answered is
    reported as failed, with what it did all the same."""

    def report(run: DefragRun, error: Error | None) -> Result[None, Error]:
        return io.records.finish(run, error or run.trouble)

    return drive_and_report(machine, steps(io), io.records.checkpoint, _rescue, report)


def steps(io: DefragIo) -> Mapping[str, Step[DefragRun]]:
    """The table of steps, by state."""
    table: dict[str, Callable[[DefragIo, DefragRun], DefragRun]] = {
        "scan_entries": scan_entries,
        "analyze_structure": analyze_structure,
        "run_agent": run_agent,
        "apply_changes": apply_changes,
        "generate_agents_md": generate_agents_md,
        "commit_changes": commit_changes,
    }
    return {state: partial(as_result(step), io) for state, step in table.items()}


def _rescue(state: str, run: DefragRun, defect: Defect) -> Result[DefragRun, Error]:
    """A bug ends the run: there is only one thing in hand."""
    return Failure(defect)


def scan_entries(io: DefragIo, run: DefragRun) -> DefragRun:
    """The store as it is, with what reads, earlier runs and the person say about it."""
    io.progress("reading the notes")
    scan = scanned(io)
    return evolve(
        run,
        scan=scan,
        live_at_start=len(scan.live.entries),
        tiers_before=scan.tiers,
        tiers=scan.tiers,
        memo=scan.memo,
        hashes={each.meta.id: each.content_hash for each in scan.live.entries},
    )


def scanned(io: DefragIo) -> Scan:
    """Everything about the store but the bodies."""
    live, archive = unwrap(io.store.list()), unwrap(io.store.list(archived=True))
    return Scan(
        live=live,
        archive=archive,
        taken_ids=taken_ids(live, archive),
        usage=unwrap(io.ledger.totals()),
        tiers=unwrap(io.store.tiers()),
        memo=unwrap(io.records.tiering()).for_agent(io.agent.name),
        deferred=unwrap(io.records.deferred()),
        left_alone=unwrap(io.log.churning()),
        undone=unwrap(io.log.undone()),
    )


def analyze_structure(io: DefragIo, run: DefragRun) -> DefragRun:
    """What a look at every note finds; the bodies are not kept. What cannot be read is told, also where the listing knew of it
    before."""
    scan = run.scan
    if scan is None:
        return run
    missed = [f"{each.path} was left out: {'; '.join(each.problems)}" for each in scan.live.unreadable]
    facts = AnalysisFacts(
        usage=scan.usage,
        now_ms=io.clock.now_ms(),
        stale_days=io.stale_days,
        taken_ids=scan.taken_ids,
        left_alone=scan.left_alone,
        hot_or_new=frozenset(scan.tiers.hot) | _came_lately(io),
    )
    analysis = analyze(notes_as_listed(io, scan.live.entries, missed), facts)
    analysis = _with_surplus(io, scan, analysis, facts.now_ms)
    return evolve(run, analysis=analysis, warnings=(*run.warnings, *missed))


def notes_as_listed(io: DefragIo, live: Iterable[Listed], missed: list[str]) -> Iterator[StoredEntry]:
    """The notes, one after the other. What cannot be read is added to `missed`, in words."""
    for listed in live:
        try:
            stored = unwrap(io.store.read_again(listed))
        except (EntryNotFound, EntryChanged):
            continue  # it went away meanwhile
        except Error as error:
            missed.append(f"{listed.path} was left out: {error!s}")
            continue
        if stored.meta.id == listed.meta.id:  # else it was merged meanwhile
            yield stored


def _came_lately(io: DefragIo) -> frozenset[str]:
    """What a run wrote since whatever is stale now, from however old a session. A log that cannot be read tells of none."""
    since_ms = io.clock.now_ms() - io.stale_days * DAY_MS
    runs = (run for run in io.log.runs(_LOOKED_BACK_RUNS).value_or(()) if run.started_at_ms >= since_ms)
    return frozenset(id for run in runs for id in run.changed_ids)


def _with_surplus(io: DefragIo, scan: Scan, analysis: Analysis, now_ms: int) -> Analysis:
    over = surplus(
        scan.live.entries,
        analysis.profiles,
        scan.usage,
        max_entries=io.max_entries,
        max_chars=io.max_chars,
        now_ms=now_ms,
    )
    return analysis.with_findings(over)


def apply_changes(io: DefragIo, run: DefragRun) -> DefragRun:
    """Carry out the plan and the tiers as one transaction, under the write lock from the last look to the last byte.

    What was written meanwhile stays: an action of which any input has changed is dropped whole (P8), and a note pinned
    meanwhile is hot (P13). After a crash, a transaction that had been made is not made again.
    """
    with io.locks.write() as held:
        unwrap(held)
        # The store recovers first: in the midst of a transaction its footprint is there, and may be taken back with it.
        unwrap(io.store.apply(()))
        if _is_applied(io, run):
            return run
        nothing_to_do = run.analysis is not None and not run.plan.actions and run.tiers == run.tiers_before
        if nothing_to_do and store_fingerprint(unwrap(io.store.list()).entries) == run.memo.fingerprint:
            return run
        scan = scanned(io)
        # A resumed run has no analysis any more, and tiers depend on what notes say.
        analysed = run if run.analysis is not None else analyze_structure(io, evolve(run, scan=scan))
        ready = with_tiers(io, still_possible(analysed, scan.live), scan)
        groups = [Together(subject_of(each.action), each.changes) for each in ready.plan.actions]
        tiers = ready.tiers if ready.tiers != scan.tiers else None
        if not groups and tiers is None:
            return ready
        receipt = unwrap(io.store.apply(groups, tiers=tiers, run_id=run.id))
        return _with_receipt(io, ready, receipt, scan)


def _is_applied(io: DefragIo, run: DefragRun) -> bool:
    try:
        unwrap(io.log.footprint(run.id))
    except RunNotFound:
        return False
    return True


def _with_receipt(io: DefragIo, run: DefragRun, receipt: Receipt, scan: Scan) -> DefragRun:
    """The run with what was really done. What the agent saw and decided on need not be put before it again."""
    done = {each.id for each in receipt.applied}
    plan = evolve(
        run.plan,
        actions=tuple(each for each in run.plan.actions if done.issuperset(each.new_ids + ids_of(each.action))),
        dropped=(*run.plan.dropped, *receipt.dropped),
    )
    applied = evolve(run, receipt=receipt, plan=plan)
    # Where somebody wrote while the agent thought, the next run asks about that.
    if not done or store_fingerprint(scan.live.entries) != run.memo.fingerprint:
        return applied
    fingerprint = store_fingerprint(unwrap(io.store.list()).entries)
    return evolve(applied, memo=evolve(run.memo, fingerprint=fingerprint))


def generate_agents_md(io: DefragIo, run: DefragRun) -> DefragRun:
    """The managed section of every target. One that is refused hinders neither the others nor the run."""
    published = unwrap(io.publish(lambda sections: io.log.put_sections(run.id, sections)))
    warnings = [warning for each in published.targets for warning in each.warnings]
    warnings += [each.notice for each in published.targets if each.notice is not None]
    warnings += [str(each.error) for each in published.refused if each.error is not None]
    return evolve(run, published=published, warnings=(*run.warnings, *warnings))


def commit_changes(io: DefragIo, run: DefragRun) -> DefragRun:
    """What this run leaves for the next one, then one commit. Git trouble is a warning: the notes are on disk (P4)."""
    unwrap(io.records.put_deferred(run.plan.deferred))
    unwrap(io.records.put_tiering(run.memo))
    if run.reply_key is not None:
        unwrap(io.records.spend_reply(run.reply_key))
    warnings = list(run.warnings)
    try:
        footprint = unwrap(io.log.footprint(run.id))
    except RunNotFound:
        footprint = Footprint(())
    paths = tuple(dict.fromkeys(change.path for change in footprint.files if not is_ignored(change.path)))
    if paths:
        warnings += warning_of(io.recorder.record(paths, *commit_words(run)))
    warnings += warning_of(io.tidy_up())
    return evolve(run, warnings=tuple(warnings))
