"""The built-in answer to a defrag request: no language model, no network, the same every time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, product

from attrs import evolve

from agent_memory.note.note import (
    BY_A_PERSON,
    Importance,
    Kind,
    Listed,
    Meta,
    Origin,
    StoredEntry,
    Tier,
    TierList,
    Usage,
    reads_of,
)
from agent_memory.rules.change import max_changes
from agent_memory.rules.drafts import MAX_BODY_CHARS, has_secret, why_untouchable
from agent_memory.rules.findings import Analysis, Finding, FindingKind
from agent_memory.rules.information import lost_content, said_by
from agent_memory.rules.plan import Action, Archive, DefragProposal, DefragRequest, Due, Merge, fingerprint_of, ids_of
from agent_memory.rules.plan_defrag import united_meta
from agent_memory.rules.tiers import SectionRoom, TierFacts, score, tier_facts
from agent_memory.text.instants import day_of, has_passed
from agent_memory.text.markdown import append_see_also, find_links, without_see_also, without_see_also_of

_LASTING = (Kind.PREFERENCE, Kind.CONVENTION, Kind.DECISION, Kind.LESSON, Kind.PROJECT)
"""Kinds that a session should know from the start, if a person said it. A fact is looked up, and an agent's conclusion is
worth a line unless it is opened again and again."""
_PASSING = (Kind.TASK, Kind.HANDOFF)
"""Kinds that are over soon: worth a line, but no room among those that always hold."""
_READ_OFTEN = 3
_LARGEST_SHARE = 3
"""A note that would take more than a third of the room is read when it is needed."""
_RIVALS = (FindingKind.CONTRADICTION, FindingKind.DUPLICATE, FindingKind.NEAR_DUPLICATE)
"""In these findings only the winner may be hot: the others say nearly the same, or the contrary."""
MAX_ACTIONS = 100
"""The limit of one reply (design §5.2)."""


def tidied(request: DefragRequest) -> DefragProposal:
    """Returns the merges of identical notes, and the tiers. What is due to be archived goes anyway (`due_archivings`).

    Touches only notes that were shown in full, and no more of them than one run may change. Near duplicates and
    contradictions take judgement: they stay as they are (`left_to_judge`).
    """
    expired = sum(_is_open(each) and has_passed(each.meta.expires_at_ms, request.now_ms) for each in request.live)
    limit = len(request.live) if request.force else max_changes(len(request.live))
    merges = _merges(request, limit - expired, MAX_ACTIONS)
    return DefragProposal(merges, chosen_tiers(request, merges))


def ids_without_room(request: DefragRequest, proposed: Iterable[Action]) -> frozenset[str]:
    """Returns the notes that `tidied` would also have merged if the run had room for it; `proposed` is what it
    answered."""
    taken = {id for action in proposed for id in ids_of(action)}
    merges = _merges(request, len(request.live), len(request.live))
    return frozenset(chain.from_iterable(each.ids for each in merges if taken.isdisjoint(each.ids)))


def _merges(request: DefragRequest, room: int, most: int) -> tuple[Merge, ...]:
    """Returns the merges that the plan check lets through: at most `most`, of at most `room` live notes, so that of
    many twins only some may be merged. What it refuses now it would refuse in every run."""
    hashes = {each.meta.id: each.content_hash for each in request.live}
    shown = (
        each
        for each in request.shown
        if each.meta.id in hashes and not has_passed(each.meta.expires_at_ms, request.now_ms)
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


def due_archivings(live: Iterable[Listed], analysis: Analysis, now_ms: int) -> Due:
    """Returns the notes that have expired by now, and those that the analysis found over a limit."""
    ends = ((each.meta.expires_at_ms, each.meta.id) for each in live)
    ended = sorted((at_ms, id) for at_ms, id in ends if has_passed(at_ms, now_ms))
    expired = tuple(Archive(id, f"it expired on {day_of(at_ms)}") for at_ms, id in ended)
    return Due(expired, tuple(Archive(each.ids[0], each.reason) for each in analysis.of_kind(FindingKind.SURPLUS)))


def surplus(
    live: Sequence[Listed],
    body_chars: Mapping[str, int],
    usage: Mapping[str, Usage],
    *,
    max_entries: int | None,
    max_chars: int | None,
    max_by_kind: Mapping[str, int],
    now_ms: int,
) -> tuple[Finding, ...]:
    """Returns the notes that have to go so that the store keeps its limits, least valuable first, as many as one run
    may archive.

    Pinned, promoted, secret and conflicted notes are never among them, so a store of nothing else stays over its limit.
    The characters of a note of unknown size do not count.
    """
    if max_entries is None and max_chars is None and not max_by_kind:
        return ()
    sizes = {each.meta.id: body_chars.get(each.meta.id, 0) for each in live}
    count, chars = len(live), sum(sizes.values())
    metas = (each.meta for each in live if _is_open(each) and each.meta.promoted_by is None)
    # Anything lasting that a person said, however old, goes after everything that only an agent noted.
    least_valuable_first = sorted(
        (is_lasting_word(meta), score(meta, reads_of(meta, usage), now_ms), meta.updated_at_ms, meta.id, meta.kind)
        for meta in metas
    )
    kinds = Counter(each.meta.kind for each in live)
    going: dict[str, Finding] = {}
    # The caps of single kinds first: what they take away may be enough for the others.
    for only_kinds, (_, worth, _, id, kind) in product((True, False), least_valuable_first):
        if id in going or len(going) == max_changes(len(live)):
            continue
        if only_kinds:
            if kinds[kind] <= max_by_kind.get(kind, len(live)):
                continue
            why = f"limits.maxByKind has {max_by_kind[kind]:,} for {kind} and there were {kinds[kind]:,} live ones"
        elif max_entries is not None and count > max_entries:
            why = f"limits.maxEntries is {max_entries:,} and there were {len(live):,} live notes"
        elif max_chars is not None and chars > max_chars:
            why = f"limits.maxChars is {max_chars:,} and the live notes had more characters than that"
        else:
            break
        least = f"it is among those that matter least by importance, use and age (score {worth:.2f})"
        going[id] = Finding(FindingKind.SURPLUS, (id,), f"{why}; {least}")
        count -= 1
        chars -= sizes[id]
        kinds[kind] -= 1
    return tuple(going.values())


# -- what is there twice ---------------------------------------------------------------------------------------------


def twins_among(entries: Iterable[StoredEntry]) -> tuple[tuple[StoredEntry, ...], ...]:
    """Returns groups of notes that may become one, in a stable order; in each the best sourced first, then the newest.

    They say the same but for white space and the line of links at the end. A merge takes the least trusted origin of
    its sources and is refused across scopes, so a note that every agent may be shown is not merged with one that none
    may be shown.
    """
    groups: dict[Hashable, list[StoredEntry]] = defaultdict(list)
    # A handoff belongs to its session, which will write it again.
    lasting = (each for each in entries if _is_open(each.listed) and each.meta.kind is not Kind.HANDOFF)
    for each in sorted((each for each in lasting if len(each.body) <= MAX_BODY_CHARS), key=_worth):
        said, meta = " ".join(without_see_also(each.body).split()), each.meta
        if said:
            key = (said, meta.scope, meta.sensitivity, meta.promoted_by is not None, meta.best_tier)
            groups[key].append(each)
    alike = (group for group in groups.values() if len(group) > 1)
    sound = (tuple(each for each in group if not has_secret(each.body)) for group in alike)
    # The merged note may be as hot as each of its parts.
    return tuple(
        twins
        for twins in sound
        if len(twins) > 1 and united_meta([each.meta for each in twins]).best_tier is twins[0].meta.best_tier
    )


def _worth(stored: StoredEntry) -> tuple[object, ...]:
    meta = stored.meta
    sessions = len({source.thread_id for source in meta.sources if source.thread_id})
    turns = sum(len(source.turns) for source in meta.sources)
    return (list(Origin).index(meta.origin), -sessions, -turns, -meta.updated_at_ms, meta.id)


def merge_of(twins: tuple[StoredEntry, ...]) -> Merge:
    """Returns the merge of twins: title, description and body of the first, with the links of all.

    What the titles and descriptions of the others say besides is named in `drops`; it stays in the archive.
    """
    first = twins[0]
    own = {id for each in twins for id in each.meta.all_ids}
    wanted = [link.target for each in twins for link in find_links(each.body) if link.target not in own]
    body = append_see_also(without_see_also_of(first.body.rstrip(), own), wanted)
    text = f"{first.meta.title}\n{first.meta.description}\n{body}"
    return Merge(
        ids=tuple(each.meta.id for each in twins),
        title=first.meta.title,
        body=body,
        description=first.meta.description or None,
        drops=lost_content((said_by(each.entry) for each in twins), text),
    )


# -- which entries are in front of every agent, and which have a line ------------------------------------------------


def chosen_tiers(request: DefragRequest, merges: Iterable[Merge]) -> TierList:
    """Returns the tiers by score as of after these merges and due archivings; a merge is named by its first note.

    Pinned notes are hot. So is what a person said that lasts, and what has proved its worth (a person vouches for it,
    it is important, it is opened again and again), unless another note that says nearly the same or the contrary wins
    over it. Warm is the rest of what may be shown. A note that nobody has opened for long loses score, nothing else:
    what every session is shown needs no opening.
    """
    body_chars, now_ms, budget = request.analysis.body_chars, request.now_ms, request.budget
    facts = (
        tier_facts(meta, body_chars.get(meta.id, 0), Usage(meta.used, meta.last_used_at_ms), now_ms)
        for meta in _staying(request, merges)
    )
    candidates = [each for each in facts if each.best is not Tier.COLD]
    candidates.sort(key=lambda each: (not _is_pinned(each), -each.score, -each.meta.created_at_ms, each.meta.id))
    may_be_hot = {each.meta.id for each in candidates if each.best is Tier.HOT}
    rivals = (each.ids for kind in _RIVALS for each in request.analysis.of_kind(kind) if each.ids[0] in may_be_hot)
    beaten = {id for ids in rivals for id in ids[1:]}
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
    # The limit for a store of many repositories, each of which has lines of its own.
    return TierList(tuple(hot), tuple(warm[:5_000]))


def _is_pinned(candidate: TierFacts) -> bool:
    return candidate.meta.pinned and candidate.best is Tier.HOT


def _staying(request: DefragRequest, merges: Iterable[Merge]) -> list[Meta]:
    """Returns the notes with their reads as they will be after the merges, without what has expired, ceased to be true
    or is over a limit."""
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


def _earns_hot(candidate: TierFacts) -> bool:
    meta = candidate.meta
    if candidate.best is not Tier.HOT or meta.kind in _PASSING:
        return False
    is_important = meta.importance in (Importance.HIGH, Importance.CRITICAL)
    return meta.promoted_by == BY_A_PERSON or meta.used >= _READ_OFTEN or is_important or is_lasting_word(meta)


def is_lasting_word(meta: Meta) -> bool:
    """Returns whether a person said it and it is of a lasting kind."""
    return meta.origin is Origin.USER and meta.kind in _LASTING and meta.importance is not Importance.LOW
