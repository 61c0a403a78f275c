"""Turns an agent's change set into exactly what will be written, by every rule of the contract that applies before the
store does.

Pure and deterministic: the same change set and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property

from attrs import define, evolve, field, frozen

from agent_memory.note.note import (
    GLOBAL_SCOPE,
    Importance,
    Kind,
    MemoryEntry,
    Meta,
    Origin,
    Status,
    StoredEntry,
    Tier,
    body_hash,
    furthest,
    least_trusted,
)
from agent_memory.redaction.redact import stored_line
from agent_memory.rules.change import Cause, Change, Dropped, admit, changed_ids, entries_written
from agent_memory.rules.drafts import (
    CHANGES_NOTHING,
    Refused,
    Targets,
    body_problems,
    has_secret,
    kept_description,
    link_body,
    stored_body,
    stored_description,
    stored_refusal,
    stored_subject,
    stored_tags,
    stored_title,
    title_problems,
    unlinked,
    why_untouchable,
    with_links,
)
from agent_memory.rules.information import (
    invented_words,
    is_twisted,
    loss_problems,
    said_by,
    sentences,
    swapped_words,
    turned_claims,
)
from agent_memory.rules.origin import Claim, cleared, is_correction, is_said_by, origin_of, with_source, words_of_person
from agent_memory.rules.plan import ChangeSet, Plan, PlanFacts, ProposedEntry, ProposedUpdate
from agent_memory.rules.similarity import Subject, says_nothing_new
from agent_memory.session.history import Role, Turn
from agent_memory.session.queue import InlineNote
from agent_memory.text.ids import mint_id
from agent_memory.text.markdown import MAX_TITLE_CHARS, derive_description, derive_title, without_see_also
from agent_memory.text.plain_text import one_line
from agent_memory.text.salience import (
    actionable_tokens,
    content_terms,
    coverage,
    is_directive,
    lost_salience,
    statements,
)

_SAID_AGAIN = 0.6
"""The share of a note's words that a text which an agent made from it must hold."""
_ONCE = ("a note is replaced or archived once",)
STORED_ALREADY = "it is already stored as"
IS_NEWER = "it is newer than this session"
"""Reason for not letting an old session replace a newer note."""
TRUSTED_MORE = "it is trusted more than the note in its place"


def plan_window(change_set: ChangeSet, facts: PlanFacts, so_far: Plan = Plan()) -> Plan:  # noqa: B008 - a frozen value
    """Returns the session's plan with this window's part: `so_far` and everything in the change set that may be done.

    What may not be done is in `dropped` with its reasons, what is over the run's limit is in `deferred`. A person's
    inline note that the change set leaves out is added whole. Guarantees of the result, given that `so_far` has them:
    ids and file names are unique; every link leads to a note; no text holds a hidden character, a sentinel or a secret
    that redaction finds; only notes shown in full are replaced or archived, each once, and none that is pinned,
    conflicted or secret; every salient token of replaced text is in the new text or was named as dropped, unless an
    earlier window made the note, which is not stored yet.
    """
    window = _Window(facts, so_far, list(map(stored_refusal, change_set.dropped)))
    drafts, renewals = window.drafts(change_set.entries)
    drafts = window.without_doubles(drafts)
    targets = window.targets(drafts)
    retired = window.supersede(drafts)
    created = window.create(drafts, retired, targets)
    updated = window.update((*renewals, *change_set.updates), targets)
    plan = _merged(so_far, (*created, *(change for each in retired.values() for change in each), *updated), facts)
    skipped = stored_line(change_set.skipped, 500) if change_set.skipped else so_far.skipped
    plan = evolve(plan, dropped=(*so_far.dropped, *window.dropped), skipped=skipped or None)
    return _with_left_out_note(plan, facts)


def held_back(plan: Plan, shown: Mapping[str, StoredEntry]) -> Plan:
    """Returns the plan with every note that it makes, or whose text it changes, withheld until a person approves it;
    `shown` are the notes as they were."""

    def withheld(change: Change) -> Change:
        entry, old = change.entry, shown.get(change.id)
        if entry is None or (old is not None and old.entry.texts == entry.texts):
            return change
        return evolve(change, entry=MemoryEntry(evolve(entry.meta, withheld=True), entry.body))

    changes, deferred = (tuple(map(withheld, each)) for each in (plan.changes, plan.deferred))
    return evolve(plan, changes=changes, deferred=deferred)


def plan_inline_fallback(facts: PlanFacts, so_far: Plan = Plan()) -> Plan:  # noqa: B008 - a frozen value
    """Returns the plan that stores an inline note whole, as `captured`: only secrets and hidden characters are removed.

    For any other retrieval it is `so_far`. A body that is live already is not stored twice.
    """
    note = facts.entry.retrieval
    if not isinstance(note, InlineNote):
        return so_far
    window = _Window(facts, so_far)
    body = stored_body(note.body) or stored_line(note.title)
    title = one_line(stored_title(note.title) or derive_title(body) or "untitled note", MAX_TITLE_CHARS)
    origin = Origin.USER if facts.is_persons_note else Origin.AGENT
    known = window.id_with_body(body, facts.scope, origin)
    if known is not None:
        double = Dropped(stored_subject(title), (f"{STORED_ALREADY} {known}",), Cause.KNOWN)
        return so_far if double in so_far.dropped else evolve(so_far, dropped=(*so_far.dropped, double))
    proposed = ProposedEntry(title, body, note.kind or Kind.FACT, note.tags)
    meta = evolve(_new_meta(proposed, title, body, facts, window.taken_ids), status=Status.CAPTURED, origin=origin)
    body, _ = link_body(body, (), window.targets(()), meta.id)
    return evolve(so_far, changes=(*so_far.changes, Change.of(MemoryEntry(meta, body))), skipped=None)


def subject_of(proposed: ProposedEntry) -> Subject:
    """Returns the proposed note in the form in which it is compared with known notes: cleaned, as it would be stored."""
    return Subject(stored_title(proposed.title), stored_body(proposed.body), proposed.description or "", proposed.kind)


def _merged(so_far: Plan, new: Iterable[Change], facts: PlanFacts) -> Plan:
    """Returns `so_far` with the new changes: a change to a planned note rewrites the plan, all others count against the
    run's limit."""
    new, planned = tuple(new), entries_written(so_far.changes)
    rewritten = {id: entry for id, entry in entries_written(new).items() if id in planned}
    kept = tuple(evolve(each, entry=rewritten.get(each.id, each.entry)) for each in so_far.changes)
    fresh = (each for each in new if each.id not in rewritten)
    now, later = admit(fresh, facts.changed_before | changed_ids(so_far.changes), facts.live_at_start)
    return Plan(kept + now, deferred=so_far.deferred + later)


def _with_left_out_note(plan: Plan, facts: PlanFacts) -> Plan:
    """Returns the plan, with a person's inline note added whole if nothing in the plan says what it says."""
    note = facts.entry.retrieval
    if not isinstance(note, InlineNote) or not facts.is_persons_note:
        return plan
    written = entries_written(plan.changes)
    said = "\n".join(entry.whole for entry in written.values())
    asked = stored_body(f"{note.title}\n{note.body}")
    is_kept = not lost_salience(asked, said) and coverage(content_terms(asked), content_terms(said)) >= _SAID_AGAIN
    return plan if written and is_kept else plan_inline_fallback(facts, plan)


@frozen
class _Draft:
    proposed: ProposedEntry
    meta: Meta
    body: str


@define(slots=False)
class _Window:
    """Plans one reply, in the order of these steps: `drafts`, `without_doubles`, `supersede`, `create`, `update`. Each adds
    what it leaves out to `dropped`, and what it uses up (ids, refs, notes) to what the next ones go by."""

    facts: PlanFacts
    so_far: Plan
    dropped: list[Dropped] = field(factory=list[Dropped])
    _by_ref: dict[str, str] = field(factory=dict[str, str])
    """Ids by ref."""
    _changed: set[str] = field(factory=set[str])
    """Ids of the notes that this reply archives or replaces."""

    @cached_property
    def planned(self) -> Mapping[str, MemoryEntry]:
        return entries_written(self.so_far.changes)

    @cached_property
    def made(self) -> frozenset[str]:
        """Returns the ids of the notes that earlier windows of the session made."""
        return frozenset(each.id for each in self.so_far.changes if each.act == "create")

    @cached_property
    def taken_ids(self) -> set[str]:
        """Returns every id in use, casefolded: in the store, planned by earlier windows, and of new drafts."""
        return {*self.facts.taken_ids, *map(str.casefold, self.planned)}

    def targets(self, drafts: Iterable[_Draft]) -> Targets:
        """Returns the notes to which a link may point: refs of the reply, its drafts, earlier windows' notes and the
        store's.

        An id wins over an alias, and of several notes the first.
        """
        metas = [each.meta for each in reversed(self.facts.live)]
        aliases = (alias for meta in metas for alias in reversed(meta.aliases))
        ids = (*aliases, *(meta.id for meta in metas), *self.planned, *(draft.meta.id for draft in drafts))
        return Targets(self._by_ref, {id.casefold(): id for id in ids}, self.facts.taken_ids)

    # -- new entries --------------------------------------------------------------------------------------------------

    def drafts(self, entries: Iterable[ProposedEntry]) -> tuple[list[_Draft], list[ProposedUpdate]]:
        """Returns the proposed notes that may be stored, cleaned, with ids. A handoff becomes an update if the session
        has one, and so does a note that supersedes one of an earlier window."""
        drafts, renewals = list[_Draft](), list[ProposedUpdate]()
        # The session's handoff, if a new one can replace it: planned by an earlier window, or shown in full.
        planned = (id for id, entry in self.planned.items() if entry.meta.kind is Kind.HANDOFF)
        handoff_id = next(planned, self.facts.handoff_id if self.facts.handoff_id in self.facts.shown else None)
        for proposed in entries:
            title, body = stored_title(proposed.title), stored_body(proposed.body)
            problems = title_problems(title) + body_problems(body)
            if proposed.kind is Kind.HANDOFF:
                if self.facts.handoff_expires_at_ms <= self.facts.now_ms:
                    days = self.facts.handoff_days
                    problems += (f"the session ended more than {days} days ago, so a handoff is of no use",)
                elif renewals or any(draft.proposed.kind is Kind.HANDOFF for draft in drafts):
                    problems += ("a session has one handoff",)
            if problems:
                self.dropped.append(Dropped(stored_subject(proposed.title), problems))
                continue
            renewed = handoff_id if proposed.kind is Kind.HANDOFF else None
            if len(proposed.supersedes) == 1 and self.made.issuperset(proposed.supersedes):
                renewed = proposed.supersedes[0]
            if renewed is not None:
                said = proposed.description or ""
                renewals.append(
                    ProposedUpdate(renewed, proposed.title, said, proposed.tags, proposed.body, turns=proposed.turns)
                )
                id = renewed
            else:
                meta = _new_meta(proposed, title, body, self.facts, self.taken_ids)
                drafts.append(_Draft(proposed, meta, body))
                id = meta.id
                self.taken_ids.add(id.casefold())
            if proposed.ref:
                self._by_ref[proposed.ref] = id
        return drafts, renewals

    def without_doubles(self, drafts: Iterable[_Draft]) -> list[_Draft]:
        """Returns the drafts without those that say what is stored already; a ref to such a draft means the stored
        note."""
        drafts = list(drafts)
        targets = evolve(self.targets(drafts), by_ref=dict(self._by_ref))
        kept: dict[str, _Draft] = {}
        for draft in drafts:
            body, _ = link_body(draft.body, draft.proposed.links, targets, draft.meta.id)
            twin = kept.get(body_hash(body))
            known = (
                twin.meta.id
                if twin
                else self.id_with_body(body, draft.meta.scope, draft.meta.origin) or self._said_already(draft)
            )
            if known is None:
                kept[body_hash(body)] = draft
                continue
            said = f"{STORED_ALREADY} {known}"
            self.dropped.append(Dropped(stored_subject(draft.meta.title), (said,), Cause.KNOWN))
            if draft.proposed.ref:
                self._by_ref[draft.proposed.ref] = known
        return list(kept.values())

    def id_with_body(self, body: str, scope: str, origin: Origin) -> str | None:
        """Returns the planned or live note with the same body, if it is told in this scope or is of this session, which may
        have been elsewhere when it was read before."""
        known = [(entry.meta, body_hash(entry.body)) for entry in self.planned.values()]
        known += [(each.meta, each.body_hash) for each in self.facts.live if each.meta.id not in self.planned]
        session, wanted = self.facts.entry.retrieval.session_id, body_hash(body)

        def is_told(meta: Meta) -> bool:
            if meta.is_unheard(origin):
                return False
            return meta.scope in (scope, GLOBAL_SCOPE) or session in {each.thread_id for each in meta.sources} - {None}

        return next((meta.id for meta, hash in known if hash == wanted and is_told(meta)), None)

    def _said_already(self, draft: _Draft) -> str | None:
        """Returns the note that makes the draft superfluous: one with the same body except for links added at its end,
        or, for an unjudged lesson of the agent, one that says the same in other words. Such a lesson is worth a note
        only if it is unlike what is known."""
        proposed, facts = draft.proposed, self.facts
        subject = subject_of(proposed)
        known = [each for each in facts.similar.get(proposed, ()) if not each.meta.is_unheard(draft.meta.origin)]
        body = without_see_also(subject.body)
        if twin := next((each for each in known if without_see_also(each.body) == body), None):
            return twin.meta.id
        is_persons = facts.is_persons_note or any(turn.role is Role.USER for turn in facts.cited_turns(proposed.turns))
        is_unjudged = facts.status is Status.CAPTURED and not is_persons
        if proposed.kind is not Kind.LESSON or not is_unjudged or proposed.supersedes:
            return None
        return next((each.meta.id for each in known if says_nothing_new(subject, each)), None)

    def create(
        self, drafts: Iterable[_Draft], retired: Mapping[str, Sequence[Change]], targets: Targets
    ) -> list[Change]:
        """Returns the drafts as changes with their links resolved, including links to notes about the same subject;
        `retired` are by id the notes that each replaces."""
        changes: list[Change] = []
        for draft in drafts:
            similar = (each.meta.id for each in self.facts.similar.get(draft.proposed, ()))
            also = (*draft.proposed.links, *(id for id in similar if id not in draft.proposed.supersedes))
            body, unknown = link_body(draft.body, also, targets, draft.meta.id)
            old = tuple(each.id for each in retired.get(draft.meta.id, ()))
            meta = evolve(
                draft.meta,
                description=draft.meta.description
                or derive_description(body),  # the links may have been all that it said
                supersedes=old,
                valid_from_ms=draft.meta.created_at_ms if old else None,
            )
            changes.append(Change.of(MemoryEntry(meta, body)))
            self.dropped += unlinked(stored_subject(draft.meta.title), unknown)
        return changes

    # -- entries that are there ---------------------------------------------------------------------------------------

    def supersede(self, drafts: Iterable[_Draft]) -> Mapping[str, Sequence[Change]]:
        """Returns by draft the notes that it retires."""
        retired: dict[str, list[Change]] = {}
        for draft in drafts:
            for id in dict.fromkeys(draft.proposed.supersedes):
                problems = self._protection(id)
                if not problems:
                    scopes = (self.facts.shown[id].meta.scope, draft.meta.scope)
                    if id in self.planned:
                        problems = ("this session wrote it just before: update it instead",)
                    elif self._is_newer(self.facts.shown[id].meta):
                        problems = (IS_NEWER,)
                    elif _takes_trust(self.facts.shown[id].meta, draft.meta.best_tier):
                        problems = (TRUSTED_MORE,)
                    elif GLOBAL_SCOPE not in scopes and scopes[0] != scopes[1]:
                        problems = ("it belongs to another repository",)
                if problems:
                    self.dropped.append(Dropped(id, tuple(f"not superseded: {problem}" for problem in problems)))
                    continue
                old = self.facts.shown[id]
                until_ms = max(draft.meta.created_at_ms, old.meta.valid_from_ms or old.meta.created_at_ms)
                retired.setdefault(draft.meta.id, []).append(Change.retire(id, old.listed.content_hash, until_ms))
                self._changed.add(id)
        return retired

    def update(self, updates: Iterable[ProposedUpdate], targets: Targets) -> list[Change]:
        changes: list[Change] = []
        for update in updates:
            try:
                if problems := self._protection(update.id):
                    raise Refused(problems)
                old = self.planned.get(update.id) or self.facts.shown[update.id].entry
                if update.drops and self._is_newer(old.meta):
                    raise Refused((IS_NEWER,), Cause.KNOWN)
                is_handoff = old.meta.kind is Kind.HANDOFF and update.id in {self.facts.handoff_id, *self.planned}
                new = _updated(old, update, self.facts, freely=is_handoff, anew=update.id in self.made)
            except Refused as refused:
                self.dropped.append(Dropped(update.id, refused.reasons, refused.cause))
                continue
            entry, unknown = with_links(new, old, targets)
            changes.append(Change.of(entry, self.facts.shown[update.id].listed.content_hash))
            self.dropped += unlinked(update.id, unknown)
            self._changed.add(update.id)
        return changes

    def _protection(self, id: str) -> tuple[str, ...]:
        """Returns the reasons why this note may not be replaced or archived, in words; empty if it may."""
        stored, so_far = self.facts.shown.get(id), self.so_far
        if any(change.act == "retire" and change.id == id for change in so_far.changes):
            return ("it was superseded earlier in this session",)
        if id in changed_ids(so_far.deferred):
            return ("a change of it waits for the next run",)
        if stored is None:
            is_known = id.casefold() in self.taken_ids
            return ("it was not shown in full",) if is_known else ("there is no such note",)
        if id in self.planned:
            if self.planned[id].body != stored.body:
                return ("an earlier part of this session has changed it since it was shown",)
        elif (now := next((each for each in self.facts.live if each.meta.id == id), None)) is None:
            return ("it is no longer live",)
        elif now.content_hash != stored.listed.content_hash:
            return ("it was changed since it was shown",)
        hidden = ("it holds a secret that the agent was not shown",) if has_secret(stored.body) else ()
        return why_untouchable(stored.listed) + hidden or (_ONCE if id in self._changed else ())

    def _is_newer(self, meta: Meta) -> bool:
        return self.facts.ended_at_ms < meta.created_at_ms


def _takes_trust(old: Meta, best_tier: Tier) -> bool:
    """Returns whether a note of this best tier must not stand for an older one: what a person promoted, or sessions are told,
    would go without a word (P19)."""
    if old.is_vouched_for:
        return best_tier is not Tier.HOT
    return best_tier is Tier.COLD and old.best_tier is not Tier.COLD


def _new_meta(proposed: ProposedEntry, title: str, body: str, facts: PlanFacts, taken: Container[str]) -> Meta:
    """Returns the frontmatter of a new note; everything that a model may not set is computed. `taken` holds casefolded
    ids."""
    cited = facts.cited_turns(proposed.turns)
    created_at_ms = facts.learnt_at_ms(cited)
    description = stored_description(proposed.description or "") or derive_description(body)
    origin = computed_origin(title, f"{description}\n{body}", cited, facts)
    if proposed.kind is Kind.HANDOFF and not isinstance(facts.entry.retrieval, InlineNote):
        origin = least_trusted((Origin.AGENT, origin))  # it quotes the person, and says what the agent did
    return Meta(
        id=mint_id(title, created_at_ms, taken),
        title=title,
        created_at_ms=created_at_ms,
        updated_at_ms=created_at_ms,
        description=description,
        kind=proposed.kind,
        tags=facts.vocabulary.current(stored_tags(proposed.tags)),
        status=facts.status,
        origin=origin,
        cleared=_cleared(origin, title, f"{description}\n{body}", facts),
        scope=GLOBAL_SCOPE if proposed.scope == "global" else facts.scope,
        importance=proposed.importance or Importance.MEDIUM,
        confidence=proposed.confidence,
        expires_at_ms=facts.handoff_expires_at_ms if proposed.kind is Kind.HANDOFF else None,
        sources=(facts.source_of(cited),),
    )


def _updated(old: MemoryEntry, update: ProposedUpdate, facts: PlanFacts, *, freely: bool, anew: bool) -> MemoryEntry:
    """Returns the new version of a note, its links not yet resolved. Raises `Refused` with every reason against it.

    What the update leaves out stays. It must not lose, reverse or invent anything (`information`), except with
    `freely`, since the session's own handoff describes the present, or `anew`, since what an earlier window made is not
    stored. Status never goes back, the origin is the least trusted of what went in (with `anew` that of the new text),
    and a model's external text, or an order that no person gave, removes a promotion.
    """
    title = old.meta.title if update.title is None else stored_title(update.title)
    body = old.body if update.body is None else stored_body(update.body)
    description = (
        stored_description(update.description) or derive_description(body)
        if update.description is not None
        else kept_description(old, body)
    )
    cited = facts.cited_turns(update.turns)
    spoken = [turn.text for turn in cited if turn.role is Role.USER]
    problems = title_problems(title) if title != old.meta.title else ()
    problems += body_problems(body, old.body) if body != old.body else ()
    if not problems and not (freely or anew):
        before, after = said_by(old), f"{title}\n{description}\n{body}"
        problems = loss_problems((before,), after, update.drops) + invented_words(before, after, "\n".join(spoken))
    if problems:
        raise Refused(problems)
    meta = evolve(
        old.meta,
        title=title,
        description=description,
        tags=old.meta.tags if update.tags is None else facts.vocabulary.current(stored_tags(update.tags)),
        status=furthest((old.meta.status, facts.status)),
        expires_at_ms=facts.handoff_expires_at_ms if old.meta.kind is Kind.HANDOFF else old.meta.expires_at_ms,
    )
    new = MemoryEntry(meta, body)
    if new == old:
        raise Refused((CHANGES_NOTHING,), Cause.KNOWN)
    if anew:
        numbers = {*update.turns, *(number for source in old.meta.sources for number in source.turns)}
        turns = tuple(turn for turn in (facts.session or facts.window).turns if turn.number in numbers)
        origin, promoted_by = computed_origin(title, f"{description}\n{body}", turns, facts), None
    else:
        known = statements(old.whole)
        fresh = [each for each in statements(new.whole) if each not in known]
        told_by = _origin_of_update(old.whole, new.whole, fresh, cited, spoken, facts)
        origin = least_trusted((old.meta.origin, told_by))
        # A person vouches for what they saw (P19), not for what came in its place, for an order that came later and that
        # they did not give, nor for what somebody might then type.
        said = "\n".join(fresh)
        typed = actionable_tokens(said) - actionable_tokens(old.whole)
        is_else = not set(known) <= {*statements(new.whole)} or bool(typed) or is_directive(said)
        lapsed = origin is Origin.EXTERNAL or (told_by is not Origin.USER and is_else)
        promoted_by = None if lapsed else old.meta.promoted_by
    meta = evolve(
        meta,
        origin=origin,
        promoted_by=promoted_by,
        cleared=tuple(dict.fromkeys((*old.meta.cleared, *_cleared(origin, title, f"{description}\n{body}", facts)))),
        sources=with_source(old.meta.sources, facts.source_of(cited)),
        # When it was said, not when it is written.
        updated_at_ms=max(facts.learnt_at_ms(cited), old.meta.updated_at_ms),
    )
    return MemoryEntry(meta, body)


def _origin_of_update(
    before: str, after: str, fresh: list[str], cited: tuple[Turn, ...], spoken: list[str], facts: PlanFacts
) -> Origin:
    """Returns the origin of what an update adds; an update that only leaves text out adds nothing."""
    told_by = computed_origin(fresh[0], "\n".join(fresh[1:]), cited, facts) if fresh else Origin.USER
    if told_by is Origin.EXTERNAL:
        return told_by
    known = sentences(before)
    # Most words of a reversed sentence are those of the person who said the contrary.
    uncertain = (
        each
        for each in sentences(after)
        if each not in known
        and (told_by is Origin.AGENT or swapped_words(before, each) or turned_claims(before, each))
        and not is_correction(each, known, spoken)
    )
    return Origin.AGENT if any(uncertain) else Origin.USER


def computed_origin(title: str, text: str, cited: tuple[Turn, ...], facts: PlanFacts) -> Origin:
    """Returns the origin of a text of this window (P19): words that are the person's, but reversed or swapped, are the
    agent's. An inline note is the person's as far as the text says what it says."""
    claim = _claim(title, text, facts)
    note = facts.entry.retrieval
    if isinstance(note, InlineNote):
        is_persons = facts.is_persons_note and is_said_by(claim, (f"{note.title}\n{note.body}",))
        return Origin.USER if is_persons else Origin.AGENT
    origin = origin_of(claim, (turn.number for turn in cited), facts.session or facts.window)
    said = "\n".join(words_of_person(turn.text) for turn in cited if turn.role is Role.USER)
    return Origin.AGENT if origin is Origin.USER and is_twisted(said, claim.whole) else origin


def _cleared(origin: Origin, title: str, text: str, facts: PlanFacts) -> tuple[str, ...]:
    """Returns which orders in an agent's note may be told (P19); none of an inline note, which has no session."""
    if origin is not Origin.AGENT or isinstance(facts.entry.retrieval, InlineNote):
        return ()
    return cleared(_claim(title, text, facts), facts.session or facts.window)


def _claim(title: str, text: str, facts: PlanFacts) -> Claim:
    return Claim(title, text, f"{facts.scope} {facts.entry.context.cwd or ''} {facts.window.cwd or ''}")
