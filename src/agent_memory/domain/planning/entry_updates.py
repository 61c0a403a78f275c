"""The rules by which a proposed update becomes a new version of an entry."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.defragging.changed_claims import invented_words, sentences, swapped_words, turned_claims
from agent_memory.domain.defragging.information import loss_problems, said_by
from agent_memory.domain.editing import kept_description
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.history import Role
from agent_memory.domain.plan import PlanFacts, ProposedUpdate
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.planning.drafts import (
    Refused,
    body_problems,
    stored_body,
    stored_description,
    stored_tags,
    stored_title,
    title_problems,
)
from agent_memory.domain.planning.linking import Linked, Targets, link_body
from agent_memory.domain.planning.origin import (
    cited_turns,
    computed_origin,
    handoff_expires_at_ms,
    is_correction,
    learnt_at_ms,
    source_of,
    with_source,
)
from agent_memory.domain.planning.salience import actionable_tokens, statements
from agent_memory.domain.text.derive import derive_description
from agent_memory.domain.text.links import find_links
from agent_memory.domain.vocabulary import Kind, Origin, furthest, least_trusted

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


def with_links(entry: MemoryEntry, before: MemoryEntry, targets: Targets) -> tuple[MemoryEntry, Linked]:
    """The entry with its links resolved; links that the earlier version held already are left alone."""
    kept = {link.target.casefold(): link.target for link in find_links(before.body)}
    own = evolve(targets, live={**kept, **targets.live})
    linked = link_body(entry.body, (), own, entry.meta.id)
    return evolve(entry, body=linked.body), linked


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
