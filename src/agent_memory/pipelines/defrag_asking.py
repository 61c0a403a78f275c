"""Defrag and its agent: what the steps act on, the middle of the story (the agent is asked, unless there is nothing new to ask about),
and what follows from its answer: the plan check, and the tiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen
from returns.result import Result, Success

from agent_memory.domain.actions import DefragFacts, DefragPlan, DefragProposal, PlannedAction
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.change import Create, Dropped, Replace, Restore, Retire
from agent_memory.domain.defrag_run import DefragRun, Scan, TieringMemo
from agent_memory.domain.defragging.plan_defrag import ids_to_read, plan_defrag, subject_of
from agent_memory.domain.defragging.tidied import due_archivings, ids_to_open, ids_without_room
from agent_memory.domain.entry import Listing, Meta, StoredEntry, reads_of, secret_ids, without_secret
from agent_memory.domain.findings import (
    Analysis,
    Candidates,
    FindingKind,
    Profile,
    candidates_of,
    left_to_judge,
    store_fingerprint,
)
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.shown import choose_shown, most_urgent_ids
from agent_memory.domain.section import Published, SectionBudget
from agent_memory.domain.text.file_name import id_in_name
from agent_memory.domain.tiering.resolve import resolve_tiers, tiers_after
from agent_memory.domain.tiering.score import TierFacts, best_now, tier_facts
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error, ReplyRefused
from agent_memory.formats.defrag_prompt import (
    DefragBudget,
    DefragPromptFacts,
    plan_defrag_budget,
    render_defrag_prompt,
)
from agent_memory.formats.prompt_frame import Frame
from agent_memory.formats.reply import parse_defrag_reply
from agent_memory.pipelines.driver import answered
from agent_memory.ports import Agent, Clock, DefragRecords, Locks, Recorder, RunLog, Store, UsageLedger
from agent_memory.publishing import KeepSections
from agent_memory.results import unwrap

_CHANGED = ("it was changed while the agent thought",)
WHOLE_STORE_SHOWN_CHARS = 4_000_000
"""Of entries in full for an agent that reads values and no prompt."""


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


# -- the agent is asked -----------------------------------------------------------------------------------------------


def run_agent(io: DefragIo, run: DefragRun) -> DefragRun:
    """The checked plan: of a stored reply that was paid for, else of a new one; of no reply where nothing is new: no entry changed
    since the last tiering, and the analysis found nothing that this agent has not judged."""
    scan, analysis = run.scan, run.analysis
    if scan is None or analysis is None:
        return run
    candidates = candidates_of(analysis.findings, run.hashes)
    is_changed = scan.memo.fingerprint != store_fingerprint(scan.live.entries)
    if not scan.live.entries or not (is_changed or candidates.any_new(scan.memo.judged)):
        return planned(io, run, scan)
    io.progress(f"asking {io.agent.name}")
    try:
        return _asked(io, run, scan, analysis, candidates)
    except Error as error:  # the run does what needs no answer, and ends with the error once that is done
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
    room = WHOLE_STORE_SHOWN_CHARS if budget is None else budget.shown_chars
    wanted = most_urgent_ids(new_first, live, room, scan.tiers)
    opened = wanted
    if io.agent.status is Status.CAPTURED:  # of most notes the built-in judges by what is known of them
        touched = ids_to_open(live, analysis, io.clock.now_ms())
        opened = tuple(id for id in wanted if id in touched)
    shown = choose_shown(_found(io, opened, scan), room)  # without what holds a secret: it would not be all of it
    request = DefragRequest(
        prompt="",
        nonce=io.random_word(),
        live=catalog,
        shown=shown,
        analysis=new_first.without(secret),
        usage=scan.usage,
        tiers=scan.tiers,
        now_ms=io.clock.now_ms(),
        stale_days=io.stale_days,
        budget=io.budget,
        left_alone=scan.left_alone,
        undone=scan.undone,
        force=run.force,
    )
    prompt = None
    if budget is not None:
        prompt = render_defrag_prompt(io.prompt_template, _prompt_facts(io, run, request, budget))
        request = evolve(request, prompt=prompt.text)
    unseen = frozenset(opened) - {each.meta.id for each in shown}
    judged = candidates.without(secret).judged(frozenset(wanted) - unseen, scan.memo.judged)
    fingerprint = store_fingerprint(live)
    memo = TieringMemo(fingerprint, io.agent.name, judged, scan.memo.omitted)
    key = f"defrag {fingerprint} {io.agent.name}"
    asked = evolve(run, asked=True, reply_key=key, shown=shown, memo=memo)
    reply = answered(io.agent, io.records, run.id, key, request)
    try:
        proposal = unwrap(parse_defrag_reply(reply.text, reply.nonce))
    except ReplyRefused:
        unwrap(io.records.spend_reply(key))
        raise
    if prompt is not None and proposal.tiers is not None:
        # The tiers of what the catalog had no room for stay as they are.
        proposal = evolve(proposal, tiers=proposal.tiers.where_unseen(request.tiers, prompt.listed))
    return _with_left(io, planned(io, evolve(asked, proposal=proposal), scan), analysis, candidates, request)


def _with_left(
    io: DefragIo, run: DefragRun, analysis: Analysis, candidates: Candidates, request: DefragRequest
) -> DefragRun:
    """The run with what it leaves to judge, and with what the built-in had no room for not judged; of an agent command, silence
    is a judgement, and what it proposes beyond the room is kept for later."""
    if io.agent.status is not Status.CAPTURED or run.proposal is None:
        return run
    waiting = ids_without_room(request, run.proposal.actions)
    again = [
        key
        for key, each in candidates.findings.items()
        if each.kind is FindingKind.DUPLICATE and not waiting.isdisjoint(each.ids)
    ]
    left = left_to_judge(analysis, (each.action for each in run.plan.actions))
    left = tuple(each for each in left if each.kind is not FindingKind.DUPLICATE or waiting.isdisjoint(each.ids))
    return evolve(run, left=left, memo=evolve(run.memo, judged=run.memo.judged.difference(again)))


def _prompt_facts(io: DefragIo, run: DefragRun, request: DefragRequest, budget: DefragBudget) -> DefragPromptFacts:
    profiles = request.analysis.profiles
    best = {each.meta.id: best_now(each.meta, request.now_ms) for each in request.live if each.meta.id in profiles}
    return DefragPromptFacts(
        frame=Frame(request.nonce, io.random_word()),
        request=request,
        eligible=frozenset(id for id, tier in best.items() if tier is Tier.HOT),
        at_most_warm=frozenset(id for id, tier in best.items() if tier is Tier.WARM),
        max_changes=len(request.live) if run.force else max_changes(run.live_at_start),
        budget=budget,
    )


def _found(io: DefragIo, ids: tuple[str, ...], scan: Scan) -> tuple[StoredEntry, ...]:
    """The entries, as the scan saw them; one that has changed since is not shown."""
    by_id = scan.live.by_id
    found = (io.store.read_again(by_id[id]) for id in ids if id in by_id)
    stored = (each.unwrap() for each in found if isinstance(each, Success))
    hashes = {id: each.content_hash for id, each in by_id.items()}
    return tuple(each for each in stored if hashes.get(each.meta.id) == each.listed.content_hash)


# -- what follows from the answer -------------------------------------------------------------------------------------


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
