"""The built-in's answer to "how should the store be tidied?": no language model, no network, the same every time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain

from attrs import evolve

from agent_memory.domain.actions import Action, Archive, DefragProposal, Due, Merge, fingerprint_of, ids_of
from agent_memory.domain.agent_request import DefragRequest
from agent_memory.domain.defragging.plan_defrag import united_meta
from agent_memory.domain.entry import Listed, Meta, StoredEntry, Usage, reads_of
from agent_memory.domain.findings import Analysis, Finding, FindingKind, Profile
from agent_memory.domain.instants import has_passed, iso_of
from agent_memory.domain.plan import max_changes
from agent_memory.domain.planning.drafts import MAX_BODY_CHARS, has_secret, why_untouchable
from agent_memory.domain.planning.information import lost_content, said_by
from agent_memory.domain.text.markdown import append_see_also, find_links, without_see_also, without_see_also_of
from agent_memory.domain.tiering.resolve import SectionRoom
from agent_memory.domain.tiering.score import TierFacts, score, tier_facts
from agent_memory.domain.tiering.standing import BY_A_PERSON, best_tier
from agent_memory.domain.vocabulary import Importance, Kind, Origin, Tier, TierList

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
MAX_ACTIONS = 100
"""As many as one reply may hold (design §5.2)."""


def tidied(request: DefragRequest) -> DefragProposal:
    """What is there twice is merged; and the tiers. What is due to be archived goes anyway (`due_archivings`).

    Only entries that were shown in full are touched, and no more of them than one run may change. Near-duplicates and
    contradictions take judgement: they stay as they are (`left_to_judge`).
    """
    expired = sum(_is_open(each) and has_passed(each.meta.expires_at_ms, request.now_ms) for each in request.live)
    limit = len(request.live) if request.force else max_changes(len(request.live))
    merges = _merges(request, limit - expired, MAX_ACTIONS)
    return DefragProposal(merges, chosen_tiers(request, merges))


def ids_without_room(request: DefragRequest, proposed: Iterable[Action]) -> frozenset[str]:
    """The entries that `tidied` would have merged too, had one run room for it; `proposed` is what it answered."""
    taken = {id for action in proposed for id in ids_of(action)}
    merges = _merges(request, len(request.live), len(request.live))
    return frozenset(chain.from_iterable(each.ids for each in merges if taken.isdisjoint(each.ids)))


def _merges(request: DefragRequest, room: int, most: int) -> tuple[Merge, ...]:
    """Those that the plan check lets through, no more than `most`, and of no more than `room` live entries: of many twins it may
    be some. What it refuses it would refuse in every run."""
    hashes = {each.meta.id: each.content_hash for each in request.live}
    shown = (
        each
        for each in request.shown
        if each.meta.id in hashes
        and each.meta.id not in request.left_alone
        and not has_passed(each.meta.expires_at_ms, request.now_ms)
    )
    kept: list[Merge] = []
    for twins in twins_among(shown):
        merge = merge_of(twins[:room]) if min(len(twins), room) > 1 else None
        if merge is not None and len(kept) < most and fingerprint_of(merge, hashes) not in request.undone:
            kept.append(merge)
            room -= len(merge.ids)
    return tuple(kept)


def _is_open(listed: Listed) -> bool:
    return not why_untouchable(listed) and not listed.provisional_id


# -- what expired, and what is over a cap ----------------------------------------------------------------------------


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
    going: list[Finding] = []
    for worth, id in _least_valuable_first(live, usage, now_ms)[: max_changes(len(live))]:
        if max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(live):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        least = f"it is among those that matter least by importance, use and age (score {worth:.2f})"
        going.append(Finding(FindingKind.SURPLUS, (id,), f"{why}; {least}"))
        count -= 1
        chars -= sizes[id]
    return tuple(going)


def _least_valuable_first(live: Iterable[Listed], usage: Mapping[str, Usage], now_ms: int) -> list[tuple[float, str]]:
    """The scores and ids of those that may go: however old, what a person said that lasts goes after all that only an agent
    noted."""
    metas = [each.meta for each in live if _is_open(each) and each.meta.promoted_by is None]
    scored = [
        (is_lasting_word(meta), score(meta, reads_of(meta, usage), now_ms), meta.updated_at_ms, meta.id)
        for meta in metas
    ]
    return [(worth, id) for _, worth, _, id in sorted(scored)]


# -- what is there twice ---------------------------------------------------------------------------------------------


def twins_among(entries: Iterable[StoredEntry]) -> tuple[tuple[StoredEntry, ...], ...]:
    """Groups of two and more entries that may become one, in a stable order; in each the best sourced, then the newest first.

    A merge takes the least trusted origin of what goes in and is refused across scopes. So an entry that every agent may
    be shown is not merged with one that none may be shown.
    """
    texts = _grouped(
        sorted(filter(_may_merge, entries), key=_worth),
        lambda each: (same_text(each.body), each.meta.scope, each.meta.sensitivity),
    )
    sound = (tuple(each for each in group if not has_secret(each.body)) for group in texts)
    alike = (
        twins
        for group in sound
        for twins in _grouped(group, lambda each: (each.meta.promoted_by is not None, best_tier(each.meta)))
    )
    # The merge may be where its parts may be.
    return tuple(
        twins for twins in alike if best_tier(united_meta([each.meta for each in twins])) is best_tier(twins[0].meta)
    )


def _grouped(
    entries: Iterable[StoredEntry], key_of: Callable[[StoredEntry], Hashable]
) -> tuple[tuple[StoredEntry, ...], ...]:
    groups: dict[Hashable, list[StoredEntry]] = {}
    for stored in entries:
        groups.setdefault(key_of(stored), []).append(stored)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _worth(stored: StoredEntry) -> tuple[object, ...]:
    meta = stored.meta
    sessions = len({source.thread_id for source in meta.sources if source.thread_id})
    turns = sum(len(source.turns) for source in meta.sources)
    return (list(Origin).index(meta.origin), -sessions, -turns, -meta.updated_at_ms, meta.id)


def _may_merge(stored: StoredEntry) -> bool:
    # A handoff belongs to its session, which goes on writing it.
    is_lasting = stored.meta.kind is not Kind.HANDOFF
    return (
        _is_open(stored.listed) and is_lasting and len(stored.body) <= MAX_BODY_CHARS and bool(same_text(stored.body))
    )


def same_text(body: str) -> str:
    """What two bodies have in common that say the same: no white space to speak of, no line of links at the end."""
    return " ".join(without_see_also(body).split())


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


def _with_links_of(twins: tuple[StoredEntry, ...]) -> str:
    own = {id for each in twins for id in each.meta.all_ids}
    wanted = [link.target for each in twins for link in find_links(each.body) if link.target not in own]
    return append_see_also(without_see_also_of(twins[0].body.rstrip(), own), wanted)


# -- which entries are in front of every agent, and which have a line ------------------------------------------------


def chosen_tiers(request: DefragRequest, merges: Iterable[Merge]) -> TierList:
    """The tiers by score, once these merges and what is due are done; a merge is named by its first entry.

    Pinned entries are hot. Else hot is what a person said that lasts, and what has shown its worth (a person vouches for
    it, it is important, it is opened again and again), unless another entry wins over it that says nearly the same or the
    contrary; warm is the rest of what may be shown. That nobody has opened an entry for long counts against it in its
    score only: what is shown to every session needs no opening.
    """
    candidates = _ranked(request, merges)
    beaten = _beaten(request, candidates)
    budget = request.budget
    hot_room, warm_room = SectionRoom(budget.hot_chars), SectionRoom(budget.warm_lines)
    hot = [
        each.meta.id
        for each in candidates
        if _is_pinned(each)
        or (_earns_hot(each) and each.whole_chars * _LARGEST_SHARE <= budget.hot_chars and each.meta.id not in beaten)
        if hot_room.takes(each.meta.scope, each.whole_chars, pinned=_is_pinned(each))
    ]
    rest = [each.meta for each in candidates if each.meta.id not in hot]
    warm = [meta.id for meta in rest if warm_room.takes(meta.scope, 1)]
    return TierList(tuple(hot), tuple(warm[:_MOST_LISTED]))


def _ranked(request: DefragRequest, merges: Iterable[Merge]) -> list[TierFacts]:
    """What stays and may be shown: pinned entries first, then by score, then the newest."""
    profiles, now_ms = request.analysis.profiles, request.now_ms
    nothing = Profile(0, 0)
    facts = (
        tier_facts(meta, profiles.get(meta.id, nothing), Usage(meta.used, meta.last_used_at_ms), now_ms)
        for meta in _staying(request, merges)
    )
    shown = (each for each in facts if each.best is not Tier.COLD)
    return sorted(shown, key=lambda each: (not _is_pinned(each), -each.score, -each.meta.created_at_ms, each.meta.id))


def _is_pinned(candidate: TierFacts) -> bool:
    return candidate.meta.pinned and candidate.best is Tier.HOT


def _staying(request: DefragRequest, merges: Iterable[Merge]) -> list[Meta]:
    """The entries with their reads as they are once the merges are done, without what has expired, ceased to be true or is over a
    cap."""
    staying: dict[str, Meta] = {}
    for each in request.live:
        reads = reads_of(each.meta, request.usage)
        staying[each.meta.id] = evolve(each.meta, used=reads.count, last_used_at_ms=reads.last_at_ms)
    for merge in merges:
        united = united_meta([staying.pop(id) for id in merge.ids])
        staying[united.id] = evolve(united, updated_at_ms=max(request.now_ms, united.updated_at_ms))
    for finding in request.analysis.of_kind(FindingKind.SURPLUS):
        staying.pop(finding.ids[0], None)
    now_ms = request.now_ms
    return [
        each
        for each in staying.values()
        if each.pinned or not (has_passed(each.expires_at_ms, now_ms) or has_passed(each.valid_until_ms, now_ms))
    ]


def _beaten(request: DefragRequest, candidates: Iterable[TierFacts]) -> frozenset[str]:
    """What says nearly the same as, or the contrary of, an entry that wins over it and may be hot itself."""
    kinds = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)
    may_be_hot = {each.meta.id for each in candidates if each.best is Tier.HOT}
    findings = (finding for kind in kinds for finding in request.analysis.of_kind(kind))
    return frozenset(id for finding in findings if finding.ids[0] in may_be_hot for id in finding.ids[1:])


def _earns_hot(candidate: TierFacts) -> bool:
    meta = candidate.meta
    if candidate.best is not Tier.HOT or meta.kind in _PASSING:
        return False
    is_important = meta.importance in (Importance.HIGH, Importance.CRITICAL)
    return meta.promoted_by == BY_A_PERSON or meta.used >= _READ_OFTEN or is_important or is_lasting_word(meta)


def is_lasting_word(meta: Meta) -> bool:
    """Whether a person said it, and it is what holds on."""
    return meta.origin is Origin.USER and meta.kind in _LASTING and meta.importance is not Importance.LOW
