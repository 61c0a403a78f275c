"""Which entries the built-in would put in front of every agent, and which it would give a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from typing import TypeVar

from attrs import evolve, frozen

from agent_memory.domain.actions import Action, Archive, Merge, ids_of
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.entry import Listed, Meta, Usage, reads_of
from agent_memory.domain.findings import FindingKind
from agent_memory.domain.instants import has_passed
from agent_memory.domain.section import SectionBudget
from agent_memory.domain.tiering.resolve import Place, SectionRoom, whole_chars
from agent_memory.domain.tiering.score import tier_columns
from agent_memory.domain.tiering.standing import BY_A_PERSON
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Importance, Kind, Origin, highest, least_trusted

Value = TypeVar("Value")

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
    listed: Listed
    usage: Usage


@frozen
class _Candidates:
    """What stays and may be shown, as columns: pinned entries first, then by score, then the newest."""

    ids: Sequence[str]
    scopes: Sequence[str]
    sizes: Sequence[int]
    """Characters that each takes where it is shown whole."""
    pinned: Sequence[bool]
    best: Sequence[Tier]
    earns_hot: Sequence[bool]


def chosen_tiers(request: DefragRequest, actions: Iterable[Action]) -> TierList:
    """The tiers by score, once these actions are done; a merge is named by its first entry.

    Pinned entries are hot. Else hot is what a person said that lasts, and what has shown its worth (a person vouches for
    it, it is important, it is opened again and again), unless another entry wins over it that says nearly the same or the
    contrary; warm is the rest of what may be shown. That nobody has opened an entry for long counts against it in its
    score only: what is shown to every session needs no opening.
    """
    candidates = _ranked(request, actions)
    hot = _filled(candidates, _beaten(request, candidates), request.budget)
    return TierList(hot, _listed(candidates, frozenset(hot), request.budget))


def _ranked(request: DefragRequest, actions: Iterable[Action]) -> _Candidates:
    entries, usage = _staying(request, actions)
    profiles = request.analysis.profiles
    facts = tier_columns(entries, usage, request.now_ms)
    ids = [each.meta.id for each in entries]
    pinned = [
        is_pinned and best is Tier.HOT
        for is_pinned, best in zip([each.meta.pinned for each in entries], facts.best, strict=True)
    ]
    scopes, created_at_ms = [each.meta.scope for each in entries], [each.meta.created_at_ms for each in entries]
    title_chars = map(len, [each.meta.title for each in entries])
    body_chars = [profiles[id].body_chars if id in profiles else 0 for id in ids]
    sizes = list(map(whole_chars, title_chars, body_chars))
    earns_hot = [
        _earns_hot(best, is_pinned, each.meta, reads >= _READ_OFTEN)
        for best, is_pinned, each, reads in zip(facts.best, pinned, entries, facts.reads, strict=True)
    ]
    order = list(compress(range(len(ids)), [best is not Tier.COLD for best in facts.best]))
    order.sort(key=ids.__getitem__)
    for column in (created_at_ms, facts.scores, pinned):  # what counts most comes last
        order.sort(key=column.__getitem__, reverse=True)
    return _Candidates(
        _at(order, ids),
        _at(order, scopes),
        _at(order, sizes),
        _at(order, pinned),
        _at(order, facts.best),
        _at(order, earns_hot),
    )


def _at(rows: Iterable[int], column: Sequence[Value]) -> list[Value]:
    """What stands in these rows of a column, in their order."""
    return list(map(column.__getitem__, rows))


def _staying(request: DefragRequest, actions: Iterable[Action]) -> tuple[Sequence[Listed], Mapping[str, Usage]]:
    """The entries as they are once the actions are done, without what has expired or ceased to be true, and their reads."""
    done = [each for each in actions if isinstance(each, Archive | Merge)]  # others leave an entry where it is
    touched = frozenset(id for action in done for id in ids_of(action))
    staying = {
        each.meta.id: _Staying(each, reads_of(each.meta, request.usage))
        for each in request.live
        if each.meta.id in touched
    }
    for action in done:
        match action:
            case Archive(id):
                staying.pop(id, None)
            case Merge(ids):
                twins = [staying.pop(id) for id in ids]
                staying[ids[0]] = _as_one(twins, request.now_ms)
    entries = [each for each in request.live if each.meta.id not in touched]
    entries += [each.listed for each in staying.values()]
    usage = {**request.usage, **{id: each.usage for id, each in staying.items()}}
    return [each for each in entries if _holds(each.meta, request.now_ms)], usage


def _as_one(twins: Sequence[_Staying], now_ms: int) -> _Staying:
    reads = sum(each.usage.count for each in twins)
    instants = [each.usage.last_at_ms for each in twins if each.usage.last_at_ms is not None]
    meta = merged_meta([each.listed.meta for each in twins], now_ms)
    return _Staying(evolve(twins[0].listed, meta=meta), Usage(reads, max(instants, default=None)))


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


def _beaten(request: DefragRequest, candidates: _Candidates) -> frozenset[str]:
    """What says nearly the same as, or the contrary of, an entry that wins over it and may be hot itself."""
    kinds = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)
    findings = [finding for kind in kinds for finding in request.analysis.of_kind(kind)]
    may_be_hot = frozenset(compress(candidates.ids, [best is Tier.HOT for best in candidates.best])) if findings else ()
    return frozenset(id for finding in findings if finding.ids[0] in may_be_hot for id in finding.ids[1:])


def _earns_hot(best: Tier, is_pinned: bool, meta: Meta, is_read_often: bool) -> bool:
    if best is not Tier.HOT:
        return False
    if is_pinned:
        return True
    if meta.kind in _PASSING:
        return False
    if meta.promoted_by == BY_A_PERSON or is_read_often or meta.importance in (Importance.HIGH, Importance.CRITICAL):
        return True
    return is_lasting_word(meta.origin, meta.kind, meta.importance)


def is_lasting_word(origin: Origin, kind: Kind, importance: Importance) -> bool:
    """Whether a person said it, and it is what holds on."""
    return origin is Origin.USER and kind in _LASTING and importance is not Importance.LOW


def _filled(candidates: _Candidates, beaten: frozenset[str], budget: SectionBudget) -> tuple[str, ...]:
    rows = zip(candidates.ids, candidates.scopes, candidates.sizes, candidates.pinned, strict=True)
    return _fitting(
        (
            row
            for row in compress(rows, candidates.earns_hot)
            if row[3] or (row[2] * _LARGEST_SHARE <= budget.hot_chars and row[0] not in beaten)
        ),
        budget.hot_chars,
    )


def _listed(candidates: _Candidates, elsewhere: frozenset[str], budget: SectionBudget) -> tuple[str, ...]:
    rows = zip(candidates.ids, candidates.scopes, repeat(1), candidates.pinned)
    left = [id not in elsewhere for id in candidates.ids]
    return _fitting(compress(rows, left), budget.warm_lines)[:_MOST_LISTED]


def _fitting(rows: Iterable[tuple[str, str, int, bool]], limit: int) -> tuple[str, ...]:
    """The ids of those that fit, the first ones first; those that are pinned, which come before all others, fit in any case.
    A row is an id, its scope, how much it takes and whether it is pinned."""
    taken: dict[str, Place] = {}
    room = SectionRoom(limit, taken)
    too_large: dict[str, int] = {}  # of each scope, since room only shrinks
    for id, scope, size, is_pinned in rows:
        if size >= too_large.get(scope, size + 1) and not is_pinned:
            continue
        taken[id] = Place(scope, size, is_pinned)
        if is_pinned or room.fits(id):
            room.put(id)
        else:
            del taken[id]
            too_large[scope] = size
    return tuple(taken)
