"""The middle of consolidate: ask the agent about the session's next window. What it answers, `checking` looks at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.agent_request import AgentReply, SessionRequest
from agent_memory.domain.change import Create
from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.handing_over.own_note import is_handoff_of
from agent_memory.domain.history import History
from agent_memory.domain.inbox_entry import FileSnapshot, InlineNote, session_id_of
from agent_memory.domain.planning.planned_store import live_when_applied, stored_when_applied
from agent_memory.domain.planning.related import (
    Ranked,
    catalog_of,
    choose_shown,
    ids_to_show,
    note_chars,
    rank_related,
    tag_vocabulary,
)
from agent_memory.domain.redaction import redact
from agent_memory.domain.run import KeptReply, Run, Work
from agent_memory.domain.transcripts.windows import cut_windows
from agent_memory.domain.vocabulary import Kind
from agent_memory.errors import AgentTimedOut, Error, ReplyRefused, StateCorrupt, StoreIo
from agent_memory.formats.prompt import PromptBudget, PromptFacts, plan_prompt_budget, render_consolidate_prompt
from agent_memory.pipelines.consolidate_io import ConsolidateIo
from agent_memory.pipelines.settling import pause, set_back_by_fault, set_back_by_timeout
from agent_memory.pipelines.shelf import Shelf, read_shelf
from agent_memory.results import sealed

WHOLE_SESSION_SHOWN_CHARS = 200_000
"""Of entries in full for an agent that takes a session whole."""
NEW_NOTES_CHARS = 12_000
"""What the earlier parts of a session may have brought, in full and in the catalog."""


def run_agent(io: ConsolidateIo, run: Run) -> Result[Run, Error]:
    """The redacted reply for the next window: a stored one that was paid for, else a new one."""
    work = run.work
    if work is None or work.history is None:
        return Success(run)
    history = work.history

    def of_shelf(shelf: Shelf) -> Result[Run, Error]:
        # A later window sees the store as the earlier ones will leave it.
        entries = live_when_applied(work.plan, shelf.live.entries)
        planned = stored_when_applied(work.plan, shelf.live.entries)
        session_id = session_id_of(work.pending.entry)
        ranked = rank_related(history, entries, work.scope, session_id)

        def shown_to(related: Iterable[Ranked], max_chars: int) -> tuple[StoredEntry, ...]:
            return _shown(io, work, ids_to_show(related), planned, max_chars, entries)

        limit = io.agent.max_prompt_chars
        if limit is None:  # nor is it shown a catalog, which of a large store takes a while
            shown = shown_to(ranked, WHOLE_SESSION_SHOWN_CHARS)
            return _ask(io, run, evolve(work, windows=(history,)), history, evolve(shelf, shown=shown), None)
        catalog = catalog_of(ranked, entries, work.scope)
        match sealed(plan_prompt_budget(io.prompt_template, limit, catalog)):
            case Failure(error):
                return Success(pause(io, run, work, error))
            case Success(budget):
                windows = work.windows or _windows(history, budget, shown_to(ranked, budget.shown_chars))
                window = windows[work.window_index]
                near = ranked if len(windows) == 1 else rank_related(window, entries, work.scope, session_id)
                left = budget.beside(window)
                tags = tag_vocabulary(entries, io.vocabulary())
                seen = evolve(shelf, catalog=catalog, tags=tags, shown=shown_to(near, left.shown_chars))
                return _ask(io, run, evolve(work, windows=windows), window, seen, left)

    return read_shelf(io).bind(of_shelf)


def _windows(history: History, budget: PromptBudget, shown: Iterable[StoredEntry]) -> tuple[History, ...]:
    """The parts of a session. What these notes do not take of their third is the transcript's; but later parts are shown the
    notes of the earlier ones too."""
    notes_chars = sum(map(note_chars, shown))
    windows = cut_windows(history, budget.window_chars(notes_chars))
    return windows if len(windows) == 1 else cut_windows(history, budget.window_chars(notes_chars + NEW_NOTES_CHARS))


def _shown(
    io: ConsolidateIo,
    work: Work,
    related: tuple[str, ...],
    planned: Mapping[str, StoredEntry],
    max_chars: int,
    live: Sequence[Listed],
) -> tuple[StoredEntry, ...]:
    """The session's own handoff and the most related entries, as many as fit; what cannot be read is not shown."""
    handoffs = [each for each in live if each.meta.kind is Kind.HANDOFF]
    handoff = _handoff_id(work, planned, (each.meta for each in handoffs))
    ids = dict.fromkeys((*((handoff,) if handoff else ()), *related))
    found = (Success(planned[id]) if id in planned else io.store.read(id) for id in ids)
    stored = [each.unwrap() for each in found if isinstance(each, Success)]
    return choose_shown(stored, max_chars)


def _ask(
    io: ConsolidateIo, run: Run, work: Work, window: History, shelf: Shelf, budget: PromptBudget | None
) -> Result[Run, Error]:
    key = reply_key(io, work, window)

    def answered(kept: KeptReply | None) -> Result[Run, Error]:
        if kept is not None and kept.shown == _hashes(shelf.shown):
            return Success(_with_reply(run, work, _request(io, work, window, shelf, kept.nonce), kept.text, key))
        request = _request(io, work, window, shelf, io.random_word())
        prompt = (
            ""
            if budget is None
            else render_consolidate_prompt(io.prompt_template, _prompt_facts(io, work, request, shelf, budget))
        )
        match sealed(io.agent.answer(evolve(request, prompt=prompt))):
            case Success(reply):
                text = redact(reply.text).text
                kept_now = KeptReply(text, request.nonce, _hash(prompt), _hashes(shelf.shown))
                asked = evolve(_with_reply(run, work, request, text, key), timeouts_in_a_row=0)
                return io.runs.keep_reply(run.id, key, kept_now).map(lambda _: asked)
            case Failure(error):
                return _unanswered(io, run, work, error)

    return io.runs.find_reply(key).bind(answered)


def _with_reply(run: Run, work: Work, request: SessionRequest, text: str, key: str) -> Run:
    keys = (*work.reply_keys, key)
    return evolve(run, work=evolve(work, request=request, reply=AgentReply(text), reply_keys=keys))


def _unanswered(io: ConsolidateIo, run: Run, work: Work, error: Error) -> Result[Run, Error]:
    match error:
        case AgentTimedOut():
            return Success(set_back_by_timeout(io, run, work, error))
        case ReplyRefused():
            return Success(set_back_by_fault(io, run, work, error))
        case StoreIo() | StateCorrupt():
            return Failure(error)
        case _:
            return Success(pause(io, run, work, error))


def _request(io: ConsolidateIo, work: Work, window: History, shelf: Shelf, nonce: str) -> SessionRequest:
    return SessionRequest(
        prompt="",
        nonce=nonce,
        entry=work.pending.entry,
        window=window,
        shown=shelf.shown,
        handoff_id=_shown_handoff(work, shelf.shown),
        now_ms=io.clock.now_ms(),
        final_window=work.window_index == len(work.windows) - 1 and not work.remaining,
    )


def _shown_handoff(work: Work, shown: tuple[StoredEntry, ...]) -> str | None:
    """The session's earlier handoff, when it still lives and is shown."""
    by_id = {each.meta.id: each for each in shown}
    handoff = _handoff_id(work, by_id, (each.meta for each in shown))
    return handoff if handoff in by_id else None


def _handoff_id(work: Work, entries: Mapping[str, StoredEntry], live: Iterable[Meta]) -> str | None:
    """The handoff that the session has: of an earlier run, planned by an earlier window, or of `memory handoff`."""
    if work.mark is not None and work.mark.handoff_id is not None:
        return work.mark.handoff_id
    created = [change.entry.meta.id for change in work.plan.changes if isinstance(change, Create)]
    planned = (id for id in created if id in entries and entries[id].meta.kind is Kind.HANDOFF)
    session_id = session_id_of(work.pending.entry)
    stored = (each.id for each in live if session_id and is_handoff_of(each, work.pending.entry.harness, session_id))
    return next(planned, None) or next(stored, None)


def _prompt_facts(
    io: ConsolidateIo, work: Work, request: SessionRequest, shelf: Shelf, budget: PromptBudget
) -> PromptFacts:
    return PromptFacts(
        nonce=request.nonce,
        fence=io.random_word(),
        entry=request.entry,
        window=request.window,
        scope=work.scope,
        now_ms=request.now_ms,
        budget=budget,
        catalog=shelf.catalog,
        shown=request.shown,
        vocabulary=shelf.tags,
        handoff_id=request.handoff_id,
        final_window=request.final_window,
        handoff_days=io.handoff_days,
    )


def reply_key(io: ConsolidateIo, work: Work, window: History) -> str:
    """What a stored reply is found by: session, record range, agent."""
    entry = work.pending.entry
    session = session_id_of(entry) if not isinstance(entry.retrieval, InlineNote | FileSnapshot) else None
    first, last = window.turns[0], window.turns[-1]
    records = f"{first.number}:{first.record_id}..{last.number}:{last.record_id}:{len(last.text)}"
    return f"{entry.harness} {session or work.pending.name} {records} window {work.window_index} {io.agent.name}"


def _hashes(shown: tuple[StoredEntry, ...]) -> dict[str, str]:
    return {each.meta.id: each.listed.content_hash for each in shown}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
