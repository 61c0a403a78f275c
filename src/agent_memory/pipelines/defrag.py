"""The story of defrag: one function per state, in the order of the states.

Every step is `DefragRun -> Result[DefragRun, Error]` over the adapters. A failure before `apply_changes` leaves the store
as it was; after it, the run is finished by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.actions import ids_of
from agent_memory.domain.analysis.analyze import analyze
from agent_memory.domain.analysis.features import AnalysisFacts
from agent_memory.domain.analysis.fingerprints import store_fingerprint
from agent_memory.domain.change import Receipt, Together
from agent_memory.domain.defrag_run import DefragRun, Scan
from agent_memory.domain.defrag_summary import brief_sentence_of, commit_words
from agent_memory.domain.defragging.subjects import subject_of
from agent_memory.domain.entry import Listed, Listing, StoredEntry
from agent_memory.domain.findings import Analysis
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.planning.taken_ids import taken_ids
from agent_memory.domain.recording.recorded_paths import is_ignored
from agent_memory.domain.section import Published
from agent_memory.domain.tidying.surplus import surplus
from agent_memory.errors import Defect, EntryChanged, EntryNotFound, Error, RunNotFound
from agent_memory.machines.defrag import Defrag
from agent_memory.machines.pipeline import Model
from agent_memory.pipelines.defrag_asking import run_agent
from agent_memory.pipelines.defrag_io import DefragIo
from agent_memory.pipelines.defrag_planning import still_possible, with_tiers
from agent_memory.pipelines.driver import Step, drive_and_report
from agent_memory.results import sealed
from agent_memory.wording import describe

_LOOKED_BACK_RUNS = 1_500
"""Four months of runs every two hours."""


def defrag(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """The finished run; one in which nobody answered says so in `trouble`, where something could be done without an answer.
    First whatever a crash left half done is finished, and hand edits are recorded as such."""
    if run.dry_run:
        return run_machine(io, Defrag(Model(run)))

    def with_what_was_left(finished: DefragRun | None) -> DefragRun:
        told = () if finished is None else (f"An interrupted run was finished first: {brief_sentence_of(finished)}.",)
        return evolve(run, warnings=(*told, *_told(io.recorder.adopt_hand_edits())))

    return finish_interrupted(io).map(with_what_was_left).bind(lambda ready: run_machine(io, Defrag(Model(ready))))


def finish_interrupted(io: DefragIo) -> Result[DefragRun | None, Error]:
    """Carry out the rest of a run that crashed after it had begun to write; None where there is none."""

    def finished(found: tuple[str, DefragRun] | None) -> Result[DefragRun | None, Error]:
        if found is None:
            return Success(None)
        state, run = found
        return run_machine(io, Defrag(Model(run), start_value=state)).map(lambda ended: ended)

    return io.records.unfinished().bind(finished)


def run_machine(io: DefragIo, machine: Defrag) -> Result[DefragRun, Error]:
    """Drive the machine to its end and write the report of the run, whatever the end was. One that nobody answered is
    reported as failed, with what it did all the same."""

    def report(run: DefragRun, error: Error | None) -> Result[None, Error]:
        return io.records.finish(run, error or run.trouble)

    return drive_and_report(machine, steps(io), io.records.checkpoint, _rescue, report)


def steps(io: DefragIo) -> Mapping[str, Step[DefragRun]]:
    """The table of steps, by state."""
    table: dict[str, Callable[[DefragIo, DefragRun], Result[DefragRun, Error]]] = {
        "scan_entries": scan_entries,
        "analyze_structure": analyze_structure,
        "run_agent": run_agent,
        "apply_changes": apply_changes,
        "generate_agents_md": generate_agents_md,
        "commit_changes": commit_changes,
    }
    return {state: partial(step, io) for state, step in table.items()}


def _rescue(state: str, run: DefragRun, defect: Defect) -> Result[DefragRun, Error]:
    """A bug ends the run: there is only one thing in hand."""
    return Failure(defect)


# -- scan_entries -----------------------------------------------------------------------------------------------------


def scan_entries(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """The store as it is, with what reads, earlier runs and the person say about it."""
    io.progress("reading the notes")
    return scanned(io).map(
        lambda scan: evolve(
            run,
            scan=scan,
            live_at_start=len(scan.live.entries),
            tiers_before=scan.tiers,
            tiers=scan.tiers,
            memo=scan.memo,
            hashes={each.meta.id: each.content_hash for each in scan.live.entries},
        )
    )


def scanned(io: DefragIo) -> Result[Scan, Error]:
    """Everything about the store but the bodies."""
    return Result.do(
        Scan(
            live=live,
            archive=archive,
            taken_ids=taken_ids(live, archive),
            usage=usage,
            tiers=tiers,
            memo=memo.for_agent(io.agent.name),
            deferred=deferred,
            left_alone=left_alone,
            undone=undone,
        )
        for live in io.store.list()
        for archive in io.store.list(archived=True)
        for usage in io.ledger.totals()
        for tiers in io.store.tiers()
        for memo in io.records.tiering()
        for deferred in io.records.deferred()
        for left_alone in io.log.churning()
        for undone in io.log.undone()
    )


# -- analyze_structure ------------------------------------------------------------------------------------------------


def analyze_structure(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """What a look at every note finds; the bodies are not kept. What cannot be read is told, also where the listing knew of it
    before."""
    scan = run.scan
    if scan is None:
        return Success(run)
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
    return Success(evolve(run, analysis=analysis, warnings=(*run.warnings, *missed)))


def notes_as_listed(io: DefragIo, live: Iterable[Listed], missed: list[str]) -> Iterator[StoredEntry]:
    """The notes, one after the other. What cannot be read is added to `missed`, in words."""
    for listed in live:
        match sealed(io.store.read_again(listed)):
            case Success(stored) if stored.meta.id == listed.meta.id:
                yield stored
            case Success(_) | Failure(EntryNotFound() | EntryChanged()):
                continue  # it went away or was merged meanwhile
            case Failure(error):
                missed.append(f"{listed.path} was left out: {describe(error)}")


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


# -- apply_changes ----------------------------------------------------------------------------------------------------


def apply_changes(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """Carry out the plan and the tiers as one transaction, under the write lock from the last look to the last byte.

    What was written meanwhile stays: an action of which any input has changed is dropped whole (P8), and a note pinned
    meanwhile is hot (P13). After a crash, a transaction that had been made is not made again.
    """
    with io.locks.write() as held:
        # The store recovers first: in the midst of a transaction its footprint is there, and may be taken back with it.
        recovered = held.bind(lambda _: io.store.apply(()))
        return recovered.bind(
            lambda _: io.log.footprint(run.id).map(lambda _: run).lash(lambda error: _apply(io, run, error))
        )


def _apply(io: DefragIo, run: DefragRun, no_footprint: Error) -> Result[DefragRun, Error]:
    if not isinstance(no_footprint, RunNotFound):
        return Failure(no_footprint)
    if run.analysis is None or run.plan.actions or run.tiers != run.tiers_before:
        return _applied(io, run)

    def unless_changed(live: Listing) -> Result[DefragRun, Error]:
        is_as_it_was = store_fingerprint(live.entries) == run.memo.fingerprint
        return Success(run) if is_as_it_was else _applied(io, run)

    return io.store.list().bind(unless_changed)


def _applied(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    def applied(scan: Scan, analysed: DefragRun) -> Result[DefragRun, Error]:
        ready = with_tiers(io, still_possible(analysed, scan.live), scan)
        groups = [Together(subject_of(each.action), each.changes) for each in ready.plan.actions]
        tiers = ready.tiers if ready.tiers != scan.tiers else None
        if not groups and tiers is None:
            return Success(ready)
        return io.store.apply(groups, tiers=tiers, run_id=run.id).bind(
            lambda receipt: _with_receipt(io, ready, receipt, scan)
        )

    def looked_at(scan: Scan) -> Result[DefragRun, Error]:
        # A resumed run has no analysis any more, and tiers depend on what entries say.
        return Success(run) if run.analysis is not None else analyze_structure(io, evolve(run, scan=scan))

    return scanned(io).bind(lambda scan: looked_at(scan).bind(lambda analysed: applied(scan, analysed)))


def _with_receipt(io: DefragIo, run: DefragRun, receipt: Receipt, scan: Scan) -> Result[DefragRun, Error]:
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
        return Success(applied)
    return io.store.list().map(
        lambda live: evolve(applied, memo=evolve(run.memo, fingerprint=store_fingerprint(live.entries)))
    )


# -- generate_agents_md -----------------------------------------------------------------------------------------------


def generate_agents_md(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """The managed section of every target. One that is refused hinders neither the others nor the run."""

    def told(published: Published) -> DefragRun:
        warnings = [warning for each in published.targets for warning in each.warnings]
        warnings += [each.notice for each in published.targets if each.notice is not None]
        warnings += [describe(each.error) for each in published.refused if each.error is not None]
        return evolve(run, published=published, warnings=(*run.warnings, *warnings))

    return io.publish(lambda sections: io.log.put_sections(run.id, sections)).map(told)


# -- commit_changes ---------------------------------------------------------------------------------------------------


def commit_changes(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """What this run leaves for the next one, then one commit. Git trouble is a warning: the notes are on disk (P4)."""
    left = (
        io.records.put_deferred(run.plan.deferred)
        .bind(lambda _: io.records.put_tiering(run.memo))
        .bind(lambda _: Success(None) if run.reply_key is None else io.records.spend_reply(run.reply_key))
    )
    return left.bind(lambda _: _recorded(io, run)).map(
        lambda recorded: evolve(recorded, warnings=(*recorded.warnings, *_told(io.tidy_up())))
    )


def _recorded(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    match sealed(io.log.footprint(run.id)):
        case Failure(RunNotFound()):
            return Success(run)
        case Failure(error):
            return Failure(error)
        case Success(footprint):
            paths = tuple(dict.fromkeys(change.path for change in footprint.files if not is_ignored(change.path)))
            subject, body = commit_words(run)
            warnings = _told(io.recorder.record(paths, subject, body)) if paths else ()
            return Success(evolve(run, warnings=(*run.warnings, *warnings)))


def _told(result: Result[object, Error]) -> tuple[str, ...]:
    return (describe(result.failure()),) if isinstance(result, Failure) else ()
