"""The store as it will be once a plan is applied: what later windows of the same session see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count

from agent_memory.domain.change import Create, Replace, Retire
from agent_memory.domain.entry import Listed, MemoryEntry, StoredEntry
from agent_memory.domain.packed_entries import with_others
from agent_memory.domain.plan import Plan
from agent_memory.domain.planning.same_body import body_hash
from agent_memory.domain.text.file_name import file_name_of
from agent_memory.values import evolve

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
    known = {
        each.meta.id: each for each in tuple(compress(live, map(planned.__contains__, [each.meta.id for each in live])))
    }
    return {id: StoredEntry(_listed(entry, known.get(id)), entry.body) for id, entry in planned.items()}


def live_when_applied(plan: Plan, live: Sequence[Listed]) -> Sequence[Listed]:
    """The live entries once the plan is applied: changed ones in their place, retired ones gone, new ones last. What is not
    changed is as packed as it was."""
    if not plan.changes:
        return live
    written = stored_when_applied(plan, live)
    gone = {change.id for change in plan.changes if isinstance(change, Retire)}
    ids = [each.meta.id for each in live]
    changed = {at: ids[at] for at in compress(count(), map((written.keys() | gone).__contains__, ids))}
    kept = with_others(live, {at: None if id in gone else written[id].listed for at, id in changed.items()})
    present = set(changed.values()) - gone
    return (*kept, *[stored.listed for id, stored in written.items() if id not in present])


def _listed(entry: MemoryEntry, known: Listed | None) -> Listed:
    if known is not None:
        return evolve(known, meta=entry.meta, body_hash=body_hash(entry.body))
    path = f"topics/{file_name_of(entry.meta)}"
    return Listed(entry.meta, path, PLANNED_HASH, body_hash=body_hash(entry.body))
