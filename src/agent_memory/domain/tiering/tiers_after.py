"""The tier list once the actions of a plan are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.domain.actions import Archive, Merge, Split, ids_of
from agent_memory.domain.defrag_plan import DefragPlan
from agent_memory.domain.tiers import TierList


def tiers_after(tiers: TierList, plan: DefragPlan) -> TierList:
    """The list in which the new entries of a merge or split stand where the first of their sources stood, in the best tier
    of any of them; what is archived is gone. No id is twice."""
    heirs = _heirs(plan)
    hot = tuple(dict.fromkeys(_succeeded(tiers.hot, heirs)))
    warm = tuple(dict.fromkeys(id for id in _succeeded(tiers.warm, heirs) if id not in hot))
    return TierList(hot, warm)


def _heirs(plan: DefragPlan) -> Mapping[str, tuple[str, ...]]:
    """What takes the place of each entry that goes."""
    return {
        id: () if isinstance(planned.action, Archive) else planned.new_ids
        for planned in plan.actions
        if isinstance(planned.action, Merge | Split | Archive)
        for id in ids_of(planned.action)
    }


def _succeeded(ids: Iterable[str], heirs: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for id in ids:
        yield from heirs.get(id, (id,))
