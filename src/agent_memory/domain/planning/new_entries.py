"""New entries of one window: what the agent proposed, as it will be stored."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from agent_memory.domain.change import Create, Dropped
from agent_memory.domain.change_set import ProposedEntry, ProposedUpdate
from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.drafts import (
    body_problems,
    stored_body,
    stored_description,
    stored_subject,
    stored_tags,
    stored_title,
    title_problems,
)
from agent_memory.domain.planning.known_subjects import said_already, similar_ids
from agent_memory.domain.planning.linking import Targets, link_body
from agent_memory.domain.planning.plan_targets import id_with_body, link_targets, taken_ids, unlinked
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.provenance import (
    cited_turns,
    computed_origin,
    handoff_expires_at_ms,
    learnt_at_ms,
    source_of,
)
from agent_memory.domain.planning.same_body import body_hash
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Importance, Kind
from agent_memory.values import evolve, field, frozen


@frozen
class Draft:
    """A proposed entry that will be written, before its links are resolved."""

    proposed: ProposedEntry
    meta: Meta
    body: str


@frozen
class Drafted:
    """The new entries of one reply."""

    drafts: tuple[Draft, ...] = ()
    updates: tuple[ProposedUpdate, ...] = ()
    """Handoffs that renew the one that the session has."""
    dropped: tuple[Dropped, ...] = ()
    by_ref: Mapping[str, str] = field(factory=dict[str, str])
    """Ids by ref."""

    def targets(self, facts: PlanFacts, so_far: Plan) -> Targets:
        """What a link in this reply may point at."""
        return link_targets(self.by_ref, (draft.meta.id for draft in self.drafts), facts, so_far)


def draft_entries(entries: Iterable[ProposedEntry], facts: PlanFacts, so_far: Plan) -> Drafted:
    """The proposed entries that may be stored, cleaned, with ids; a handoff becomes an update where the session has one."""
    drafts: list[Draft] = []
    updates: list[ProposedUpdate] = []
    dropped: list[Dropped] = []
    by_ref: dict[str, str] = {}
    handoff_id = _handoff_to_renew(facts, so_far)
    taken = taken_ids(facts, so_far)
    for proposed in entries:
        title, body = stored_title(proposed.title), stored_body(proposed.body)
        problems = title_problems(title) + body_problems(body) + _handoff_problems(proposed, drafts, updates, facts)
        if problems:
            dropped.append(Dropped(stored_subject(proposed.title), problems))
        elif proposed.kind is Kind.HANDOFF and handoff_id is not None:
            updates.append(_renewal(proposed, handoff_id))
            if proposed.ref:
                by_ref[proposed.ref] = handoff_id
        else:
            meta = entry_meta(proposed, title, body, facts, taken)
            taken.add(meta.id)
            drafts.append(Draft(proposed, meta, body))
            if proposed.ref:
                by_ref[proposed.ref] = meta.id
    return Drafted(tuple(drafts), tuple(updates), tuple(dropped), by_ref)


def without_doubles(drafted: Drafted, facts: PlanFacts, so_far: Plan) -> Drafted:
    """Without the drafts that say what is stored already; a ref to such a draft means the stored entry."""
    kept: list[Draft] = []
    dropped: list[Dropped] = []
    by_ref = dict(drafted.by_ref)
    here: dict[str, str] = {}
    targets = drafted.targets(facts, so_far)
    for draft in drafted.drafts:
        body = link_body(draft.body, draft.proposed.links, targets, draft.meta.id).body
        known = here.get(body_hash(body)) or id_with_body(body, facts, so_far) or said_already(draft.proposed, facts)
        if known is None:
            kept.append(draft)
            here[body_hash(body)] = draft.meta.id
        else:
            dropped.append(Dropped(stored_subject(draft.meta.title), (f"it is already stored as {known}",)))
            if draft.proposed.ref:
                by_ref[draft.proposed.ref] = known
    return evolve(drafted, drafts=tuple(kept), dropped=drafted.dropped + tuple(dropped), by_ref=by_ref)


def create_entries(
    drafts: Iterable[Draft], successors: Mapping[str, tuple[str, ...]], targets: Targets, facts: PlanFacts
) -> Plan:
    """The drafts as changes, links resolved, those to notes about the same subject among them. `successors` says, by id,
    which entries each takes the place of."""
    changes: list[Create] = []
    dropped: list[Dropped] = []
    for draft in drafts:
        also = (*draft.proposed.links, *similar_ids(draft.proposed, facts))
        linked = link_body(draft.body, also, targets, draft.meta.id)
        old = successors.get(draft.meta.id, ())
        meta = evolve(draft.meta, supersedes=old, valid_from_ms=draft.meta.created_at_ms if old else None)
        changes.append(Create(MemoryEntry(meta, linked.body)))
        dropped += unlinked(stored_subject(draft.meta.title), linked.unknown)
    return Plan(tuple(changes), tuple(dropped))


def entry_meta(proposed: ProposedEntry, title: str, body: str, facts: PlanFacts, taken: Container[str]) -> Meta:
    """The frontmatter of a new entry; everything that a model may not set is computed. `taken` holds casefolded ids."""
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
        tags=facts.vocabulary.current(stored_tags(proposed.tags)),
        status=facts.status,
        origin=computed_origin(title, f"{description}\n{body}", cited, facts),
        scope=GLOBAL_SCOPE if proposed.scope == "global" else facts.scope,
        importance=proposed.importance or Importance.MEDIUM,
        confidence=proposed.confidence,
        expires_at_ms=handoff_expires_at_ms(facts) if proposed.kind is Kind.HANDOFF else None,
        sources=(source_of(cited, facts),),
    )


def _handoff_problems(
    proposed: ProposedEntry, drafts: list[Draft], updates: list[ProposedUpdate], facts: PlanFacts
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
        id, proposed.title, proposed.description or "", proposed.tags, proposed.body, turns=proposed.turns
    )
