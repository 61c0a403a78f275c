"""What defrag acts on; and from what the agent proposes to what it will do: the plan check, and the tiers that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen
from returns.result import Result, Success

from agent_memory.domain.actions import DefragFacts, DefragPlan, DefragProposal, PlannedAction
from agent_memory.domain.change import Create, Dropped, Replace, Restore, Retire
from agent_memory.domain.defrag_run import DefragRun, Scan
from agent_memory.domain.defragging.plan_defrag import ids_to_read, plan_defrag, subject_of
from agent_memory.domain.defragging.tidied import due_archivings
from agent_memory.domain.entry import Listing, Meta, StoredEntry, reads_of
from agent_memory.domain.findings import Analysis, Profile
from agent_memory.domain.section import Published, SectionBudget
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tiering.resolve import resolve_tiers, tiers_after
from agent_memory.domain.tiering.score import TierFacts, tier_facts
from agent_memory.errors import Error
from agent_memory.ports import Agent, Clock, DefragRecords, Locks, Recorder, RunLog, Store, UsageLedger
from agent_memory.publishing import KeepSections

_CHANGED = ("it was changed while the agent thought",)


@frozen
class DefragIo:
    """The adapters, and the few settings that steps need."""

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
    stale_days: int = 120
    max_entries: int | None = None
    """Live entries at most."""
    max_chars: int | None = None
    """Characters of the bodies of all live entries at most."""
    tidy_up: Callable[[], Result[None, Error]] = lambda: Success(None)
    """Compacts what grows: the usage ledger, old runs, the history."""
    progress: Callable[[str], object] = str


def planned(io: DefragIo, run: DefragRun, scan: Scan) -> DefragRun:
    """The run with the checked plan of its proposal and of what earlier runs had to leave, and with the tiers."""
    proposal = run.proposal or DefragProposal()
    shown = {each.meta.id: each for each in run.shown}
    due = due_archivings(scan.live.entries, run.analysis or Analysis(), io.clock.now_ms())
    facts = DefragFacts(
        live=scan.live.entries,
        taken_ids=scan.taken_ids,
        shown=shown,
        at_hand=_at_hand(io, ids_to_read(proposal, scan.deferred, shown, due)),
        hashes=run.hashes,
        status=io.agent.status,
        now_ms=io.clock.now_ms(),
        usage=scan.usage,
        left_alone=scan.left_alone,
        undone=scan.undone,
        live_at_start=run.live_at_start,
        force=run.force,
    )
    plan = plan_defrag(proposal, facts, scan.deferred, due)
    plan = evolve(plan, dropped=(*proposal.dropped, *plan.dropped))
    return with_tiers(io, evolve(run, plan=plan), scan)


def _at_hand(io: DefragIo, ids: tuple[str, ...]) -> dict[str, StoredEntry]:
    """What is to be checked and was not shown: what earlier runs had to leave, and what gets another title or tags."""
    found = [each.unwrap() for each in map(io.store.read, ids) if isinstance(each, Success)]
    return {each.meta.id: each for each in found}


def still_possible(run: DefragRun, live: Listing) -> DefragRun:
    """The run without the actions on entries that are not what the plan was made from (P8)."""
    now = {each.meta.id: each.content_hash for each in live.entries}
    unread = {id_in_name(each.path): each.problems for each in live.unreadable}
    checked = [(each, _stale_ids(each, now)) for each in run.plan.actions]
    kept = tuple(each for each, stale in checked if not stale)
    if len(kept) == len(checked):
        return run
    dropped = tuple(
        Dropped(subject_of(each.action), next((_unread(unread[id]) for id in stale if id in unread), _CHANGED))
        for each, stale in checked
        if stale
    )
    return evolve(run, plan=evolve(run.plan, actions=kept, dropped=(*run.plan.dropped, *dropped)))


def _stale_ids(planned: PlannedAction, now: Mapping[str, str]) -> tuple[str, ...]:
    """The entries that an action takes from or changes, and that are not what it was made from."""
    needed = (
        (change.entry.meta.id if isinstance(change, Replace) else change.id, change.expected_hash)
        for change in planned.changes
        if isinstance(change, Replace | Retire)
    )
    return tuple(id for id, content_hash in needed if now.get(id) != content_hash)


def _unread(problems: tuple[str, ...]) -> tuple[str, ...]:
    return (f"it could not be read when the plan was to be applied: {'; '.join(problems)}",)


def with_tiers(io: DefragIo, run: DefragRun, scan: Scan) -> DefragRun:
    """The run with the tiers that its proposal comes to, given the store and the tier list as they are now."""
    proposal = run.proposal
    proposed = None if proposal is None or proposal.tiers is None else tiers_after(proposal.tiers, run.plan)
    current = tiers_after(scan.tiers, run.plan)
    named = frozenset(id for each in (proposed, current) if each is not None for id in (*each.hot, *each.warm))
    facts = _tier_facts(io, run.plan, scan, run.analysis or Analysis(), named)
    resolved = resolve_tiers(proposed, current, facts, io.budget, scan.memo.omitted)
    plan = run.plan
    told = tuple(each for each in resolved.dropped if each not in plan.dropped)
    warnings = tuple(each for each in resolved.warnings if each not in run.warnings)
    return evolve(
        run,
        tiers_before=scan.tiers,
        tiers=resolved.tiers,
        memo=evolve(run.memo, omitted=resolved.omitted),
        plan=evolve(plan, dropped=(*plan.dropped, *told)),
        warnings=(*run.warnings, *warnings),
    )


def _tier_facts(
    io: DefragIo, plan: DefragPlan, scan: Scan, analysis: Analysis, named: frozenset[str]
) -> dict[str, TierFacts]:
    """What the tiers depend on: the facts of every entry that will be live and is named, that a person has marked, or that
    the plan writes."""
    now_ms = io.clock.now_ms()
    wanted = (
        each.meta
        for each in scan.live.entries
        if each.meta.id in named or each.meta.pinned or each.meta.promoted_by is not None
    )
    facts = {
        meta.id: _facts_of(meta, analysis.profiles[meta.id], scan, now_ms)
        for meta in wanted
        if meta.id in analysis.profiles
    }
    for change in (change for each in plan.actions for change in each.changes):
        match change:
            case Create(entry) | Replace(entry):
                profile = Profile(len(entry.body), 0)
                facts[entry.meta.id] = _facts_of(entry.meta, profile, scan, now_ms)
            case Retire(id):
                facts.pop(id, None)
            case Restore():  # only an undo makes one
                pass
    return facts


def _facts_of(meta: Meta, profile: Profile, scan: Scan, now_ms: int) -> TierFacts:
    return tier_facts(meta, profile, reads_of(meta, scan.usage), now_ms)
