"""Findings about entries that say the same, nearly the same, or a part of what another says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.likened import LikenedPair
from agent_memory.domain.analysis.precedence import across_scopes, in_precedence, precedence
from agent_memory.domain.analysis.stars import slices, stars
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.values import frozen

_ACROSS = 0.5
"""What the score of a pair is multiplied by that cannot be merged."""
_LIKENESS = "of the content words of title and body"


def duplicates(entries: Sequence[Features]) -> Iterator[Finding]:
    """Entries whose bodies are equal but for white space and links, of one scope, or one global and one not."""
    for same in _by_body(entries).values():
        for scope, members in same.items():
            for group in slices(in_precedence(members)):
                if len(group) > 1:
                    reason = f"the bodies of {len(group)} entries are equal but for white space and links"
                    yield Finding(FindingKind.DUPLICATE, _ids(group), reason, 1.0)
            if scope != GLOBAL_SCOPE and GLOBAL_SCOPE in same:
                pair = in_precedence((in_precedence(same[GLOBAL_SCOPE])[0], in_precedence(members)[0]))
                reason = f"the bodies are equal but for white space and links{across_scopes(*pair)}"
                yield Finding(FindingKind.DUPLICATE, _ids(pair), reason, _ACROSS)


def likenesses(
    pairs: Iterable[LikenedPair], features: Callable[[int], Features], conflicting: Collection[frozenset[str]]
) -> Iterator[Finding]:
    """Near duplicates and overlaps. `features` are those of the note in a slot; what `conflicting` names are pairs of ids known
    to contradict each other, which is worse and said elsewhere."""
    found = [
        alike
        for alike in (_Alike(features(each.one), features(each.other), each) for each in pairs)
        if alike.one.digest != alike.other.digest and alike.ids not in conflicting
    ]
    near = {each.ids: each.pair for each in found if each.pair.is_near}
    partners = [(each.one, each.other) for each in found if each.pair.is_near]
    # Apart, so that a group that can be merged is not spoilt by a member that cannot.
    mergeable = [pair for pair in partners if pair[0].scope == pair[1].scope]
    across = [pair for pair in partners if pair[0].scope != pair[1].scope]
    for group in (*stars(mergeable, precedence), *stars(across, precedence)):
        yield _near(group, near)
    for each in found:
        if not each.pair.is_near:
            yield _overlap(each)


@frozen
class _Alike:
    one: Features
    """The smaller."""
    other: Features
    pair: LikenedPair

    @property
    def ids(self) -> frozenset[str]:
        return frozenset((self.one.id, self.other.id))


def _near(group: tuple[Features, ...], near: Mapping[frozenset[str], LikenedPair]) -> Finding:
    first = group[0]
    shares = [near[frozenset((first.id, other.id))].jaccard for other in group[1:]]
    across = across_scopes(first, group[1])
    reason = f"{_range(shares)} {_LIKENESS} are in both{across}"
    return Finding(FindingKind.NEAR_DUPLICATE, _ids(group), reason, _score(max(shares), across))


def _overlap(alike: _Alike) -> Finding:
    across = across_scopes(alike.one, alike.other)
    reason = f"{alike.pair.containment:.0%} {_LIKENESS} of {alike.one.id} are in {alike.other.id} too{across}"
    ids = _ids(in_precedence((alike.one, alike.other)))
    return Finding(FindingKind.OVERLAP, ids, reason, _score(alike.pair.containment, across))


def _range(shares: Sequence[float]) -> str:
    least, most = min(shares), max(shares)
    return f"{most:.0%}" if round(least, 2) == round(most, 2) else f"{least:.0%} to {most:.0%}"


def _score(share: float, across: str) -> float:
    return round(share * (_ACROSS if across else 1.0), 4)


def _by_body(entries: Sequence[Features]) -> dict[bytes, dict[str, list[Features]]]:
    """Those of which others have the same body, by scope."""
    spread = Counter(each.digest for each in entries)
    by_body: dict[bytes, dict[str, list[Features]]] = defaultdict(lambda: defaultdict(list))
    for each in entries:
        if each.digest and spread[each.digest] > 1:
            by_body[each.digest][each.scope].append(each)
    return by_body


def later_equals(entries: Sequence[Features]) -> Iterator[Features]:
    """All but one entry for each body in each scope: those that need not be compared with others."""
    for same in _by_body(entries).values():
        for members in same.values():
            yield from in_precedence(members)[1:]


def _ids(group: Sequence[Features]) -> tuple[str, ...]:
    return tuple(each.id for each in group)
