"""The built-in's answer to "how should the store be tidied?": no language model, no network, the same every time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from agent_memory.domain.actions import Action, Archive, DefragProposal, Merge, fingerprint_of, ids_of
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.instants import has_passed
from agent_memory.domain.planning.run_limits import max_changes
from agent_memory.domain.tidying.due import expired_archivings
from agent_memory.domain.tidying.tier_choice import chosen_tiers
from agent_memory.domain.tidying.twins import is_open, merge_of, twins_among

MAX_ACTIONS = 100
"""As many as one reply may hold (design §5.2)."""


def ids_to_open(live: Sequence[Listed], analysis: Analysis, now_ms: int) -> frozenset[str]:
    """The entries that `tidied` may touch, and so all that it need be shown: what has expired, is there twice or is over a cap."""
    expired = (each.id for each in expired_archivings(live, now_ms))
    found = (*analysis.of_kind(FindingKind.DUPLICATE), *analysis.of_kind(FindingKind.SURPLUS))
    return frozenset(chain(expired, *(each.ids for each in found)))


def tidied(request: DefragRequest) -> DefragProposal:
    """What expired is archived, what is there twice is merged, what is over a cap is archived; and the tiers.

    Only entries that were shown in full are touched, and no more of them than one run may change. Near-duplicates and
    contradictions take judgement: they stay as they are (`left_to_judge`).
    """
    expired = expired_archivings([each.listed for each in request.shown], request.now_ms)
    room = len(request.live) if request.force else max_changes(len(request.live))
    actions = _possible((*expired, *_merges(request), *_surplus(request)), request, room, MAX_ACTIONS)
    return DefragProposal(actions, chosen_tiers(request, actions))


def ids_without_room(request: DefragRequest, proposed: Iterable[Action]) -> frozenset[str]:
    """The entries that `tidied` would have merged too, had one run room for it; `proposed` is what it answered."""
    taken = {id for action in proposed for id in ids_of(action)}
    merges = map(ids_of, _possible(_merges(request), request, len(request.live), len(request.live)))
    return frozenset(chain.from_iterable(ids for ids in merges if taken.isdisjoint(ids)))


def _merges(request: DefragRequest) -> Iterable[Merge]:
    lasting = (each for each in request.shown if not has_passed(each.meta.expires_at_ms, request.now_ms))
    touchable = (each for each in lasting if each.meta.id not in request.left_alone)
    return (merge_of(twins) for twins in twins_among(touchable))


def _surplus(request: DefragRequest) -> Iterable[Archive]:
    return (Archive(each.ids[0], each.reason) for each in request.analysis.of_kind(FindingKind.SURPLUS))


def _possible(wanted: Iterable[Action], request: DefragRequest, room: int, most: int) -> tuple[Action, ...]:
    """Those that the plan check lets through, no more than `most`, and of no more than `room` live entries: what it refuses it
    would refuse in every run.

    One entry at least is not archived, whatever happens.
    """
    hashes = {each.meta.id: each.content_hash for each in request.live}
    shown = {each.meta.id: each for each in request.shown if each.meta.id in hashes and _may_change(each, request)}
    archivable = len(request.live) - 1
    kept: list[Action] = []
    for action in wanted:
        fitting = _cut_to(action, room, shown)
        if fitting is None or fingerprint_of(fitting, hashes) in request.undone:
            continue
        if isinstance(fitting, Archive):
            if archivable == 0:
                continue
            archivable -= 1
        kept.append(fitting)
        room -= len(ids_of(fitting))
        for id in ids_of(fitting):
            del shown[id]
        if len(kept) == most:
            break
    return tuple(kept)


def _cut_to(action: Action, room: int, shown: Mapping[str, StoredEntry]) -> Action | None:
    """The action, if it changes entries that it may change, and no more than `room` of them; of many twins it may take some."""
    entries = tuple(shown[id] for id in ids_of(action) if id in shown)
    if isinstance(action, Merge):
        return merge_of(entries[:room]) if min(len(entries), room) > 1 else None
    return action if entries and room > 0 else None


def _may_change(stored: StoredEntry, request: DefragRequest) -> bool:
    return is_open(stored) and stored.meta.id not in request.left_alone
