"""From what an agent proposes to exactly what will be written: every rule of the contract that stands before the store.

Pure and deterministic: the same change set and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from attrs import evolve, field, frozen
from returns.result import Failure, Success

from agent_memory.domain.change import Change, Create, Dropped, Replace, Retire
from agent_memory.domain.change_set import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.derive import MAX_TITLE_CHARS, derive_description, derive_title
from agent_memory.domain.drafts import (
    body_problems,
    stored_body,
    stored_description,
    stored_line,
    stored_tags,
    stored_title,
    title_problems,
)
from agent_memory.domain.entry import MemoryEntry, Meta, StoredEntry
from agent_memory.domain.entry_updates import updated, with_links
from agent_memory.domain.ids import mint_id
from agent_memory.domain.inbox_entry import InlineNote
from agent_memory.domain.linking import Targets, link_body
from agent_memory.domain.plain_text import one_line
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planned_store import planned_entries
from agent_memory.domain.provenance import (
    cited_turns,
    computed_origin,
    ended_at_ms,
    handoff_expires_at_ms,
    is_persons_note,
    learnt_at_ms,
    source_of,
)
from agent_memory.domain.redaction import redact
from agent_memory.domain.results import sealed
from agent_memory.domain.run_limits import admit, changed_id, changed_ids
from agent_memory.domain.salience import lost_salience
from agent_memory.domain.same_body import body_hash
from agent_memory.domain.terms import content_terms, coverage
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Kind, Origin, Sensitivity, Status

_MAX_SUBJECT_CHARS = 80
_MAX_REASON_CHARS = 500
_MAX_SKIPPED_CHARS = 500
_ONCE = ("an entry is replaced or archived once",)
_SAID_AGAIN = 0.6
"""Share of a note's words that must be in what an agent made of it."""


@frozen
class _Draft:
    """A proposed entry that will be written, before its links are resolved."""

    proposed: ProposedEntry
    meta: Meta
    body: str


@frozen
class _Sorted:
    """What one step decided."""

    changes: tuple[Change, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@frozen
class _Drafted:
    drafts: tuple[_Draft, ...] = ()
    updates: tuple[ProposedUpdate, ...] = ()
    """Handoffs that renew the one that the session has."""
    dropped: tuple[Dropped, ...] = ()
    by_ref: Mapping[str, str] = field(factory=dict)


def plan_window(change_set: ChangeSet, facts: PlanFacts, so_far: Plan = Plan()) -> Plan:  # noqa: B008 - a frozen value
    """The session's plan with this window's part: `so_far` and all of the change set that may be done.

    What may not be done is in `dropped` with its reasons, what is over the run's limit is in `deferred`. A person's
    inline note that the change set leaves out is added whole. Guarantees of the result, given that `so_far` has them:
    ids and file names are unique; every link leads to an entry; no text holds a hidden character, a sentinel or a secret
    that is found; only entries shown in full are replaced or archived, each once, and none that is pinned, conflicted
    or secret; every salient token of replaced text is in the new text or was named as dropped.
    """
    unique = _without_doubles(_draft_entries(change_set.entries, facts, so_far), facts, so_far)
    targets = _targets(unique, facts, so_far)
    retired, successors = _superseded(unique.drafts, facts, so_far)
    created = _created(unique.drafts, successors, targets)
    gone = frozenset(id for ids in successors.values() for id in ids)
    updates = _updates((*unique.updates, *change_set.updates), facts, so_far, targets, gone)
    told = tuple(_told(each) for each in change_set.dropped)
    dropped = so_far.dropped + told + unique.dropped + created.dropped + retired.dropped + updates.dropped
    plan = _merged(so_far, created.changes + retired.changes + updates.changes, facts)
    skipped = stored_line(change_set.skipped, _MAX_SKIPPED_CHARS) if change_set.skipped else so_far.skipped
    return _with_left_out_note(evolve(plan, dropped=dropped, skipped=skipped or None), facts)


def plan_inline_fallback(facts: PlanFacts, so_far: Plan = Plan()) -> Plan:  # noqa: B008 - a frozen value
    """The plan that stores an inline note whole, as `captured`: nothing but secrets and hidden characters is taken out.

    For any other retrieval it is `so_far`. An identical body that lives already is not stored twice.
    """
    note = facts.entry.retrieval
    if not isinstance(note, InlineNote):
        return so_far
    body = stored_body(note.body) or stored_line(note.title)
    title = one_line(stored_title(note.title) or derive_title(body) or "untitled note", MAX_TITLE_CHARS)
    known = _id_with_body(body, facts, so_far)
    if known is not None:
        double = Dropped(_subject(title), (f"it is already stored as {known}",))
        return evolve(so_far, dropped=(*so_far.dropped, double))
    proposed = ProposedEntry(title, body, note.kind or Kind.FACT, note.tags)
    origin = Origin.USER if is_persons_note(facts) else Origin.AGENT
    meta = evolve(_meta(proposed, title, body, facts, _taken(facts, so_far)), status=Status.CAPTURED, origin=origin)
    linked = link_body(body, (), _targets(_Drafted(), facts, so_far), meta.id)
    return evolve(so_far, changes=(*so_far.changes, Create(MemoryEntry(meta, linked.body))), skipped=None)


# -- new entries ------------------------------------------------------------------------------------------------------


def _draft_entries(entries: Iterable[ProposedEntry], facts: PlanFacts, so_far: Plan) -> _Drafted:
    drafts: list[_Draft] = []
    updates: list[ProposedUpdate] = []
    dropped: list[Dropped] = []
    by_ref: dict[str, str] = {}
    handoff_id = _handoff_to_renew(facts, so_far)
    taken = set(_taken(facts, so_far))
    for proposed in entries:
        title, body = stored_title(proposed.title), stored_body(proposed.body)
        problems = title_problems(title) + body_problems(body) + _handoff_problems(proposed, drafts, updates, facts)
        if problems:
            dropped.append(Dropped(_subject(proposed.title), problems))
        elif proposed.kind is Kind.HANDOFF and handoff_id is not None:
            updates.append(_renewal(proposed, handoff_id))
            by_ref.update({proposed.ref: handoff_id} if proposed.ref else {})
        else:
            meta = _meta(proposed, title, body, facts, taken)
            taken.add(meta.id.casefold())
            drafts.append(_Draft(proposed, meta, body))
            by_ref.update({proposed.ref: meta.id} if proposed.ref else {})
    return _Drafted(tuple(drafts), tuple(updates), tuple(dropped), by_ref)


def _meta(proposed: ProposedEntry, title: str, body: str, facts: PlanFacts, taken: Container[str]) -> Meta:
    cited = cited_turns(proposed.turns, facts)
    created_at_ms = learnt_at_ms(cited, facts)
    description = stored_description(proposed.description or "") or derive_description(body)
    return Meta(
        id=mint_id(title, created_at_ms, taken),
        title=title,
        created_at_ms=created_at_ms,
        updated_at_ms=created_at_ms,
        description=description,
        kind=proposed.kind,
        tags=stored_tags(proposed.tags),
        status=facts.status,
        origin=computed_origin(title, f"{description}\n{body}", proposed.kind, cited, facts),
        scope=GLOBAL_SCOPE if proposed.scope == "global" else facts.scope,
        importance=proposed.importance or Importance.MEDIUM,
        confidence=proposed.confidence,
        expires_at_ms=handoff_expires_at_ms(facts) if proposed.kind is Kind.HANDOFF else None,
        sources=(source_of(cited, facts),),
    )


def _handoff_problems(
    proposed: ProposedEntry, drafts: list[_Draft], updates: list[ProposedUpdate], facts: PlanFacts
) -> tuple[str, ...]:
    if proposed.kind is not Kind.HANDOFF:
        return ()
    if handoff_expires_at_ms(facts) <= facts.now_ms:
        return (f"the session ended more than {facts.handoff_days} days ago, so a handoff is of no use",)
    has_one = bool(updates) or any(draft.proposed.kind is Kind.HANDOFF for draft in drafts)
    return ("a session has one handoff",) if has_one else ()


def _handoff_to_renew(facts: PlanFacts, so_far: Plan) -> str | None:
    """The session's handoff, where a new one can take its place: planned by an earlier window, or shown in full."""
    planned = (id for id, entry in planned_entries(so_far).items() if entry.meta.kind is Kind.HANDOFF)
    known = facts.handoff_id if facts.handoff_id in facts.shown else None
    return next(planned, known)


def _renewal(proposed: ProposedEntry, id: str) -> ProposedUpdate:
    return ProposedUpdate(
        id, proposed.title, proposed.description or "", proposed.tags, proposed.body, (), proposed.turns
    )


def _without_doubles(drafted: _Drafted, facts: PlanFacts, so_far: Plan) -> _Drafted:
    """Without the drafts that say what is stored already; a ref to such a draft means the stored entry."""
    kept: list[_Draft] = []
    dropped: list[Dropped] = []
    by_ref = dict(drafted.by_ref)
    here: dict[str, str] = {}
    targets = _targets(drafted, facts, so_far)
    for draft in drafted.drafts:
        body = link_body(draft.body, draft.proposed.links, targets, draft.meta.id).body
        known = here.get(body_hash(body)) or _id_with_body(body, facts, so_far)
        if known is None:
            kept.append(draft)
            here[body_hash(body)] = draft.meta.id
        else:
            dropped.append(Dropped(_subject(draft.meta.title), (f"it is already stored as {known}",)))
            by_ref.update({draft.proposed.ref: known} if draft.proposed.ref else {})
    return evolve(drafted, drafts=tuple(kept), dropped=drafted.dropped + tuple(dropped), by_ref=by_ref)


def _created(drafts: Iterable[_Draft], successors: Mapping[str, tuple[str, ...]], targets: Targets) -> _Sorted:
    changes: list[Change] = []
    dropped: list[Dropped] = []
    for draft in drafts:
        linked = link_body(draft.body, draft.proposed.links, targets, draft.meta.id)
        old = successors.get(draft.meta.id, ())
        meta = evolve(draft.meta, supersedes=old, valid_from_ms=draft.meta.created_at_ms if old else None)
        changes.append(Create(MemoryEntry(meta, linked.body)))
        dropped += _unlinked(_subject(draft.meta.title), linked.unknown)
    return _Sorted(tuple(changes), tuple(dropped))


def _id_with_body(body: str, facts: PlanFacts, so_far: Plan) -> str | None:
    wanted = body_hash(body)
    planned = planned_entries(so_far)
    here = (id for id, entry in planned.items() if body_hash(entry.body) == wanted)
    live = (each.meta.id for each in facts.live if each.body_hash == wanted and each.meta.id not in planned)
    shown = (id for id, stored in facts.shown.items() if id not in planned and body_hash(stored.body) == wanted)
    return next((id for ids in (here, live, shown) for id in ids), None)


# -- updates ----------------------------------------------------------------------------------------------------------


def _updates(
    updates: Iterable[ProposedUpdate], facts: PlanFacts, so_far: Plan, targets: Targets, gone: frozenset[str]
) -> _Sorted:
    changes: list[Change] = []
    dropped: list[Dropped] = []
    done = set(gone)
    for update in updates:
        problems = _protection(update.id, facts, so_far) or (_ONCE if update.id in done else ())
        if problems:
            dropped.append(Dropped(update.id, problems))
            continue
        old = _current(update.id, facts, so_far)
        match sealed(updated(old, update, facts, freely=_is_own_handoff(old, facts, so_far))):
            case Success(new):
                entry, linked = with_links(new, old, targets)
                changes.append(Replace(entry, facts.shown[update.id].listed.content_hash))
                dropped += _unlinked(update.id, linked.unknown)
                done.add(update.id)
            case Failure(reasons):
                dropped.append(Dropped(update.id, reasons))
    return _Sorted(tuple(changes), tuple(dropped))


def _current(id: str, facts: PlanFacts, so_far: Plan) -> MemoryEntry:
    return planned_entries(so_far).get(id) or facts.shown[id].entry


def _is_own_handoff(entry: MemoryEntry, facts: PlanFacts, so_far: Plan) -> bool:
    is_own = entry.meta.id == facts.handoff_id or entry.meta.id in planned_entries(so_far)
    return is_own and entry.meta.kind is Kind.HANDOFF


def _protection(id: str, facts: PlanFacts, so_far: Plan) -> tuple[str, ...]:
    """Why an entry may not be replaced or archived (P11, P13); nothing if it may."""
    stored = facts.shown.get(id)
    planned = planned_entries(so_far)
    if any(isinstance(change, Retire) and change.id == id for change in so_far.changes):
        return ("it was superseded earlier in this session",)
    if any(changed_id(change) == id for change in so_far.deferred):
        return ("a change of it waits for the next run",)
    if stored is None:
        is_known = id.casefold() in _taken(facts, so_far)
        return ("it was not shown in full",) if is_known else ("there is no such entry",)
    if id not in planned and (gone := _changed_since_shown(stored, facts)):
        return gone
    if id in planned and planned[id].body != stored.body:
        return ("an earlier part of this session has changed it since it was shown",)
    return _forbidden(stored)


def _changed_since_shown(stored: StoredEntry, facts: PlanFacts) -> tuple[str, ...]:
    now = next((each for each in facts.live if each.meta.id == stored.meta.id), None)
    if now is None:
        return ("it is no longer live",)
    return ("it was changed since it was shown",) if now.content_hash != stored.listed.content_hash else ()


def _forbidden(stored: StoredEntry) -> tuple[str, ...]:
    rules = (
        (stored.meta.pinned, "it is pinned"),
        (stored.listed.conflicted, "it holds an unresolved conflict"),
        (stored.meta.sensitivity is Sensitivity.SECRET, "it is secret"),
        # What the agent saw was not all of it.
        (redact(stored.body).text != stored.body, "it holds a secret that the agent was not shown"),
    )
    return tuple(words for holds, words in rules if holds)


# -- superseded entries -----------------------------------------------------------------------------------------------


def _superseded(
    drafts: tuple[_Draft, ...], facts: PlanFacts, so_far: Plan
) -> tuple[_Sorted, Mapping[str, tuple[str, ...]]]:
    """The retirement of what the drafts may take the place of, and by successor which entries these are."""
    changes: list[Change] = []
    dropped: list[Dropped] = []
    successors: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for draft in drafts:
        for id in dict.fromkeys(draft.proposed.supersedes):
            problems = _protection(id, facts, so_far) or (_ONCE if id in done else ())
            problems = problems or _no_successor(facts.shown[id], draft, facts, so_far)
            if problems:
                dropped.append(Dropped(id, tuple(f"not superseded: {problem}" for problem in problems)))
                continue
            old = facts.shown[id]
            until_ms = max(draft.meta.created_at_ms, old.meta.valid_from_ms or old.meta.created_at_ms)
            changes.append(Retire(id, old.listed.content_hash, until_ms))
            successors[draft.meta.id] = (*successors.get(draft.meta.id, ()), id)
            done.add(id)
    return _Sorted(tuple(changes), tuple(dropped)), successors


def _no_successor(old: StoredEntry, draft: _Draft, facts: PlanFacts, so_far: Plan) -> tuple[str, ...]:
    if old.meta.id in planned_entries(so_far):
        return ("this session wrote it just before: update it instead",)
    if ended_at_ms(facts) < old.meta.created_at_ms:
        return ("it is newer than this session",)
    if GLOBAL_SCOPE not in (old.meta.scope, draft.meta.scope) and old.meta.scope != draft.meta.scope:
        return ("it belongs to another repository",)
    return ()


# -- the whole --------------------------------------------------------------------------------------------------------


def _merged(so_far: Plan, new: tuple[Change, ...], facts: PlanFacts) -> Plan:
    """`so_far` and the new changes: one of what it plans rewrites the plan, the others stand under the run's limit."""
    planned = planned_entries(so_far)
    rewritten = {
        change.entry.meta.id: change.entry
        for change in new
        if isinstance(change, Replace) and change.entry.meta.id in planned
    }
    kept = tuple(_rewritten(change, rewritten) for change in so_far.changes)
    fresh = (change for change in new if changed_id(change) not in rewritten)
    admitted = admit(fresh, facts.changed_before | changed_ids(so_far), facts.live_at_start)
    return Plan(kept + admitted.changes, deferred=so_far.deferred + admitted.deferred)


def _rewritten(change: Change, rewritten: Mapping[str, MemoryEntry]) -> Change:
    if isinstance(change, Create | Replace) and change.entry.meta.id in rewritten:
        return evolve(change, entry=rewritten[change.entry.meta.id])
    return change


def _with_left_out_note(plan: Plan, facts: PlanFacts) -> Plan:
    """The plan, with a person's inline note whole where nothing in it says what the note says."""
    note = facts.entry.retrieval
    if not isinstance(note, InlineNote) or not is_persons_note(facts):
        return plan
    said = "\n".join(_words(entry) for entry in planned_entries(plan).values())
    asked = stored_body(f"{note.title}\n{note.body}")
    is_kept = not lost_salience(asked, said) and coverage(content_terms(asked), content_terms(said)) >= _SAID_AGAIN
    return plan if planned_entries(plan) and is_kept else plan_inline_fallback(facts, plan)


def _words(entry: MemoryEntry) -> str:
    return f"{entry.meta.title}\n{entry.meta.description}\n{entry.body}"


def _targets(drafted: _Drafted, facts: PlanFacts, so_far: Plan) -> Targets:
    planned = planned_entries(so_far)
    live = {id.casefold(): id for each in facts.live for id in (*each.meta.aliases, each.meta.id)}
    live.update({id.casefold(): id for id in (*facts.shown, *planned)})
    live.update({draft.meta.id.casefold(): draft.meta.id for draft in drafted.drafts})
    return Targets(drafted.by_ref, live, _taken(facts, so_far))


def _taken(facts: PlanFacts, so_far: Plan) -> frozenset[str]:
    live = (id for each in facts.live for id in (*each.meta.aliases, each.meta.id))
    return facts.taken_ids | {id.casefold() for id in (*live, *planned_entries(so_far))}


def _unlinked(subject: str, unknown: tuple[str, ...]) -> list[Dropped]:
    links = tuple(
        f"a link to {stored_line(target, _MAX_SUBJECT_CHARS)} leads nowhere and was left out" for target in unknown
    )
    return [Dropped(subject, links)] if links else []


def _subject(title: str) -> str:
    return stored_line(title, _MAX_SUBJECT_CHARS) or "an entry without a title"


def _told(dropped: Dropped) -> Dropped:
    return Dropped(
        _subject(dropped.subject), tuple(stored_line(reason, _MAX_REASON_CHARS) for reason in dropped.reasons)
    )
