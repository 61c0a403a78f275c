"""Which entries the built-in would put in front of every agent, and which it would give a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_memory.domain.actions import Action, Archive, Merge
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.entry import Meta, Usage
from agent_memory.domain.findings import FindingKind, Profile
from agent_memory.domain.instants import has_passed
from agent_memory.domain.section import SectionBudget
from agent_memory.domain.tidying.twins import merged_meta
from agent_memory.domain.tiering.score import TierFacts, tier_facts
from agent_memory.domain.tiering.section_room import SectionRoom, hot_chars, one_line
from agent_memory.domain.tiering.vouched import is_vouched_for
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Importance, Kind, Origin
from agent_memory.values import frozen

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
class _Staying:
    meta: Meta
    usage: Usage


@frozen
class _Candidate:
    facts: TierFacts
    reads: int

    @property
    def meta(self) -> Meta:
        return self.facts.meta


def chosen_tiers(request: DefragRequest, actions: Iterable[Action]) -> TierList:
    """The tiers by score, once these actions are done; a merge is named by its first entry.

    Pinned entries are hot. Else hot is what a person said that lasts, and what has shown its worth (a person vouches for
    it, it is important, it is opened again and again), unless another entry wins over it that says nearly the same or the
    contrary; warm is the rest of what may be shown. That nobody has opened an entry for long counts against it in its
    score only: what is shown to every session needs no opening.
    """
    candidates = _ranked(request, actions)
    beaten = _beaten(request, candidates)
    worthy = (each for each in candidates if _earns_hot(each))
    hot = _filled((each for each in worthy if each.meta.pinned or each.meta.id not in beaten), request.budget)
    elsewhere = frozenset(hot)
    rest = (each for each in candidates if each.meta.id not in elsewhere and each.facts.best is not Tier.COLD)
    return TierList(hot, _listed(rest, request.budget))


def _ranked(request: DefragRequest, actions: Iterable[Action]) -> list[_Candidate]:
    """What stays, pinned entries first, then by score, then the newest."""
    candidates = (_candidate(each, request) for each in _staying(request, actions))
    return sorted(
        candidates, key=lambda each: (not each.meta.pinned, -each.facts.score, -each.meta.created_at_ms, each.meta.id)
    )


def _staying(request: DefragRequest, actions: Iterable[Action]) -> Iterable[_Staying]:
    """The entries as they are once the actions are done, without what has expired or ceased to be true."""
    staying = {each.meta.id: _Staying(each.meta, _usage_of(each.meta, request)) for each in request.live}
    for action in actions:
        match action:
            case Archive(id):
                staying.pop(id, None)
            case Merge(ids):
                twins = [staying.pop(id) for id in ids]
                staying[ids[0]] = _as_one(twins, request.now_ms)
            case _:  # it leaves the entry where it is
                pass
    return (each for each in staying.values() if not _is_over(each.meta, request.now_ms))


def _as_one(twins: Sequence[_Staying], now_ms: int) -> _Staying:
    reads = sum(each.usage.count for each in twins)
    instants = [each.usage.last_at_ms for each in twins if each.usage.last_at_ms is not None]
    return _Staying(merged_meta([each.meta for each in twins], now_ms), Usage(reads, max(instants, default=None)))


def _usage_of(meta: Meta, request: DefragRequest) -> Usage:
    return request.usage.get(meta.id) or Usage(meta.used, meta.last_used_at_ms)


def _candidate(staying: _Staying, request: DefragRequest) -> _Candidate:
    # Nobody has looked at a body without a profile: then it may be anything.
    profile = request.analysis.profiles.get(staying.meta.id, Profile(0, 0, is_directive=True))
    return _Candidate(tier_facts(staying.meta, profile, staying.usage, request.now_ms), staying.usage.count)


def _is_over(meta: Meta, now_ms: int) -> bool:
    ends = (meta.expires_at_ms, meta.valid_until_ms)
    return not meta.pinned and any(has_passed(end, now_ms) for end in ends)


def _beaten(request: DefragRequest, candidates: Iterable[_Candidate]) -> frozenset[str]:
    """What says nearly the same as, or the contrary of, an entry that wins over it and may be hot itself."""
    may_be_hot = {each.meta.id for each in candidates if each.facts.best is Tier.HOT}
    kinds = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)
    findings = (finding for kind in kinds for finding in request.analysis.of_kind(kind))
    return frozenset(id for finding in findings if finding.ids[0] in may_be_hot for id in finding.ids[1:])


def _earns_hot(candidate: _Candidate) -> bool:
    meta = candidate.meta
    if candidate.facts.best is not Tier.HOT:
        return False
    if meta.pinned:
        return True
    if meta.kind in _PASSING:
        return False
    matters = meta.importance in (Importance.HIGH, Importance.CRITICAL)
    if is_vouched_for(meta) or matters or candidate.reads >= _READ_OFTEN:
        return True
    return meta.origin is Origin.USER and meta.kind in _LASTING and meta.importance is not Importance.LOW


def _filled(candidates: Iterable[_Candidate], budget: SectionBudget) -> tuple[str, ...]:
    worthy = {each.meta.id: each.facts for each in candidates}
    room = SectionRoom(budget.hot_chars, hot_chars, worthy)
    chosen: list[str] = []
    for id, facts in worthy.items():
        is_small = hot_chars(facts) * _LARGEST_SHARE <= budget.hot_chars
        if facts.meta.pinned or (is_small and room.fits(id)):
            room.put(id)
            chosen.append(id)
    return tuple(chosen)


def _listed(candidates: Iterable[_Candidate], budget: SectionBudget) -> tuple[str, ...]:
    worthy = {each.meta.id: each.facts for each in candidates}
    room = SectionRoom(budget.warm_lines, one_line, worthy)
    chosen: list[str] = []
    for id in worthy:
        if len(chosen) < _MOST_LISTED and room.fits(id):
            room.put(id)
            chosen.append(id)
    return tuple(chosen)
