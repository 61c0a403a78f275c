"""Which entries the built-in would put in front of every agent, and which it would give a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from agent_memory.domain.actions import Action, Archive, Merge
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.entry import Meta, Usage, reads_of
from agent_memory.domain.findings import FindingKind
from agent_memory.domain.instants import has_passed
from agent_memory.domain.tiering.resolve import Place, SectionRoom, whole_chars
from agent_memory.domain.tiering.score import best_now, score
from agent_memory.domain.tiering.standing import BY_A_PERSON
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Importance, Kind, Origin, highest, least_trusted

_LASTING = (Kind.PREFERENCE, Kind.CONVENTION, Kind.DECISION, Kind.LESSON, Kind.PROJECT)
"""What a session should know before it begins, where a person said it. A fact is looked up, and an agent's conclusion is
worth a line, unless they are opened again and again."""

_PASSING = (Kind.TASK, Kind.HANDOFF)
"""What is over soon is worth a line, and no room among what holds always."""

_READ_OFTEN = 3
_LARGEST_SHARE = 3
"""An entry that would take more than a third of the room is read when it is needed."""

_MOST_LISTED = 5_000
"""In a store of many repositories, each of which has lines of its own."""


@frozen
class _Candidate:
    """An entry that stays and may be shown."""

    meta: Meta
    size: int
    """Characters that it takes where it is shown whole."""
    pinned: bool
    best: Tier
    score: float
    is_read_often: bool


def chosen_tiers(request: DefragRequest, actions: Iterable[Action]) -> TierList:
    """The tiers by score, once these actions are done; a merge is named by its first entry.

    Pinned entries are hot. Else hot is what a person said that lasts, and what has shown its worth (a person vouches for
    it, it is important, it is opened again and again), unless another entry wins over it that says nearly the same or the
    contrary; warm is the rest of what may be shown. That nobody has opened an entry for long counts against it in its
    score only: what is shown to every session needs no opening.
    """
    candidates = _ranked(request, actions)
    beaten = _beaten(request, candidates)
    budget = request.budget
    may_be_hot = (
        each
        for each in candidates
        if _earns_hot(each)
        and (each.pinned or (each.size * _LARGEST_SHARE <= budget.hot_chars and each.meta.id not in beaten))
    )
    hot = _fitting(((each, each.size) for each in may_be_hot), budget.hot_chars)
    rest = ((each, 1) for each in candidates if each.meta.id not in hot)
    return TierList(hot, _fitting(rest, budget.warm_lines)[:_MOST_LISTED])


def _ranked(request: DefragRequest, actions: Iterable[Action]) -> list[_Candidate]:
    """What stays and may be shown: pinned entries first, then by score, then the newest."""
    profiles = request.analysis.profiles
    candidates: list[_Candidate] = []
    for meta, usage in _staying(request, actions):
        best = best_now(meta, request.now_ms)
        if best is Tier.COLD:
            continue
        body_chars = profiles[meta.id].body_chars if meta.id in profiles else 0
        size = whole_chars(len(meta.title), body_chars)
        worth = score(meta, usage, request.now_ms)
        pinned = meta.pinned and best is Tier.HOT
        candidates.append(_Candidate(meta, size, pinned, best, worth, usage.count >= _READ_OFTEN))
    return sorted(candidates, key=lambda each: (not each.pinned, -each.score, -each.meta.created_at_ms, each.meta.id))


def _staying(request: DefragRequest, actions: Iterable[Action]) -> list[tuple[Meta, Usage]]:
    """The entries as they are once the actions are done, without what has expired or ceased to be true, and their reads."""
    staying = {each.meta.id: (each.meta, reads_of(each.meta, request.usage)) for each in request.live}
    for action in actions:  # others leave an entry where it is
        if isinstance(action, Archive):
            staying.pop(action.id, None)
        elif isinstance(action, Merge):
            twins = [staying.pop(id) for id in action.ids]
            staying[action.ids[0]] = _as_one(twins, request.now_ms)
    return [each for each in staying.values() if _holds(each[0], request.now_ms)]


def _as_one(twins: Sequence[tuple[Meta, Usage]], now_ms: int) -> tuple[Meta, Usage]:
    reads = [usage for _, usage in twins]
    instants = [each.last_at_ms for each in reads if each.last_at_ms is not None]
    usage = Usage(sum(each.count for each in reads), max(instants, default=None))
    return merged_meta([meta for meta, _ in twins], now_ms), usage


def merged_meta(metas: Sequence[Meta], now_ms: int = 0) -> Meta:
    """The first of the entries as it stands once the others are merged into it (design §3.2), as far as tiers depend on it.

    What is external loses a person's promotion.
    """
    origin = least_trusted(each.origin for each in metas)
    return evolve(
        metas[0],
        origin=origin,
        promoted_by=None if origin is Origin.EXTERNAL else metas[0].promoted_by,
        importance=highest(each.importance for each in metas),
        created_at_ms=max(each.created_at_ms for each in metas),
        updated_at_ms=max(now_ms, *(each.updated_at_ms for each in metas)),
        sources=tuple(dict.fromkeys(source for each in metas for source in each.sources)),
    )


def _holds(meta: Meta, now_ms: int) -> bool:
    """Whether it is pinned, or has neither expired nor ceased to be true."""
    return meta.pinned or not (has_passed(meta.expires_at_ms, now_ms) or has_passed(meta.valid_until_ms, now_ms))


def _beaten(request: DefragRequest, candidates: Iterable[_Candidate]) -> frozenset[str]:
    """What says nearly the same as, or the contrary of, an entry that wins over it and may be hot itself."""
    kinds = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)
    may_be_hot = {each.meta.id for each in candidates if each.best is Tier.HOT}
    findings = (finding for kind in kinds for finding in request.analysis.of_kind(kind))
    return frozenset(id for finding in findings if finding.ids[0] in may_be_hot for id in finding.ids[1:])


def _earns_hot(candidate: _Candidate) -> bool:
    meta = candidate.meta
    if candidate.pinned or candidate.best is not Tier.HOT:
        return candidate.pinned
    if meta.kind in _PASSING:
        return False
    is_important = meta.importance in (Importance.HIGH, Importance.CRITICAL)
    return meta.promoted_by == BY_A_PERSON or candidate.is_read_often or is_important or is_lasting_word(meta)


def is_lasting_word(meta: Meta) -> bool:
    """Whether a person said it, and it is what holds on."""
    return meta.origin is Origin.USER and meta.kind in _LASTING and meta.importance is not Importance.LOW


def _fitting(wanted: Iterable[tuple[_Candidate, int]], limit: int) -> tuple[str, ...]:
    """The ids of those that fit, each with how much it takes, the first ones first; those that are pinned, which come before
    all others, fit in any case."""
    taken: dict[str, Place] = {}
    room = SectionRoom(limit, taken)
    for candidate, size in wanted:
        id = candidate.meta.id
        taken[id] = Place(candidate.meta.scope, size, candidate.pinned)
        if candidate.pinned or room.fits(id):
            room.put(id)
        else:
            del taken[id]
    return tuple(taken)
