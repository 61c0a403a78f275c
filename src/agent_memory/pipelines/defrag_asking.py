"""The middle of defrag: ask the agent, unless there is nothing new to ask about, and check what it answered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.analysis.choosing import ids_to_show
from agent_memory.domain.analysis.fingerprints import store_fingerprint
from agent_memory.domain.defrag_run import DefragRun, Scan, TieringMemo
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.planning.related import choose_shown
from agent_memory.domain.planning.run_limits import max_changes
from agent_memory.domain.redaction import redact
from agent_memory.domain.run import KeptReply
from agent_memory.domain.secret_entries import secret_ids, without_secret
from agent_memory.domain.tidying.candidates import Candidates, candidates_of
from agent_memory.domain.tidying.left_to_judge import left_to_judge
from agent_memory.domain.tidying.tidied import ids_to_open, ids_without_room
from agent_memory.domain.tiering.tier_columns import tier_columns
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Status
from agent_memory.errors import Error, ReplyRefused
from agent_memory.formats.defrag_prompt import (
    DefragBudget,
    DefragPromptFacts,
    plan_defrag_budget,
    render_defrag_prompt,
)
from agent_memory.formats.defrag_reply import parse_defrag_reply
from agent_memory.pipelines.defrag_io import DefragIo
from agent_memory.pipelines.defrag_planning import planned
from agent_memory.results import sealed

WHOLE_STORE_SHOWN_CHARS = 4_000_000
"""Of entries in full for an agent that reads values and no prompt."""


def run_agent(io: DefragIo, run: DefragRun) -> Result[DefragRun, Error]:
    """The checked plan: of a stored reply that was paid for, else of a new one; of no reply where nothing is new."""
    scan, analysis = run.scan, run.analysis
    if scan is None or analysis is None:
        return Success(run)
    question = _Question(store_fingerprint(scan.live.entries), candidates_of(analysis.findings, run.hashes))
    if not _is_anything_new(scan, question):
        return Success(planned(io, run, scan))
    io.progress(f"asking {io.agent.name}")
    return _asked(io, run, scan, analysis, question).lash(lambda error: _without_an_answer(io, run, scan, error))


def _without_an_answer(io: DefragIo, run: DefragRun, scan: Scan, error: Error) -> Result[DefragRun, Error]:
    """The run with what needs no answer, to end with the error once that is done; the error where there is nothing."""
    alone = planned(io, run, scan)
    return Success(evolve(alone, trouble=error)) if alone.plan.actions else Failure(error)


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


def _asked(
    io: DefragIo, run: DefragRun, scan: Scan, analysis: Analysis, question: _Question
) -> Result[DefragRun, Error]:
    live = scan.live.entries
    catalog, secret = without_secret(live), secret_ids(live)
    new_first = evolve(analysis, findings=question.candidates.new_first(scan.memo.judged))
    key = f"defrag {question.fingerprint} {io.agent.name}"

    def with_budget(budget: DefragBudget | None) -> Result[DefragRun, Error]:
        room = WHOLE_STORE_SHOWN_CHARS if budget is None else budget.shown_chars
        wanted = ids_to_show(new_first, live, room, scan.tiers)
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
        told = question.candidates.without(secret)
        judged = told.judged(frozenset(wanted) - unseen, scan.memo.judged)
        memo = TieringMemo(question.fingerprint, io.agent.name, judged, scan.memo.omitted)
        asked = evolve(run, asked=True, reply_key=key, shown=shown, memo=memo)

        def answered(parsed: DefragRun) -> DefragRun:
            sure = parsed if prompt is None else _without_guesses(parsed, request.tiers, prompt.listed)
            return _with_left(io, planned(io, sure, scan), analysis, question, request)

        return _answer(io, run, request, key).bind(lambda kept: _parsed(io, asked, kept)).map(answered)

    return _budget(io, run, catalog).bind(with_budget)


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


def _budget(io: DefragIo, run: DefragRun, catalog: Sequence[Listed]) -> Result[DefragBudget | None, Error]:
    limit = io.agent.max_prompt_chars
    if limit is None:
        return Success(None)
    return plan_defrag_budget(io.prompt_template, limit, catalog)


def _answer(io: DefragIo, run: DefragRun, request: DefragRequest, key: str) -> Result[KeptReply, Error]:
    """A stored reply to the same question, else a new one. Each keeps the nonce of its own prompt."""
    hashes = {each.meta.id: each.listed.content_hash for each in request.shown}

    def found(kept: KeptReply | None) -> Result[KeptReply, Error]:
        if kept is not None and kept.shown == hashes:
            return Success(kept)

        def keep(text: str) -> Result[KeptReply, Error]:
            reply = KeptReply(redact(text).text, request.nonce, _hash(request.prompt), hashes)
            return io.records.keep_reply(run.id, key, reply).map(lambda _: reply)

        return io.agent.answer(request).bind(lambda reply: keep(reply.text))

    return io.records.find_reply(key).bind(found)


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
    known = [each for each in request.live if each.meta.id in profiles]
    best = tier_columns(known, request.usage, request.now_ms).best
    return {each.meta.id: tier for each, tier in zip(known, best, strict=True)}


def _parsed(io: DefragIo, run: DefragRun, kept: KeptReply) -> Result[DefragRun, Error]:
    match sealed(parse_defrag_reply(kept.text, kept.nonce)):
        case Success(proposal):
            return Success(evolve(run, proposal=proposal))
        case Failure(refused):
            return _refused(io, run, refused)


def _without_guesses(run: DefragRun, tiers: TierList, listed: frozenset[str]) -> DefragRun:
    """The run, where the tiers of what the catalog had no room for stay as they are."""
    proposal = run.proposal
    if proposal is None or proposal.tiers is None:
        return run
    return evolve(run, proposal=evolve(proposal, tiers=proposal.tiers.where_unseen(tiers, listed)))


def _refused(io: DefragIo, run: DefragRun, refused: ReplyRefused) -> Result[DefragRun, Error]:
    spent = Success(None) if run.reply_key is None else io.records.spend_reply(run.reply_key)
    return spent.bind(lambda _: Failure(refused))


def _found(io: DefragIo, ids: tuple[str, ...], scan: Scan) -> tuple[StoredEntry, ...]:
    """The entries, as the scan saw them; one that has changed since is not shown."""
    listed = {each.meta.id: each for each in scan.live.entries}
    found = (io.store.read_again(listed[id]) for id in ids if id in listed)
    stored = (each.unwrap() for each in found if isinstance(each, Success))
    return tuple(
        each
        for each in stored
        if each.meta.id in listed and listed[each.meta.id].content_hash == each.listed.content_hash
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
