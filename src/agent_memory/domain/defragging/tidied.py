"""The built-in's answer to "how should the store be tidied?": no language model, no network, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain

from attrs import evolve, frozen

from agent_memory.domain.actions import Action, Archive, DefragProposal, Due, Merge, fingerprint_of, ids_of
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.defragging.information import lost_content, said_by
from agent_memory.domain.entry import Listed, Meta, StoredEntry, Usage, reads_of
from agent_memory.domain.findings import Analysis, Finding, FindingKind, Profile
from agent_memory.domain.instants import has_passed, iso_of
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.drafts import MAX_BODY_CHARS
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.tiering.resolve import Place, SectionRoom, whole_chars
from agent_memory.domain.tiering.score import best_now, score
from agent_memory.domain.tiering.standing import BY_A_PERSON, best_tier
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Importance, Kind, Origin, Sensitivity, highest, least_trusted


def due_archivings(live: Sequence[Listed], analysis: Analysis, now_ms: int) -> Due:
    """What has expired by now, and what the analysis found over a cap."""
    surplus = (Archive(each.ids[0], each.reason) for each in analysis.of_kind(FindingKind.SURPLUS))
    return Due(tuple(expired_archivings(live, now_ms)), tuple(surplus))


def expired_archivings(entries: Iterable[Listed], now_ms: int) -> Iterable[Archive]:
    """One for each entry that has expired, the longest expired first."""
    ends = ((each.meta.expires_at_ms, each.meta.id) for each in entries)
    ended = sorted((at_ms, id) for at_ms, id in ends if has_passed(at_ms, now_ms))
    return (Archive(id, f"it expired on {iso_of(at_ms)[:10]}") for at_ms, id in ended)


def surplus(
    live: Sequence[Listed],
    profiles: Mapping[str, Profile],
    usage: Mapping[str, Usage],
    *,
    max_entries: int | None,
    max_chars: int | None,
    now_ms: int,
) -> tuple[Finding, ...]:
    """What has to leave a live set so that it keeps its caps, the least valuable first, as much as one run may archive.

    Pinned, promoted, secret and conflicted entries are never among it, so that a store of nothing else stays over its
    cap. Of an entry without a profile the characters do not count.
    """
    if max_entries is None and max_chars is None:
        return ()
    sizes = {each.meta.id: profiles[each.meta.id].body_chars if each.meta.id in profiles else 0 for each in live}
    count, chars = len(live), sum(sizes.values())
    if not _is_over(count, max_entries) and not _is_over(chars, max_chars):
        return ()
    going: list[Finding] = []
    for worth_of, id in _least_valuable_first(live, usage, now_ms):
        if len(going) == max_changes(len(live)):
            break
        if max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(live):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        worth = f"it is among those that matter least by importance, use and age (score {worth_of:.2f})"
        going.append(Finding(FindingKind.SURPLUS, (id,), f"{why}; {worth}"))
        count -= 1
        chars -= sizes[id]
    return tuple(going)


def _is_over(size: int, limit: int | None) -> bool:
    return limit is not None and size > limit


def _least_valuable_first(live: Sequence[Listed], usage: Mapping[str, Usage], now_ms: int) -> list[tuple[float, str]]:
    """The scores and ids of those that may go: however old, what a person said that lasts goes after all that only an agent
    noted."""
    metas = [each.meta for each in live if _may_go(each)]
    scored = [
        (is_lasting_word(meta), score(meta, reads_of(meta, usage), now_ms), meta.updated_at_ms, meta.id)
        for meta in metas
    ]
    return [(worth, id) for _, worth, _, id in sorted(scored)]


def _may_go(each: Listed) -> bool:
    meta = each.meta
    is_kept = meta.pinned or meta.promoted_by is not None or meta.sensitivity is Sensitivity.SECRET
    return not is_kept and not each.conflicted and not each.provisional_id


def same_text(body: str) -> str:
    """What two bodies have in common that say the same: no white space to speak of, no line of links at the end."""
    return " ".join(without_see_also(body).split())


def twins_among(entries: Iterable[StoredEntry]) -> tuple[tuple[StoredEntry, ...], ...]:
    """Groups of two and more entries that may become one, in a stable order; in each the best sourced, then the newest first.

    A merge takes the least trusted origin of what goes in and is refused across scopes. So an entry that every agent may
    be shown is not merged with one that none may be shown.
    """
    texts = _grouped(sorted(filter(_may_merge, entries), key=_worth), _what_it_says)
    sound = (tuple(each for each in group if redact(each.body).text == each.body) for group in texts)
    return tuple(twins for group in sound for twins in _grouped(group, _standing) if _keeps_its_standing(twins))


def _grouped(
    entries: Iterable[StoredEntry], key_of: Callable[[StoredEntry], Hashable]
) -> tuple[tuple[StoredEntry, ...], ...]:
    groups: dict[Hashable, list[StoredEntry]] = {}
    for stored in entries:
        groups.setdefault(key_of(stored), []).append(stored)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def merge_of(twins: tuple[StoredEntry, ...]) -> Merge:
    """The merge of twins: title, description and body of the first, with the links of all.

    What titles and descriptions of the others say besides is named in `drops`; it stays in the archive.
    """
    first = twins[0]
    body = _with_links_of(twins)
    text = f"{first.meta.title}\n{first.meta.description}\n{body}"
    return Merge(
        ids=tuple(each.meta.id for each in twins),
        title=first.meta.title,
        body=body,
        description=first.meta.description or None,
        drops=lost_content((said_by(each.entry) for each in twins), text),
    )


def _worth(stored: StoredEntry) -> tuple[object, ...]:
    meta = stored.meta
    sessions = len({source.thread_id for source in meta.sources if source.thread_id})
    turns = sum(len(source.turns) for source in meta.sources)
    return (list(Origin).index(meta.origin), -sessions, -turns, -meta.updated_at_ms, meta.id)


def is_open(stored: StoredEntry) -> bool:
    """Whether nothing about an entry itself forbids to change it: a pin, a conflict, an id that it does not have, a secret."""
    return not (
        stored.meta.pinned
        or stored.listed.conflicted
        or stored.listed.provisional_id
        or stored.meta.sensitivity is Sensitivity.SECRET
    )


def _may_merge(stored: StoredEntry) -> bool:
    return (
        is_open(stored)
        and stored.meta.kind is not Kind.HANDOFF  # it belongs to its session, which goes on writing it
        and len(stored.body) <= MAX_BODY_CHARS
        and bool(same_text(stored.body))
    )


def _what_it_says(stored: StoredEntry) -> Hashable:
    return (same_text(stored.body), stored.meta.scope, stored.meta.sensitivity)


def _standing(stored: StoredEntry) -> tuple[bool, Tier]:
    return (stored.meta.promoted_by is not None, best_tier(stored.meta))


def _keeps_its_standing(twins: tuple[StoredEntry, ...]) -> bool:
    """Whether the merge may be where its parts may be."""
    return best_tier(merged_meta([each.meta for each in twins])) is _standing(twins[0])[1]


def _with_links_of(twins: tuple[StoredEntry, ...]) -> str:
    own = {id for each in twins for id in (each.meta.id, *each.meta.aliases)}
    first = twins[0].body.rstrip()
    core = without_see_also(first)
    wanted = [link.target for each in twins for link in find_links(each.body) if link.target not in own]
    in_last_line = {link.target for link in find_links(first) if link.start >= len(core)}
    return append_see_also(core if in_last_line & own else first, wanted)


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
