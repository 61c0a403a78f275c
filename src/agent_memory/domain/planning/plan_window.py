"""From what an agent proposes to exactly what will be written: every rule of the contract that stands before the store.

Pure and deterministic: the same change set and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from attrs import evolve, field, frozen

from agent_memory.domain.change import Change, Create, Dropped, Replace, Retire
from agent_memory.domain.defragging.changed_claims import invented_words, sentences, swapped_words, turned_claims
from agent_memory.domain.defragging.information import loss_problems, said_by
from agent_memory.domain.editing import kept_description
from agent_memory.domain.entry import MemoryEntry, Meta, StoredEntry
from agent_memory.domain.history import Role
from agent_memory.domain.inbox_entry import InlineNote
from agent_memory.domain.plan import (
    ChangeSet,
    Plan,
    PlanFacts,
    ProposedEntry,
    ProposedUpdate,
    admit,
    changed_id,
    changed_ids,
    planned_entries,
)
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.planning.drafts import (
    Refused,
    Targets,
    body_problems,
    link_body,
    stored_body,
    stored_description,
    stored_line,
    stored_refusal,
    stored_subject,
    stored_tags,
    stored_title,
    title_problems,
    unlinked,
    with_links,
)
from agent_memory.domain.planning.origin import (
    cited_turns,
    computed_origin,
    ended_at_ms,
    handoff_expires_at_ms,
    is_correction,
    is_persons_note,
    learnt_at_ms,
    source_of,
    with_source,
)
from agent_memory.domain.planning.salience import actionable_tokens, lost_salience, statements
from agent_memory.domain.redaction import redact
from agent_memory.domain.similarity import Subject, says_nothing_new
from agent_memory.domain.text.derive import MAX_TITLE_CHARS, body_hash, derive_description, derive_title
from agent_memory.domain.text.ids import mint_id
from agent_memory.domain.text.links import without_see_also
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.vocabulary import (
    GLOBAL_SCOPE,
    Importance,
    Kind,
    Origin,
    Sensitivity,
    Status,
    furthest,
    least_trusted,
)


def taken_ids(facts: PlanFacts, so_far: Plan) -> set[str]:
    """Every id that is not free, casefolded: of the store, and planned by earlier windows."""
    return {*facts.taken_ids, *map(str.casefold, planned_entries(so_far))}


def link_targets(by_ref: Mapping[str, str], new: Iterable[str], facts: PlanFacts, so_far: Plan) -> Targets:
    """What a link may point at: refs of the reply, its `new` ids, earlier windows' entries and the store's.

    An id goes before an alias, and of several entries the first.
    """
    metas = [each.meta for each in reversed(facts.live)]
    aliases = (alias for meta in metas for alias in reversed(meta.aliases))
    ids = (*aliases, *(meta.id for meta in metas), *planned_entries(so_far), *new)
    return Targets(by_ref, {id.casefold(): id for id in ids}, taken_ids(facts, so_far))


def id_with_body(body: str, facts: PlanFacts, so_far: Plan) -> str | None:
    """The planned or live entry whose body is the same; None where there is none."""
    wanted = body_hash(body)
    planned = planned_entries(so_far)
    here = (id for id, entry in planned.items() if body_hash(entry.body) == wanted)
    same = [each for each in facts.live if each.body_hash == wanted]
    live = (each.meta.id for each in same if each.meta.id not in planned)
    return next((id for ids in (here, live) for id in ids), None)


def protection(id: str, facts: PlanFacts, so_far: Plan) -> tuple[str, ...]:
    """Why this entry may not be replaced or archived, in words; nothing if it may."""
    stored = facts.shown.get(id)
    planned = planned_entries(so_far)
    if any(isinstance(change, Retire) and change.id == id for change in so_far.changes):
        return ("it was superseded earlier in this session",)
    if any(changed_id(change) == id for change in so_far.deferred):
        return ("a change of it waits for the next run",)
    if stored is None:
        is_known = id.casefold() in taken_ids(facts, so_far)
        return ("it was not shown in full",) if is_known else ("there is no such entry",)
    if id not in planned and (gone := _changed_since_shown(stored, facts)):
        return gone
    if id in planned and planned[id].body != stored.body:
        return ("an earlier part of this session has changed it since it was shown",)
    return _forbidden(stored)


def _changed_since_shown(stored: StoredEntry, facts: PlanFacts) -> tuple[str, ...]:
    now = {each.meta.id: each for each in facts.live}.get(stored.meta.id)
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


def subject_of(proposed: ProposedEntry) -> Subject:
    """The proposed entry as it is compared with known notes: cleaned, as it would be stored."""
    return Subject(stored_title(proposed.title), stored_body(proposed.body), proposed.description or "", proposed.kind)


def similar_ids(proposed: ProposedEntry, facts: PlanFacts) -> tuple[str, ...]:
    """The notes about the same subject that the new one is to link to: not those that it takes the place of."""
    return tuple(each.meta.id for each in facts.similar.get(proposed, ()) if each.meta.id not in proposed.supersedes)


def said_already(proposed: ProposedEntry, facts: PlanFacts) -> str | None:
    """The note that says all of it already, so that it need not be stored: with the same body but for links added at its
    end, or, for a lesson of the agent's that nobody judged, in its own words. Such a lesson is worth a note when it is unlike what is known."""
    subject = subject_of(proposed)
    known = facts.similar.get(proposed, ())
    body = without_see_also(subject.body)
    if twin := next((each for each in known if without_see_also(each.body) == body), None):
        return twin.meta.id
    is_persons = is_persons_note(facts) or any(turn.role is Role.USER for turn in cited_turns(proposed.turns, facts))
    is_unjudged = facts.status is Status.CAPTURED and not is_persons
    if proposed.kind is not Kind.LESSON or not is_unjudged or proposed.supersedes:
        return None
    return next((each.meta.id for each in known if says_nothing_new(subject, each)), None)


_MAX_SKIPPED_CHARS = 500
_SAID_AGAIN = 0.6
"""Share of a note's words that must be in what an agent made of it."""


def plan_window(change_set: ChangeSet, facts: PlanFacts, so_far: Plan = Plan()) -> Plan:  # noqa: B008 - a frozen value
    """The session's plan with this window's part: `so_far` and all of the change set that may be done.

    What may not be done is in `dropped` with its reasons, what is over the run's limit is in `deferred`. A person's
    inline note that the change set leaves out is added whole. Guarantees of the result, given that `so_far` has them:
    ids and file names are unique; every link leads to an entry; no text holds a hidden character, a sentinel or a secret
    that is found; only entries shown in full are replaced or archived, each once, and none that is pinned, conflicted
    or secret; every salient token of replaced text is in the new text or was named as dropped.
    """
    unique = without_doubles(draft_entries(change_set.entries, facts, so_far), facts, so_far)
    targets = unique.targets(facts, so_far)
    retired, successors = supersede(unique.drafts, facts, so_far)
    created = create_entries(unique.drafts, successors, targets, facts)
    gone = frozenset(id for ids in successors.values() for id in ids)
    updates = update_entries((*unique.updates, *change_set.updates), facts, so_far, targets, gone)
    told = tuple(map(stored_refusal, change_set.dropped))
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
    known = id_with_body(body, facts, so_far)
    if known is not None:
        double = Dropped(stored_subject(title), (f"it is already stored as {known}",))
        return so_far if double in so_far.dropped else evolve(so_far, dropped=(*so_far.dropped, double))
    proposed = ProposedEntry(title, body, note.kind or Kind.FACT, note.tags)
    origin = Origin.USER if is_persons_note(facts) else Origin.AGENT
    meta = evolve(
        entry_meta(proposed, title, body, facts, taken_ids(facts, so_far)), status=Status.CAPTURED, origin=origin
    )
    linked = link_body(body, (), link_targets({}, (), facts, so_far), meta.id)
    return evolve(so_far, changes=(*so_far.changes, Create(MemoryEntry(meta, linked.body))), skipped=None)


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
    said = "\n".join(entry.whole for entry in planned_entries(plan).values())
    asked = stored_body(f"{note.title}\n{note.body}")
    is_kept = not lost_salience(asked, said) and coverage(content_terms(asked), content_terms(said)) >= _SAID_AGAIN
    return plan if planned_entries(plan) and is_kept else plan_inline_fallback(facts, plan)


_ONCE = ("an entry is replaced or archived once",)


def update_entries(
    updates: Iterable[ProposedUpdate], facts: PlanFacts, so_far: Plan, targets: Targets, gone: frozenset[str]
) -> Plan:
    """The updates as changes. `gone` are the ids that this reply archives: an entry is replaced or archived once."""
    changes: list[Replace] = []
    dropped: list[Dropped] = []
    done = set(gone)
    for update in updates:
        problems = protection(update.id, facts, so_far) or (_ONCE if update.id in done else ())
        if problems:
            dropped.append(Dropped(update.id, problems))
            continue
        old = planned_entries(so_far).get(update.id) or facts.shown[update.id].entry
        if update.drops and _is_newer(old.meta, facts):
            dropped.append(Dropped(update.id, (IS_NEWER,)))
            continue
        try:
            new = updated(old, update, facts, freely=_is_own_handoff(old, facts, so_far))
        except Refused as refused:
            dropped.append(Dropped(update.id, refused.reasons))
            continue
        entry, linked = with_links(new, old, targets)
        changes.append(Replace(entry, facts.shown[update.id].listed.content_hash))
        dropped += unlinked(update.id, linked.unknown)
        done.add(update.id)
    return Plan(tuple(changes), tuple(dropped))


def supersede(drafts: tuple[Draft, ...], facts: PlanFacts, so_far: Plan) -> tuple[Plan, Mapping[str, tuple[str, ...]]]:
    """The retirement of what the drafts may take the place of, and by successor which entries these are."""
    changes: list[Retire] = []
    dropped: list[Dropped] = []
    successors: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for draft in drafts:
        for id in dict.fromkeys(draft.proposed.supersedes):
            problems = protection(id, facts, so_far) or (_ONCE if id in done else ())
            problems = problems or _no_successor(facts.shown[id], draft, facts, so_far)
            if problems:
                dropped.append(Dropped(id, tuple(f"not superseded: {problem}" for problem in problems)))
                continue
            old = facts.shown[id]
            until_ms = max(draft.meta.created_at_ms, old.meta.valid_from_ms or old.meta.created_at_ms)
            changes.append(Retire(id, old.listed.content_hash, until_ms))
            successors[draft.meta.id] = (*successors.get(draft.meta.id, ()), id)
            done.add(id)
    return Plan(tuple(changes), tuple(dropped)), successors


def _no_successor(old: StoredEntry, draft: Draft, facts: PlanFacts, so_far: Plan) -> tuple[str, ...]:
    if old.meta.id in planned_entries(so_far):
        return ("this session wrote it just before: update it instead",)
    if _is_newer(old.meta, facts):
        return (IS_NEWER,)
    if GLOBAL_SCOPE not in (old.meta.scope, draft.meta.scope) and old.meta.scope != draft.meta.scope:
        return ("it belongs to another repository",)
    return ()


def _is_newer(meta: Meta, facts: PlanFacts) -> bool:
    return ended_at_ms(facts) < meta.created_at_ms


def _is_own_handoff(entry: MemoryEntry, facts: PlanFacts, so_far: Plan) -> bool:
    is_own = entry.meta.id == facts.handoff_id or entry.meta.id in planned_entries(so_far)
    return is_own and entry.meta.kind is Kind.HANDOFF


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
            taken.add(meta.id.casefold())
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


CHANGES_NOTHING = "it changes nothing"
"""Of an update that says what the entry says already."""
IS_NEWER = "it is newer than this session"
"""Of an entry that an old session would put something else in the place of."""


def updated(old: MemoryEntry, update: ProposedUpdate, facts: PlanFacts, *, freely: bool) -> MemoryEntry:
    """The new version of an entry, its links not yet resolved. Raises `Refused` with every reason why there is none.

    What the update leaves out stays. It must not lose, turn round or invent anything (`information`, `changed_claims`), except
    with `freely`: the session's own handoff says where things stand now. Status never goes back, the origin is the least
    trusted of what went in, and a model's external text, or an order that no person gave, takes a promotion away.
    """
    title = old.meta.title if update.title is None else stored_title(update.title)
    body = old.body if update.body is None else stored_body(update.body)
    description = (
        stored_description(update.description) or derive_description(body)
        if update.description is not None
        else kept_description(old, body)
    )
    problems = title_problems(title) if title != old.meta.title else ()
    problems += body_problems(body, old.body) if body != old.body else ()
    if not problems and not freely:
        before, after = said_by(old), f"{title}\n{description}\n{body}"
        spoken = "\n".join(turn.text for turn in cited_turns(update.turns, facts) if turn.role is Role.USER)
        problems = loss_problems((before,), after, update.drops) + invented_words(before, after, spoken)
    if problems:
        raise Refused(problems)
    tags = old.meta.tags if update.tags is None else facts.vocabulary.current(stored_tags(update.tags))
    meta = evolve(old.meta, title=title, description=description, tags=tags)
    return _with_provenance(old, MemoryEntry(meta, body), update, facts)


def _with_provenance(old: MemoryEntry, new: MemoryEntry, update: ProposedUpdate, facts: PlanFacts) -> MemoryEntry:
    cited = cited_turns(update.turns, facts)
    status = furthest((old.meta.status, facts.status))
    expires = handoff_expires_at_ms(facts) if old.meta.kind is Kind.HANDOFF else old.meta.expires_at_ms
    changed = evolve(new.meta, status=status, expires_at_ms=expires)
    if changed == old.meta and new.body == old.body:
        raise Refused((CHANGES_NOTHING,))
    before, after = old.whole, new.whole
    fresh = [each for each in statements(after) if each not in statements(before)]
    # What only leaves text out adds no origin.
    told_by = computed_origin(fresh[0], "\n".join(fresh[1:]), cited, facts) if fresh else Origin.USER
    if told_by is not Origin.EXTERNAL:
        spoken = [turn.text for turn in cited if turn.role is Role.USER]
        known = sentences(before)
        # Most words of a sentence that was turned round are those of the person who said the contrary.
        uncertain = [
            each
            for each in sentences(after)
            if each not in known
            and (told_by is Origin.AGENT or swapped_words(before, each) or turned_claims(before, each))
            and not is_correction(each, known, spoken)
        ]
        told_by = Origin.AGENT if uncertain else Origin.USER
    origin = least_trusted((old.meta.origin, told_by))
    # A person vouches for what they saw (P19), and neither for an order that came later and that they did not give, nor for
    # what somebody may then type.
    typed = actionable_tokens("\n".join(fresh)) - actionable_tokens(before)
    lapsed = origin is Origin.EXTERNAL or (told_by is not Origin.USER and bool(typed or is_directive("\n".join(fresh))))
    meta = evolve(
        changed,
        origin=origin,
        promoted_by=None if lapsed else old.meta.promoted_by,
        sources=with_source(old.meta.sources, source_of(cited, facts)),
        updated_at_ms=max(
            learnt_at_ms(cited, facts), old.meta.updated_at_ms
        ),  # when it was said, not when it is written
    )
    return MemoryEntry(meta, new.body)
