"""Notes that say the same, nearly the same, or a part of what another says.

All pairs of a store would be too many. Two sets of which one holds a share c of the other have in common one of the
|x| - ⌈c·|x|⌉ + 1 rarest words of the smaller set x, so only entries that share such a word are compared (prefix filtering:
Bayardo, Ma, Srikant, "Scaling up all pairs similarity search", 2007). Of these words the `_MOST_PROBED` rarest that any other
entry has are looked up, and those entries compared that share most of them. So a pair can be missed, if nearly all of these
words are among the few that the smaller entry has for itself, or if more than `_MOST_COMPARED` entries share as many of them,
as in a store of forms filled in.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain, islice

from attrs import frozen

from agent_memory.domain.analysis.features import Features, across_scopes, in_precedence, same_reach, slices, stars
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind

NEAR = 0.75
"""Share of the words of both that near duplicates have in common (Jaccard)."""
NEAR_SHORT = 0.85
"""The same where both together have fewer than `_SHORT_TERMS` words: one word more or less may be another thing."""
CONTAINED = 0.8
"""Share of the words of the smaller entry that the larger one holds, for an overlap."""
CONTAINED_FAR = 0.9
"""The same where the larger entry is `_FAR` times as large: it holds many words by chance."""

_SHORT_TERMS = 12
_FEWEST_TERMS = 4
_FEWEST_CONTAINED = 8
_FAR = 8
_MOST_PROBED = 6
_MANY_PROBED = 5
"""Of so many probed words a partner has two: four in five of its words are the same."""
_MOST_COMPARED = 64
_MOST_ALIKE = 8
_MOST_LOOKED_AT = 1_000
_ACROSS = 0.5
"""What the score of a pair is multiplied by that cannot be merged."""
_LIKENESS = "of the content words of title and body"


def duplicates(entries: Sequence[Features]) -> Iterator[Finding]:
    """Entries whose bodies are equal but for white space and links, of one scope, or one global and one not."""
    for same in _by_body(entries):
        for scope, members in same.items():
            for group in slices(in_precedence(members)):
                reason = f"the bodies of {len(group)} entries are equal but for white space and links"
                yield Finding(FindingKind.DUPLICATE, _ids(group), reason, 1.0)
            if scope != GLOBAL_SCOPE and GLOBAL_SCOPE in same:
                pair = in_precedence((in_precedence(same[GLOBAL_SCOPE])[0], in_precedence(members)[0]))
                reason = f"the bodies are equal but for white space and links{across_scopes(*pair)}"
                yield Finding(FindingKind.DUPLICATE, _ids(pair), reason, _ACROSS)


def likenesses(entries: Sequence[Features], conflicting: Collection[frozenset[str]]) -> Iterator[Finding]:
    """Near duplicates and overlaps. `conflicting` are pairs of ids known to contradict each other, which is worse and said
    elsewhere. Of entries with one body in one scope only the first is compared with others."""
    later = {each for same in _by_body(entries) for members in same.values() for each in in_precedence(members)[1:]}
    found = [
        each
        for each in _alike([each for each in entries if each not in later])
        if each.one.digest != each.other.digest and frozenset((each.one.id, each.other.id)) not in conflicting
    ]
    near = {frozenset((each.one.id, each.other.id)): each for each in found if each.is_near}
    pairs = [(each.one, each.other) for each in near.values()]
    # Apart, so that a group that can be merged is not spoilt by a member that cannot.
    mergeable = [pair for pair in pairs if pair[0].scope == pair[1].scope]
    across = [pair for pair in pairs if pair[0].scope != pair[1].scope]
    for group in (*stars(mergeable), *stars(across)):
        yield _near(group, near)
    for each in found:
        if not each.is_near:
            yield _overlap(each)


@frozen
class _Alike:
    """Two entries that say nearly the same, or of which one holds the other."""

    one: Features
    """The smaller."""
    other: Features
    jaccard: float
    """Share of the words of both that they have in common."""
    containment: float
    """Share of the words of the smaller that the other has."""
    is_near: bool
    """Near duplicates; else the other overlaps the smaller."""


def _near(group: tuple[Features, ...], near: Mapping[frozenset[str], _Alike]) -> Finding:
    first = group[0]
    shares = [near[frozenset((first.id, other.id))].jaccard for other in group[1:]]
    across = across_scopes(first, group[1])
    reason = f"{_range(shares)} {_LIKENESS} are in both{across}"
    return Finding(FindingKind.NEAR_DUPLICATE, _ids(group), reason, _score(max(shares), across))


def _overlap(alike: _Alike) -> Finding:
    across = across_scopes(alike.one, alike.other)
    reason = f"{alike.containment:.0%} {_LIKENESS} of {alike.one.id} are in {alike.other.id} too{across}"
    ids = _ids(in_precedence((alike.one, alike.other)))
    return Finding(FindingKind.OVERLAP, ids, reason, _score(alike.containment, across))


def _range(shares: Sequence[float]) -> str:
    least, most = min(shares), max(shares)
    return f"{most:.0%}" if round(least, 2) == round(most, 2) else f"{least:.0%} to {most:.0%}"


def _score(share: float, across: str) -> float:
    return round(share * (_ACROSS if across else 1.0), 4)


def _by_body(entries: Sequence[Features]) -> list[dict[str, list[Features]]]:
    """For each body that several entries have, these entries by scope."""
    by_body: dict[bytes, dict[str, list[Features]]] = defaultdict(lambda: defaultdict(list))
    for each in entries:
        if each.digest:
            by_body[each.digest][each.scope].append(each)
    return [same for same in by_body.values() if sum(map(len, same.values())) > 1]


def _ids(group: Sequence[Features]) -> tuple[str, ...]:
    return tuple(each.id for each in group)


# -- likeness ---------------------------------------------------------------------------------------------------------


def _alike(entries: Sequence[Features]) -> Iterator[_Alike]:
    """Every pair that is nearly the same or of which one holds the other; of many that are all alike, each with some of the
    others."""
    spread = Counter(chain.from_iterable(each.terms for each in entries))
    ordered = sorted(
        (each for each in entries if len(each.terms) >= _FEWEST_TERMS), key=lambda each: (len(each.terms), each.id)
    )
    probed = [_probed(each.terms, spread) for each in ordered]
    looked_up = set(chain.from_iterable(probed))
    holders: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(ordered):
        for term in each.terms & looked_up:
            holders[term].append(place)
    for place, each in enumerate(ordered):
        candidates = (ordered[at] for at in _candidates(place, probed[place], holders, ordered))
        found = (_compared(each, other) for other in candidates)
        yield from islice((alike for alike in found if alike is not None), _MOST_ALIKE)


def _probed(terms: frozenset[str], spread: Mapping[str, int]) -> list[str]:
    """The words of which a partner has one, the rarest first; words that are as rare by the alphabet."""
    rarest_first = sorted(terms, key=lambda term: (spread[term], term))
    prefix = rarest_first[: len(terms) - math.ceil(CONTAINED * len(terms)) + 1]
    return [term for term in prefix if spread[term] > 1][:_MOST_PROBED]


def _candidates(
    place: int, probed: Sequence[str], holders: Mapping[str, Sequence[int]], ordered: Sequence[Features]
) -> list[int]:
    """The places of entries after this one that share probed words, those that share most of them first, then the nearest in
    length."""
    shared: Counter[int] = Counter()
    for term in probed:
        start = bisect_right(holders[term], place)
        shared.update(holders[term][start : start + _MOST_LOOKED_AT])
    fewest = 2 if len(probed) >= _MANY_PROBED else 1
    likely = (
        (-times, at) for at, times in shared.items() if times >= fewest and same_reach(ordered[place], ordered[at])
    )
    return [at for _, at in nsmallest(_MOST_COMPARED, likely)]


def _compared(one: Features, other: Features) -> _Alike | None:
    mine, theirs = one.terms, other.terms
    common = len(mine & theirs)
    containment, together = common / len(mine), len(mine) + len(theirs) - common
    if containment < CONTAINED:
        return None
    jaccard = common / together
    if jaccard >= (NEAR if together >= _SHORT_TERMS else NEAR_SHORT):
        # Two notes each of which names a number or code that the other lacks say the like of different things.
        differ_in_names = any(map(_names, mine - theirs)) and any(map(_names, theirs - mine))
        return None if differ_in_names else _Alike(one, other, jaccard, containment, True)
    return _Alike(one, other, jaccard, containment, False) if _overlaps(one, other, containment) else None


def _names(term: str) -> bool:
    return term.startswith("`") or any(map(str.isdigit, term))


def _overlaps(one: Features, other: Features, containment: float) -> bool:
    is_same_subject = len(one.about & other.about) >= 2
    if len(one.terms) < _FEWEST_CONTAINED or not is_same_subject:
        return False
    kinds = one.meta.kind, other.meta.kind
    if Kind.HANDOFF in kinds and kinds[0] is not kinds[1]:
        return False  # it says again what the notes of its session say, and is gone in days
    return len(other.terms) < _FAR * len(one.terms) or containment >= CONTAINED_FAR
