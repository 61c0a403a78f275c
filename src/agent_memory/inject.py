"""Brings notes before an agent: what is prepared for a place, what a query finds, and what a session was given."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

from agent_memory.capture.repository import may_be_in_work_tree
from agent_memory.errors import Error, StoreIo, UsageInvalid
from agent_memory.note.note import GLOBAL_SCOPE, Harness, Listed, StoredEntry, Tier, TierList, tiers_of
from agent_memory.recall.assembling import (
    BUILT_IN,
    NOTHING,
    QUERY,
    SESSION_START,
    Injection,
    Passage,
    assemble,
    profile_named,
    with_notes,
)
from agent_memory.recall.candidates import (
    InjectRequest,
    Place,
    candidates,
    good_until_ms,
    is_relevant,
    may_be_injected,
    shown,
    with_contradicted,
)
from agent_memory.recall.delivery_log import COMMAND, Delivery, DeliveryLog, known_ids
from agent_memory.recall.grounding import grounded
from agent_memory.recall.hits import Mode, SearchRequest
from agent_memory.recall.start_cache import Prepared
from agent_memory.results import as_result, unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_memory.app import Memory
    from agent_memory.ports import Notes
    from agent_memory.recall.candidates import Shown

_FITS = 0.6
"""From this score on a note answers a query: it has a third of its words by their weight, or is as near in meaning."""


@as_result
def inject(memory: Memory, request: InjectRequest) -> Injection:
    """Returns what an agent should know, within a budget of tokens. It is recorded as a delivery, so that the session
    is not given the same twice. If that fails it is returned anyway: the record only saves repetition."""
    config, asked = memory.config.inject, (request.query or "").strip()
    name = request.profile or (QUERY if request.query else SESSION_START)
    budget = config.token_budget if request.budget is None else request.budget
    profile = profile_named(name, config.profiles, budget)
    if profile is None:
        known = ", ".join(sorted({*BUILT_IN, *config.profiles}))
        raise UsageInvalid(f"There is no profile {name!r}", f"Known are {known}.")
    if request.query:
        profile = with_notes(profile, budget)
    passages = [*find_passages(memory, asked, Mode.HYBRID)] if asked else []
    more = 0
    if set(profile.shares) - {"notes"}:
        prepared = unwrap(prepare(memory))
        passages += grounded(prepared.passages, memory.checkout, memory.real_root)
        more = prepared.more
    harness = (request.harness or memory.caller.harness).value
    session, scope, now_ms = request.session or "", memory.scope_on_arrival(), memory.clock.now_ms()
    try:
        with DeliveryLog(memory.real_root) as log:
            had = known_ids(log.deliveries(session), harness, session, now_ms) if session else {}
            injection = assemble(passages, profile, had, more=more)
            if injection.ids:
                told = (injection.ids, injection.tokens, scope, "", 0, injection.whole)
                log.append(Delivery(now_ms, harness, session, COMMAND, *told))
            return injection
    except OSError as error:
        memory.warn(f"What was injected could not be recorded: {error.strerror}.")
        return assemble(passages, profile, more=more)


@as_result
def prepare(
    memory: Memory, around: Place | None = None, notes: Notes | None = None, for_id: str | None = None
) -> Prepared:
    """Returns the passages for sessions in a place, here if none is given, best first, with the settings; none where
    this note is not among them."""
    around = around or place_of(memory)
    notes, tiers = notes or memory.notes_here, TierList()
    live = unwrap(notes.list())
    try:
        tiers = unwrap(notes.tiers())
    except StoreIo:
        raise
    except Error:
        pass  # a damaged tier list does not keep the notes from being told; doctor reports it
    unread: list[Error | None] = [each.io_error for each in live.unreadable]

    def read(listed: Listed) -> StoredEntry | None:
        try:
            return unwrap(notes.read_again(listed))
        except Error as error:
            unread.append(error)
            return None

    hot = [id for id, tier in tiers_of(tiers, live.entries).items() if tier is Tier.HOT]
    found, more = candidates(live.entries, read, around, hot)
    if for_id is not None and for_id not in (each.stored.meta.id for each in found):
        found = []
    passages = tuple(_passages(memory, found, around))
    # What could not be read just now must not stay away until another note changes (P6).
    until_ms = 0 if any(isinstance(each, StoreIo) for each in unread) else good_until_ms(live.entries, around)
    config = memory.config.inject
    return Prepared(passages, config.token_budget, config.profiles, until_ms, more, memory.config.eval.hold_out)


def _passages(memory: Memory, found: Sequence[Shown], around: Place) -> Iterator[Passage]:
    from agent_memory.recall.neutral_markdown import passage_of

    for each in with_contradicted(found):
        passage = passage_of(each, memory.branch_mark(each.stored.meta.sources), around.scope)
        if passage is not None:
            yield passage


def told_where(memory: Memory, notes: Notes, listed: Listed) -> tuple[str, ...]:
    """Returns where a note is told, in sentences: in the files with a managed section, and to a session that starts in
    its place, both as if they were made now."""
    from agent_memory.rules.tiers import best_now

    if listed.archived:
        return ("No session sees it, because it is archived.",)
    meta = listed.meta
    scope = memory.scope_on_arrival() if meta.scope == GLOBAL_SCOPE else meta.scope
    prepared = unwrap(prepare(memory, Place(scope, scope != GLOBAL_SCOPE, memory.clock.now_ms()), notes, meta.id))
    is_near = meta.pinned or meta.is_vouched_for or unwrap(notes.tiers()).of(meta.id) is not Tier.COLD
    published = unwrap(memory.publish(None, dry_run=True)).targets if is_near else ()
    profile = profile_named(SESSION_START, prepared.profiles, prepared.budget)
    passages = (
        grounded(prepared.passages, memory.checkout, memory.real_root)
        if scope == memory.scope_on_arrival()
        else prepared.passages
    )
    injection = NOTHING if profile is None else assemble(passages, profile, more=prepared.more)
    passage = next((each for each in passages if each.id == meta.id), None)
    shown = [(each.path, each.rendered) for each in published if each.rendered is not None]
    files = [f"{path} shows all of it." for path, rendered in shown if meta.id in rendered.hot]
    files += [f"{path} shows one line of it." for path, rendered in shown if meta.id in rendered.warm]
    switches, place = memory.switches(), next((each.cwd for each in reversed(meta.sources) if each.cwd), None)
    place = memory.cwd if scope == memory.scope_on_arrival() else place
    off = switches.everywhere if meta.scope == GLOBAL_SCOPE else switches.off(place, scope)
    if off is not None:
        return (*files, f"No session is told of it: {off.sentence}")
    if passage is None:
        is_doubtful = best_now(meta, memory.clock.now_ms()) is Tier.WARM
        because = ": it may be an order, and no message of yours says it; `memory promote` vouches for it" * is_doubtful
        return (*files, f"No hook shows it to a session unasked{because}.")
    if meta.id not in injection.ids:
        start = "has no room for it at the start; it is shown with a prompt that it fits"
    else:
        how_much = "all" if passage.whole and passage.whole in injection.text else "one line"
        start = f"sees {how_much} of it at the start, if the harness has memory's hook"
    return (*files, f"A session in {'any place' if meta.scope == GLOBAL_SCOPE else scope} {start}.")


def find_passages(memory: Memory, query: str, mode: Mode, least_score: float = _FITS) -> tuple[Passage, ...]:
    """Returns the notes that are about the query and may be shown, best first: by enough words in common, or by their
    score. If there are none, the caller is warned of what could not be read or searched (P6)."""
    around = place_of(memory)
    # Not all of these may be shown.
    request = SearchRequest(query, limit=20, mode=mode, here=around.scope, scopes=around.scopes)
    answer = unwrap(memory.search(request))
    found = [
        each.stored
        for each in answer.hits
        if each.superseded_by is None
        and may_be_injected(each.stored.listed, around)
        and (each.score >= least_score or is_relevant(query, each.stored))
    ]
    ready: tuple[Passage, ...] = ()
    if found:  # most prompts find nothing, and need none of what judges and redacts a note
        fit = [each for each in (shown(stored, "notes") for stored in found) if each is not None]
        # More than a profile shows are prepared, since a session may know some already.
        best = tuple(islice(_passages(memory, fit, around), 12))
        ready = grounded(best, memory.checkout, memory.real_root)
    for notice in () if ready else answer.notices:
        memory.warn(notice)
    return ready


@as_result
def find_relevant(memory: Memory, prompt: str) -> tuple[Passage, ...]:
    """Returns the notes that are about what a person just asked. By words alone: a hook has no time to load a model,
    and a prompt contains more than its subject, so a score would tell nothing."""
    return find_passages(memory, prompt, Mode.BM25, least_score=math.inf)


def recover(memory: Memory, harness: str, session_id: str) -> tuple[Passage, ...]:
    """Returns the last words of a session that was cut off; empty if it was not, or cannot be read."""
    from agent_memory.recall.neutral_markdown import recovery_passage  # handing over sessions takes long to load

    taken = memory.take_over(session_id, Harness(harness))
    passage = taken.map(lambda found: recovery_passage(found.handover)).value_or(None)
    return () if passage is None else (passage,)


def place_of(memory: Memory) -> Place:
    in_repository = may_be_in_work_tree(memory.cwd)
    return Place(memory.scope_on_arrival(), in_repository, memory.clock.now_ms())
