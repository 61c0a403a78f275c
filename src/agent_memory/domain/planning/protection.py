"""Which entries an agent's reply may replace or archive (P8, P11, P13)."""

from __future__ import annotations

from agent_memory.domain.change import Retire
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.plan import Plan, PlanFacts
from agent_memory.domain.planning.plan_targets import taken_ids
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.domain.planning.run_limits import changed_id
from agent_memory.domain.redaction import redact
from agent_memory.domain.vocabulary import Sensitivity


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
    now = facts.found.by_id.get(stored.meta.id)
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
