"""The defrag pipeline: one function per state, in the order of the states.

Every step takes a run and returns the run after it. An error before `apply_changes` leaves the store as it was; after
it, the next command finishes the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from attrs import evolve, frozen
from returns.result import Result, Success

from agent_memory.config import LimitsConfig
from agent_memory.errors import EntryChanged, EntryNotFound, Error, ReplyRefused
from agent_memory.files.locks import Locks
from agent_memory.machines import Defrag, Model, Step, answered, finish_run, run_machine
from agent_memory.note.file_name import id_in_name
from agent_memory.note.note import Listed, Listing, Status, StoredEntry, reads_of, secret_ids, without_secret
from agent_memory.pipelines.undo import footprint_if_any
from agent_memory.ports import Agent, Clock, Recorder
from agent_memory.prompt.prompt import Frame, plan_defrag_budget, render_defrag_prompt
from agent_memory.prompt.reply import parse_defrag_reply
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.rules.analyze import analyze
from agent_memory.rules.change import ChangeGroup, Dropped, Published, SectionBudget, max_changes
from agent_memory.rules.commit_message import is_ignored
from agent_memory.rules.drafts import taken_ids
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.findings import (
    Analysis,
    Candidates,
    Finding,
    FindingKind,
    candidates_of,
    left_to_judge,
    store_fingerprint,
)
from agent_memory.rules.plan import DefragFacts, DefragProposal, DefragRequest, ids_of
from agent_memory.rules.plan_defrag import ids_to_read, plan_defrag, subject_of
from agent_memory.rules.run import DefragRun, Scan, TieringMemo
from agent_memory.rules.shown import choose_shown, most_urgent_ids
from agent_memory.rules.tidied import due_archivings, ids_without_room, surplus
from agent_memory.rules.tiers import resolve_tiers, tier_facts, tiers_after
from agent_memory.section.publishing import KeepSections
from agent_memory.store.run_files import DefragRecords, RunLog
from agent_memory.store.store_files import Store
from agent_memory.store.usage_ledger import UsageLedger
from agent_memory.text.instants import DAY_MS


@frozen
class DefragIo:
    store: Store
    agent: Agent
    ledger: UsageLedger
    recorder: Recorder
    records: DefragRecords
    log: RunLog
    locks: Locks
    clock: Clock
    publish: Callable[[KeepSections], Result[Published, Error]]
    """Writes the managed section of every configured target."""
    prompt_template: str
    random_word: Callable[[], str]
    """Unguessable, at least 64 bits of hex; for nonces and fences."""
    budget: SectionBudget = SectionBudget()
    limits: LimitsConfig = LimitsConfig()
    tidy_up: Callable[[], Result[None, Error]] = lambda: Success(None)
    """Compacts what grows: the usage ledger, old runs, the history."""
    progress: Callable[[str], object] = str


# -- the agent is asked -----------------------------------------------------------------------------------------------


def run_agent(io: DefragIo, run: DefragRun) -> DefragRun:
    """Returns the run with its checked plan: from a stored reply that was paid for, else from a new one. There is no
    reply if nothing is new: no note changed since the last tiering, and the analysis found nothing that this agent has
    not judged."""
    scan, analysis = run.scan, run.analysis
    if scan is None or analysis is None:
        return run
    candidates = candidates_of(analysis.findings, scan.live.hashes)
    is_changed = scan.memo.fingerprint != store_fingerprint(scan.live.entries)
    if not scan.live.entries or not (is_changed or candidates.any_new(scan.memo.judged)):
        return planned(io, run, scan)
    io.progress(f"asking {io.agent.name}")
    try:
        return _asked(io, run, scan, analysis, candidates)
    except Error as error:  # the run does what needs no answer, and then ends with the error
        alone = planned(io, run, scan)
        if not alone.plan.actions:
            raise
        return evolve(alone, trouble=error)


def _asked(io: DefragIo, run: DefragRun, scan: Scan, analysis: Analysis, candidates: Candidates) -> DefragRun:
    live = scan.live.entries
    catalog, secret = without_secret(live), secret_ids(live)
    new_first = evolve(analysis, findings=candidates.new_first(scan.memo.judged))
    limit = io.agent.max_prompt_chars
    budget = None if limit is None else unwrap(plan_defrag_budget(io.prompt_template, limit, catalog))
    # The room for notes in full, for an agent that reads values and not a prompt.
    room = 4_000_000 if budget is None else budget.shown_chars
    wanted = most_urgent_ids(new_first, live, room, scan.tiers)
    opened = wanted
    if io.agent.status is Status.CAPTURED:  # for most notes the built-in needs no body
        touched = {id for each in analysis.of_kind(FindingKind.DUPLICATE) for id in each.ids}
        opened = tuple(id for id in wanted if id in touched)
    found = _read(io.store.read_again(each) for id in opened if (each := scan.live.by_id.get(id)) is not None)
    unchanged = [each for each in found if scan.live.hashes.get(each.meta.id) == each.listed.content_hash]
    shown = choose_shown(unchanged, room)  # without what holds a secret: the agent would not see all of it
    request = DefragRequest(
        prompt="",
        nonce=io.random_word(),
        live=catalog,
        shown=shown,
        analysis=new_first.without(secret),
        usage=scan.usage,
        tiers=scan.tiers,
        now_ms=io.clock.now_ms(),
        budget=io.budget,
        undone=scan.undone,
        force=run.force,
    )
    listed, render = None, None
    if budget is not None:
        frame = Frame(request.nonce, io.random_word())
        most = len(catalog) if run.force else max_changes(len(live))
        render = partial(render_defrag_prompt, io.prompt_template, request, frame, budget, most)
        prompt, listed = render()
        request = evolve(request, prompt=prompt)
    unseen = frozenset(opened) - {each.meta.id for each in shown}
    judged = candidates.without(secret).judged(frozenset(wanted) - unseen, scan.memo.judged)
    fingerprint = store_fingerprint(live)
    memo = TieringMemo(fingerprint, io.agent.name, judged)
    key = f"defrag {fingerprint} {io.agent.name}"
    asked = evolve(run, asked=True, reply_keys=(key,), shown=shown, memo=memo)
    reply = answered(io.agent, io.records, run.id, key, request)
    try:
        proposal = unwrap(parse_defrag_reply(reply.text, reply.nonce))
    except ReplyRefused:
        unwrap(io.records.spend_reply(key))
        raise
    if listed is not None and proposal.tiers is not None:
        # Notes for which the catalog had no room keep their tiers.
        proposal = evolve(proposal, tiers=proposal.tiers.where_unseen(request.tiers, listed))
    run = planned(io, evolve(asked, proposal=proposal), scan)
    if render is not None and run.plan.refused:
        run = _asked_once_more(io, run, proposal, scan, request, render)
    return _with_left(io, run, analysis, candidates, request)


def _asked_once_more(
    io: DefragIo,
    run: DefragRun,
    proposal: DefragProposal,
    scan: Scan,
    request: DefragRequest,
    render: Callable[[list[str]], tuple[str, object]],
) -> DefragRun:
    """Returns the run with the plan in which the agent put right what was refused. What it leaves out stays refused, and so does
    all of it where no second answer can be had."""
    io.progress(f"asking {io.agent.name} once more, about what was refused")
    wrong, key = run.plan.refused, f"{run.reply_keys[0]} again"
    subjects = set(map(subject_of, wrong))
    refused = [each for each in run.plan.dropped if each.subject in subjects]
    prompt, _ = render([each.words for each in refused])
    run = evolve(run, reply_keys=(*run.reply_keys, key))
    try:
        reply = answered(io.agent, io.records, run.id, key, evolve(request, prompt=prompt))
        second = unwrap(parse_defrag_reply(reply.text, reply.nonce)).actions
    except Error as error:
        return evolve(run, warnings=(*run.warnings, f"{io.agent.name} did not put right what was refused: {error}"))
    meant = {id for each in wrong for id in ids_of(each)}
    anew = [each for each in second if not meant.isdisjoint(ids_of(each))]
    subjects -= set(map(subject_of, anew))
    actions = (*(each for each in proposal.actions if each not in wrong), *anew)
    dropped = (*proposal.dropped, *(each for each in refused if each.subject in subjects))
    return planned(io, evolve(run, proposal=evolve(proposal, actions=actions, dropped=dropped)), scan)


def _with_left(
    io: DefragIo, run: DefragRun, analysis: Analysis, candidates: Candidates, request: DefragRequest
) -> DefragRun:
    """Returns the run with what it leaves to judge, and with what the built-in had no room for as not judged. For an
    agent command, silence is a judgement, and what it proposes beyond the limit is kept for later."""
    if io.agent.status is not Status.CAPTURED or run.proposal is None:
        return run
    waiting = ids_without_room(request, run.proposal.actions)

    def waits(finding: Finding) -> bool:
        return finding.kind is FindingKind.DUPLICATE and not waiting.isdisjoint(finding.ids)

    judged = run.memo.judged.difference(key for key, each in candidates.findings.items() if waits(each))
    left = left_to_judge(analysis, {id for each in run.plan.actions for id in each.ids})
    return evolve(run, left=tuple(each for each in left if not waits(each)), memo=evolve(run.memo, judged=judged))


def _read(results: Iterable[Result[StoredEntry, Error]]) -> list[StoredEntry]:
    return [each.unwrap() for each in results if isinstance(each, Success)]


# -- what follows from the answer -------------------------------------------------------------------------------------


def planned(io: DefragIo, run: DefragRun, scan: Scan) -> DefragRun:
    """Returns the run with the checked plan of its proposal and of what earlier runs had to leave, and with the tiers."""
    proposal = run.proposal or DefragProposal()
    shown = {each.meta.id: each for each in run.shown}
    due = due_archivings(scan.live.entries, run.analysis or Analysis(), io.clock.now_ms())
    unseen = ids_to_read(proposal, scan.deferred, shown, due)
    facts = DefragFacts(
        live=scan.live.entries,
        taken_ids=scan.taken_ids,
        shown=shown,
        at_hand={each.meta.id: each for each in _read(map(io.store.read, unseen))},
        status=io.agent.status,
        now_ms=io.clock.now_ms(),
        usage=scan.usage,
        undone=scan.undone,
        live_at_start=len(scan.live.entries),
        force=run.force,
    )
    return with_tiers(io, evolve(run, plan=plan_defrag(proposal, facts, scan.deferred, due)), scan)


def still_possible(run: DefragRun, live: Listing) -> DefragRun:
    """Returns the run without the actions on notes that have changed since the plan was made (P8)."""
    unread = {id_in_name(each.path): each.problems for each in live.unreadable}
    kept: list[ChangeGroup] = []
    dropped: list[Dropped] = []
    for each in run.plan.actions:
        needed = (change for change in each.changes if change.expected_hash is not None)
        stale = [change.id for change in needed if live.hashes.get(change.id) != change.expected_hash]
        if not stale:
            kept.append(each)
            continue
        problems = next((unread[id] for id in stale if id in unread), None)
        why = "it changed while the agent command was running"
        if problems is not None:
            why = f"it could not be read when the plan was to be applied: {'; '.join(problems)}"
        dropped.append(Dropped(each.subject, (why,)))
    return evolve(run, plan=evolve(run.plan, actions=tuple(kept), dropped=(*run.plan.dropped, *dropped)))


def with_tiers(io: DefragIo, run: DefragRun, scan: Scan) -> DefragRun:
    """Returns the run with the tiers that follow from its proposal, given the store and the tier list as they are now."""
    proposal = run.proposal
    proposed = None if proposal is None or proposal.tiers is None else tiers_after(proposal.tiers, run.plan)
    current = tiers_after(scan.tiers, run.plan)
    named = frozenset(id for each in (proposed, current) if each is not None for id in (*each.hot, *each.warm))
    plan, body_chars = run.plan, (run.analysis or Analysis()).body_chars
    # What the tiers depend on: live notes that are named, marked by a person, or written by the plan.
    live = (each.meta for each in scan.live.entries if each.meta.id in body_chars)
    wanted = (meta for meta in live if meta.id in named or meta.pinned or meta.promoted_by is not None)
    entries = {meta.id: (meta, body_chars[meta.id]) for meta in wanted}
    for change in (change for each in plan.actions for change in each.changes):
        if change.entry is not None:
            entries[change.id] = change.entry.meta, len(change.entry.body)
        else:
            entries.pop(change.id, None)
    now_ms = io.clock.now_ms()
    facts = {id: tier_facts(meta, chars, reads_of(meta, scan.usage), now_ms) for id, (meta, chars) in entries.items()}
    resolved = resolve_tiers(proposed, current, facts, io.budget)
    told = tuple(each for each in resolved.dropped if each not in plan.dropped)
    warnings = tuple(each for each in resolved.warnings if each not in run.warnings)
    return evolve(
        run,
        tiers_before=scan.tiers,
        tiers=resolved.tiers,
        plan=evolve(plan, dropped=(*plan.dropped, *told)),
        warnings=(*run.warnings, *warnings),
    )


@as_result
def defrag(io: DefragIo, run: DefragRun) -> DefragRun:
    """Returns the finished run; if nobody answered, `trouble` says so, and what needs no answer was done. It first
    finishes whatever a crash left half done, and records hand edits as such."""
    if not run.dry_run:
        finished = unwrap(finish_interrupted(io))
        told = f"An interrupted run was finished first: {finished.sentence(brief=True)}." if finished else None
        run = evolve(run, warnings=(*filter(None, [told]), *warning_of(io.recorder.adopt_hand_edits())))
    return run_machine(Defrag(Model(run)), steps(io), io.records)


@as_result
def finish_interrupted(io: DefragIo) -> DefragRun | None:
    """Finishes a run that crashed after it had begun to write; None where there is none."""
    return finish_run(Defrag, steps(io), io.records)


def steps(io: DefragIo) -> Mapping[str, Step[DefragRun]]:
    """Returns the steps by state; each has the name of its state."""
    first, last = (scan_entries, analyze_structure, run_agent), (apply_changes, generate_agents_md, commit_changes)
    return {step.__name__: partial(as_result(step), io) for step in (*first, *last)}


def scan_entries(io: DefragIo, run: DefragRun) -> DefragRun:
    """Returns the run with the store as it is, and what reads, earlier runs and the person say about it."""
    io.progress("reading the notes")
    scan = scanned(io)
    return evolve(run, scan=scan, tiers_before=scan.tiers, tiers=scan.tiers, memo=scan.memo)


def scanned(io: DefragIo) -> Scan:
    """Returns everything about the store except the bodies."""
    live, archive = unwrap(io.store.listings())
    return Scan(
        live=live,
        taken_ids=taken_ids(live, archive),
        usage=unwrap(io.ledger.totals()),
        tiers=unwrap(io.store.tiers()),
        memo=unwrap(io.records.tiering()).for_agent(io.agent.name),
        deferred=unwrap(io.records.deferred()),
        undone=unwrap(io.log.undone()),
    )


def analyze_structure(io: DefragIo, run: DefragRun) -> DefragRun:
    """Returns the run with the findings about every note; the bodies are not kept. What cannot be read is reported,
    even if the listing knew of it before."""
    scan = run.scan
    if scan is None:
        return run
    missed = [f"{each.path} was left out: {'; '.join(each.problems)}" for each in scan.live.unreadable]
    # What a run wrote lately, even from an old session, is not stale. A log that cannot be read lists nothing.
    now_ms = io.clock.now_ms()
    since_ms = now_ms - io.limits.stale_days * DAY_MS
    # 1,500 runs are four months of one every two hours.
    runs = (each for each in io.log.runs(1_500).value_or(()) if each.started_at_ms >= since_ms)
    facts = AnalysisFacts(
        now_ms,
        scan.taken_ids,
        scan.usage,
        io.limits.stale_days,
        hot_or_new=frozenset((*scan.tiers.hot, *(id for each in runs for id in each.changed_ids))),
    )
    live = scan.live.entries
    analysis = analyze(notes_as_listed(io, live, missed), facts)
    over = surplus(
        live,
        analysis.body_chars,
        scan.usage,
        max_entries=io.limits.max_entries,
        max_chars=io.limits.max_chars,
        max_by_kind=io.limits.max_by_kind,
        now_ms=now_ms,
    )
    return evolve(run, analysis=analysis.with_findings(over), warnings=(*run.warnings, *missed))


def notes_as_listed(io: DefragIo, live: Iterable[Listed], missed: list[str]) -> Iterator[StoredEntry]:
    """Yields the notes one after the other. Adds a sentence to `missed` for each that cannot be read."""
    for listed in live:
        try:
            stored = unwrap(io.store.read_again(listed))
        except (EntryNotFound, EntryChanged):
            continue  # it is gone meanwhile
        except Error as error:
            missed.append(f"{listed.path} was left out: {error!s}")
            continue
        if stored.meta.id == listed.meta.id:  # else it was merged meanwhile
            yield stored


def apply_changes(io: DefragIo, run: DefragRun) -> DefragRun:
    """Carries out the plan and the tiers as one transaction, under the write lock from the last look to the last byte.

    What was written meanwhile stays: an action of which any input has changed is dropped whole (P8), and a note pinned
    meanwhile is hot (P13). After a crash, a transaction that had been made is not made again.
    """
    with io.locks.write():
        # The store recovers first: in the middle of a transaction its footprint is there, and may be rolled back with it.
        unwrap(io.store.apply(()))
        if footprint_if_any(io.log, run.id) is not None:
            return run
        nothing_to_do = run.analysis is not None and not run.plan.actions and run.tiers == run.tiers_before
        if nothing_to_do and store_fingerprint(unwrap(io.store.list()).entries) == run.memo.fingerprint:
            return run
        scan = scanned(io)
        # A resumed run has no analysis any more, and tiers depend on what notes say.
        analysed = run if run.analysis is not None else analyze_structure(io, evolve(run, scan=scan))
        ready = with_tiers(io, still_possible(analysed, scan.live), scan)
        tiers = ready.tiers if ready.tiers != scan.tiers else None
        if not ready.plan.actions and tiers is None:
            return ready
        receipt = unwrap(io.store.apply(ready.plan.actions, tiers=tiers, run_id=run.id))
        done = {each.id for each in receipt.applied}
        plan = evolve(
            ready.plan,
            actions=tuple(each for each in ready.plan.actions if done.issuperset(change.id for change in each.changes)),
            dropped=(*ready.plan.dropped, *receipt.dropped),
        )
        memo = ready.memo
        # What the agent saw and decided on need not be shown to it again; what somebody wrote while it thought is for the next
        # run.
        if done and store_fingerprint(scan.live.entries) == memo.fingerprint:
            memo = evolve(memo, fingerprint=store_fingerprint(unwrap(io.store.list()).entries))
        return evolve(ready, receipt=receipt, plan=plan, memo=memo)


def generate_agents_md(io: DefragIo, run: DefragRun) -> DefragRun:
    """Publishes the managed section of every target. One that is refused hinders neither the others nor the run."""
    published = unwrap(io.publish(lambda sections: io.log.put_sections(run.id, sections)))
    warnings = [warning for each in published.targets for warning in each.warnings]
    warnings += [each.notice for each in published.targets if each.notice is not None]
    warnings += [str(each.error) for each in published.refused if each.error is not None]
    return evolve(run, published=published, warnings=(*run.warnings, *warnings))


def commit_changes(io: DefragIo, run: DefragRun) -> DefragRun:
    """Keeps what this run leaves for the next one, then makes one commit. Git trouble is a warning: the notes are on
    disk (P4)."""
    unwrap(io.records.put_deferred(run.plan.deferred))
    unwrap(io.records.put_tiering(run.memo))
    for key in run.reply_keys:
        unwrap(io.records.spend_reply(key))
    warnings = list(run.warnings)
    footprint = footprint_if_any(io.log, run.id)
    changed = () if footprint is None else footprint.files
    paths = tuple(dict.fromkeys(each.path for each in changed if not is_ignored(each.path)))
    if paths:
        warnings += warning_of(io.recorder.record(paths, *run.commit_words))
    warnings += warning_of(io.tidy_up())
    return evolve(run, warnings=tuple(warnings))
