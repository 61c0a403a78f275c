"""The store as it will be once a plan is applied: what later windows of the same session see."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from agent_memory.domain.change import Create, Replace, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.plan import Plan
from agent_memory.domain.planning.same_body import body_hash
from agent_memory.domain.text.file_name import file_name_of

PLANNED_HASH = "planned"
"""In the place of the content hash of an entry that is not written yet."""


def planned_entries(plan: Plan) -> dict[str, MemoryEntry]:
    """The entries that the plan writes, as it writes them, by id."""
    return {change.entry.meta.id: change.entry for change in plan.changes if isinstance(change, Create | Replace)}


def stored_when_applied(plan: Plan, live: Sequence[Listed]) -> dict[str, StoredEntry]:
    """The entries that the plan writes as if they were read from the store, by id: to be shown to a later window.

    A replaced one keeps its present content hash, on which its change depends; a new one has `PLANNED_HASH`.
    """
    planned = planned_entries(plan)
    known = {each.meta.id: each for each in live if each.meta.id in planned}
    return {id: StoredEntry(_listed(entry, known.get(id)), entry.body) for id, entry in planned.items()}


def live_when_applied(plan: Plan, live: Sequence[Listed]) -> Sequence[Listed]:
    """The live entries once the plan is applied: changed ones in their place, retired ones gone, new ones last."""
    if not plan.changes:
        return live
    written = stored_when_applied(plan, live)
    gone = {change.id for change in plan.changes if isinstance(change, Retire)}
    there = {each.meta.id for each in live}
    kept = (
        written[each.meta.id].listed if each.meta.id in written else each for each in live if each.meta.id not in gone
    )
    return (*kept, *(stored.listed for id, stored in written.items() if id not in there - gone))


def _listed(entry: MemoryEntry, known: Listed | None) -> Listed:
    if known is not None:
        return evolve(known, meta=entry.meta, body_hash=body_hash(entry.body))
    path = f"topics/{file_name_of(entry.meta)}"
    return Listed(entry.meta, path, PLANNED_HASH, body_hash=body_hash(entry.body))
