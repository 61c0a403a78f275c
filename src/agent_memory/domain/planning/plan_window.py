"""From what an agent proposes to exactly what will be written: every rule of the contract that stands before the store.

Pure and deterministic: the same change set and facts give the same plan, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.domain.change import Change, Create, Dropped, Replace
from agent_memory.domain.change_set import ChangeSet, ProposedEntry
from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.inbox_entry import InlineNote
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.drafts import (
    stored_body,
    stored_line,
    stored_refusal,
    stored_subject,
    stored_title,
)
from agent_memory.domain.planning.linking import link_body
from agent_memory.domain.planning.new_entries import create_entries, draft_entries, entry_meta, without_doubles
from agent_memory.domain.planning.plan_targets import id_with_body, link_targets, taken_ids
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.provenance import is_persons_note
from agent_memory.domain.planning.replacements import supersede, update_entries
from agent_memory.domain.planning.run_limits import admit, changed_id, changed_ids
from agent_memory.domain.planning.salience import lost_salience
from agent_memory.domain.text.derive import MAX_TITLE_CHARS, derive_title
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.vocabulary import Kind, Origin, Status
from agent_memory.values import evolve

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
    said = "\n".join(_words(entry) for entry in planned_entries(plan).values())
    asked = stored_body(f"{note.title}\n{note.body}")
    is_kept = not lost_salience(asked, said) and coverage(content_terms(asked), content_terms(said)) >= _SAID_AGAIN
    return plan if planned_entries(plan) and is_kept else plan_inline_fallback(facts, plan)


def _words(entry: MemoryEntry) -> str:
    return f"{entry.meta.title}\n{entry.meta.description}\n{entry.body}"
