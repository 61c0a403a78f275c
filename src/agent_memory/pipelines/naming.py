"""What the entries of a batch are called, for the commit and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from returns.result import Success

from agent_memory.domain.change import Change, Receipt, Retire
from agent_memory.domain.plan import Plan
from agent_memory.domain.planning.planned_store import planned_entries
from agent_memory.ports import Store
from agent_memory.values import evolve


def titles_of(store: Store, changes: Sequence[Change]) -> Mapping[str, str]:
    """The titles by id, as the changes write them; of what they retire, as it is before."""
    retired = [change.id for change in changes if isinstance(change, Retire)]
    found = [(id, store.read(id)) for id in retired]
    before = {id: stored.unwrap().meta.title for id, stored in found if isinstance(stored, Success)}
    return {**before, **{id: entry.meta.title for id, entry in planned_entries(Plan(tuple(changes))).items()}}


def with_titles(receipt: Receipt, titles: Mapping[str, str]) -> Receipt:
    """The receipt with the title of each entry that has one."""
    return evolve(receipt, applied=tuple(evolve(each, title=titles.get(each.id, "")) for each in receipt.applied))
