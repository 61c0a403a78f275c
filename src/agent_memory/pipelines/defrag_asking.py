"""The middle of defrag: ask the agent, unless there is nothing new to ask about, and check what it answered."""

from __future__ import annotations

import hashlib

from attrs import evolve, frozen
from returns.result import Success

from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.defrag_run import DefragRun, Scan, TieringMemo
from agent_memory.domain.defragging.tidied import ids_to_open, ids_without_room
from agent_memory.domain.entry import StoredEntry, secret_ids, without_secret
from agent_memory.domain.findings import (
    Analysis,
    Candidates,
    FindingKind,
    candidates_of,
    left_to_judge,
    store_fingerprint,
)
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.shown import choose_shown, most_urgent_ids
from agent_memory.domain.redaction import redact
from agent_memory.domain.run import KeptReply
from agent_memory.domain.tiering.score import best_now
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import ERRORS, ReplyRefused
from agent_memory.formats.defrag_prompt import (
    DefragBudget,
    DefragPromptFacts,
    plan_defrag_budget,
    render_defrag_prompt,
)
from agent_memory.formats.reply import parse_defrag_reply
from agent_memory.pipelines.defrag_planning import DefragIo, planned
from agent_memory.results import unwrap

WHOLE_STORE_SHOWN_CHARS = 4_000_000
"""Of entries in full for an agent that reads values and no prompt."""


def run_agent(io: DefragIo, run: DefragRun) -> DefragRun:
    """The checked plan: of a stored reply that was paid for, else of a new one; of no reply where nothing is new."""
    scan, analysis = run.scan, run.analysis
    if scan is None or analysis is None:
        return run
    question = _Question(store_fingerprint(scan.live.entries), candidates_of(analysis.findings, run.hashes))
    if not _is_anything_new(scan, question):
        return planned(io, run, scan)
    io.progress(f"asking {io.agent.name}")
    try:
        return _asked(io, run, scan, analysis, question)
    except ERRORS as error:  # the run does what needs no answer, and ends with the error once that is done
        alone = planned(io, run, scan)
        if not alone.plan.actions:
            raise
        return evolve(alone, trouble=error)


@frozen
class _Question:
    """What a run would ask about."""

    fingerprint: str
    """Of the live entries."""
    candidates: Candidates


def _is_anything_new(scan: Scan, question: _Question) -> bool:
    """Whether an entry changed since the last tiering, or the analysis found what this agent has not judged yet."""
    if not scan.live.entries:
        return False
    return scan.memo.fingerprint != question.fingerprint or question.candidates.any_new(scan.memo.judged)


def _asked(io: DefragIo, run: DefragRun, scan: Scan, analysis: Analysis, question: _Question) -> DefragRun:
    live = scan.live.entries
    catalog, secret = without_secret(live), secret_ids(live)
    new_first = evolve(analysis, findings=question.candidates.new_first(scan.memo.judged))
    key = f"defrag {question.fingerprint} {io.agent.name}"
    limit = io.agent.max_prompt_chars
    budget = None if limit is None else unwrap(plan_defrag_budget(io.prompt_template, limit, catalog))
    room = WHOLE_STORE_SHOWN_CHARS if budget is None else budget.shown_chars
    wanted = most_urgent_ids(new_first, live, room, scan.tiers)
    opened = _to_open(io, wanted, scan, analysis)
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
    judged = question.candidates.without(secret).judged(frozenset(wanted) - unseen, scan.memo.judged)
    memo = TieringMemo(question.fingerprint, io.agent.name, judged, scan.memo.omitted)
    asked = evolve(run, asked=True, reply_key=key, shown=shown, memo=memo)
    kept = _answer(io, run, request, key)
    try:
        proposal = unwrap(parse_defrag_reply(kept.text, kept.nonce))
    except ReplyRefused:
        unwrap(io.records.spend_reply(key))
        raise
    if prompt is not None and proposal.tiers is not None:
        # The tiers of what the catalog had no room for stay as they are.
        proposal = evolve(proposal, tiers=proposal.tiers.where_unseen(request.tiers, prompt.listed))
    return _with_left(io, planned(io, evolve(asked, proposal=proposal), scan), analysis, question, request)


def _with_left(
    io: DefragIo, run: DefragRun, analysis: Analysis, question: _Question, request: DefragRequest
) -> DefragRun:
    """The run with what it leaves to judge, and with what the built-in had no room for not judged; of an agent command, silence
    is a judgement, and what it proposes beyond the room is kept for later."""
    if io.agent.status is not Status.CAPTURED or run.proposal is None:
        return run
    waiting = ids_without_room(request, run.proposal.actions)
    again = [
        key
        for key, each in question.candidates.findings.items()
        if each.kind is FindingKind.DUPLICATE and not waiting.isdisjoint(each.ids)
    ]
    left = left_to_judge(analysis, (each.action for each in run.plan.actions))
    left = tuple(each for each in left if each.kind is not FindingKind.DUPLICATE or waiting.isdisjoint(each.ids))
    return evolve(run, left=left, memo=evolve(run.memo, judged=run.memo.judged.difference(again)))


def _to_open(io: DefragIo, wanted: tuple[str, ...], scan: Scan, analysis: Analysis) -> tuple[str, ...]:
    """What of the entries to be shown has to be read: of most the built-in judges by what is known of them."""
    if io.agent.status is not Status.CAPTURED:
        return wanted
    touched = ids_to_open(scan.live.entries, analysis, io.clock.now_ms())
    return tuple(id for id in wanted if id in touched)


def _answer(io: DefragIo, run: DefragRun, request: DefragRequest, key: str) -> KeptReply:
    """A stored reply to the same question, else a new one. Each keeps the nonce of its own prompt."""
    hashes = {each.meta.id: each.listed.content_hash for each in request.shown}
    kept = unwrap(io.records.find_reply(key))
    if kept is not None and kept.shown == hashes:
        return kept
    text = unwrap(io.agent.answer(request)).text
    reply = KeptReply(redact(text).text, request.nonce, _hash(request.prompt), hashes)
    unwrap(io.records.keep_reply(run.id, key, reply))
    return reply


def _prompt_facts(io: DefragIo, run: DefragRun, request: DefragRequest, budget: DefragBudget) -> DefragPromptFacts:
    best = _best_tiers(request)
    return DefragPromptFacts(
        nonce=request.nonce,
        fence=io.random_word(),
        catalog=request.live,
        usage=request.usage,
        tiers=request.tiers,
        findings=request.analysis.findings,
        shown=request.shown,
        eligible=frozenset(id for id, tier in best.items() if tier is Tier.HOT),
        at_most_warm=frozenset(id for id, tier in best.items() if tier is Tier.WARM),
        left_alone=request.left_alone,
        profiles=request.analysis.profiles,
        section=io.budget,
        now_ms=request.now_ms,
        max_changes=len(request.live) if run.force else max_changes(run.live_at_start),
        budget=budget,
    )


def _best_tiers(request: DefragRequest) -> dict[str, Tier]:
    profiles = request.analysis.profiles
    return {each.meta.id: best_now(each.meta, request.now_ms) for each in request.live if each.meta.id in profiles}


def _found(io: DefragIo, ids: tuple[str, ...], scan: Scan) -> tuple[StoredEntry, ...]:
    """The entries, as the scan saw them; one that has changed since is not shown."""
    listed = {each.meta.id: each for each in scan.live.entries}
    found = (io.store.read_again(listed[id]) for id in ids if id in listed)
    stored = (each.unwrap() for each in found if isinstance(each, Success))
    hashes = {id: each.content_hash for id, each in listed.items()}
    return tuple(each for each in stored if hashes.get(each.meta.id) == each.listed.content_hash)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
