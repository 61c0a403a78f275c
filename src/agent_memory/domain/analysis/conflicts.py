"""Claims of two entries that cannot both hold."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from agent_memory.domain.analysis.alternatives import QUESTIONS
from agent_memory.domain.analysis.denials import Denied
from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.noticed import PackedClaim
from agent_memory.domain.analysis.precedence import same_reach
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.vocabulary import Kind
from agent_memory.values import frozen

_FEW_TERMS = 3
"""A statement of fewer content words says too little of what it is about: then the titles must say it."""
_SAME_TITLE = 0.6
"""Share of the words of titles and statements that both must have then."""
_MOST_VALUES = 3
"""What has more values than this in a store has more than one at a time."""
_MOST_COMPARED = 300
_NOTHING = -1
"""Stands for the words of a statement that has none besides its value."""


@frozen
class Conflict:
    """Two entries, and what of each denies the other."""

    one: Features
    other: Features
    slot: str
    """The kind of value (`claims.Claim`), or `denial`."""
    said_by_one: str
    said_by_other: str


@frozen
class _Said:
    by: Features
    claim: PackedClaim


def value_conflicts(entries: Sequence[Features], words: Vocabulary) -> Iterator[Conflict]:
    """Pairs that give different values for what by its words is the same thing."""
    by_slot: dict[tuple[str, int], list[_Said]] = defaultdict(list)
    for each in entries:
        for claim in each.claims:
            by_slot[claim.slot, len(claim.values)].append(_Said(each, claim))
    for said in by_slot.values():
        if len(said) > 1:
            yield from _in_slot(_with_one_value(said), words)


def denial_conflicts(denied: Iterable[Denied], features: Callable[[int], Features]) -> Iterator[Conflict]:
    """Pairs of which one affirms what the other denies. `features` are those of the note in a slot."""
    for each in denied:
        affirming, denying = features(each.affirming), features(each.denying)
        frame = frozenset(each.frame)
        same_title = 0.0 if len(frame) >= _FEW_TERMS else _SAME_TITLE
        if _comparable(affirming, denying) and _one_subject(affirming, denying, frame, frame, same_title):
            yield Conflict(affirming, denying, "denial", "", each.snippet)


def _with_one_value(said: Sequence[_Said]) -> list[_Said]:
    """Those whose subject does not have many values in its scope."""
    values: dict[tuple[str, tuple[int, ...]], set[tuple[str, ...]]] = defaultdict(set)
    for each in said:
        values[each.by.scope, each.claim.frame].add(each.claim.values)
    return [each for each in said if len(values[each.by.scope, each.claim.frame]) <= _MOST_VALUES]


def _in_slot(said: Sequence[_Said], words: Vocabulary) -> Iterator[Conflict]:
    """Compares claims whose statements share the rarest word of the shorter one; one without words, with all others."""
    spread = Counter(term for each in said for term in each.claim.frame)
    question = QUESTIONS.get(said[0].claim.slot) if said else None
    repeated = frozenset(words.numbers(question.about)) if question and question.exclusive else frozenset[int]()
    ordered = sorted(said, key=lambda each: (len(each.claim.frame), each.by.id, each.claim.values))
    holders: dict[int, list[int]] = defaultdict(list)
    for position, each in enumerate(ordered):
        for term in (*each.claim.frame, _NOTHING):
            holders[term].append(position)
    for position, each in enumerate(ordered):
        rarest = min(each.claim.frame, key=lambda term: (spread[term], words.word(term)), default=_NOTHING)
        sharing = holders[rarest]
        start = bisect_right(sharing, position)
        for candidate in sharing[start : start + _MOST_COMPARED]:
            other = ordered[candidate]
            if _conflict(each, other, repeated):
                yield Conflict(each.by, other.by, each.claim.slot, each.claim.snippet, other.claim.snippet)


def _conflict(one: _Said, other: _Said, repeated: frozenset[int]) -> bool:
    """Whether two claims of one slot conflict. `repeated` are words that only say again what the slot is."""
    if not _values_conflict(one.claim, other.claim) or not _comparable(one.by, other.by):
        return False
    shorter, longer = frozenset(one.claim.frame), frozenset(other.claim.frame)
    if not shorter <= longer or not (longer - shorter).issubset(one.by.about):
        return False
    if shorter != longer and (one.claim.conditional or other.claim.conditional):
        return False
    same_title = 0.0 if len(shorter) >= _FEW_TERMS or one.claim.exclusive else _SAME_TITLE
    return _one_subject(one.by, other.by, shorter | repeated, longer | repeated, same_title)


def _values_conflict(one: PackedClaim, other: PackedClaim) -> bool:
    """Whether at most half of several values differ: if all do, the statements are about different occasions."""
    if one.values == other.values or one.dates != other.dates:
        return False
    differing = sum(mine != theirs for mine, theirs in zip(one.values, other.values, strict=True))
    return 0 < differing <= max(1, len(one.values) // 2)


def _comparable(one: Features, other: Features) -> bool:
    """Whether both are meant to hold at the same place and time."""
    if one.id == other.id or not same_reach(one.scope, other.scope) or _succeeds(one, other) or _succeeds(other, one):
        return False
    if one.valid_until_ms is not None or other.valid_until_ms is not None:
        return False
    # A repository's own rule is an exception to a global one, not its contradiction.
    is_rule = any(each.kind in (Kind.PREFERENCE, Kind.CONVENTION) for each in (one, other))
    return one.scope == other.scope or not is_rule


def _succeeds(one: Features, other: Features) -> bool:
    return any(id == other.id or id in other.aliases for id in one.supersedes)


def _one_subject(
    one: Features,
    other: Features,
    of_one: frozenset[int],
    of_other: frozenset[int],
    same_title: float,
) -> bool:
    """Whether the titles allow that both are about one thing: not each of them has a word of its own, and `same_title` is
    the share of their words, with those of the statements, that they have in common."""
    mine, theirs = frozenset(one.title), frozenset(other.title)
    own = mine - of_one - of_other - frozenset(other.about)
    foreign = theirs - of_one - of_other - frozenset(one.about)
    together = mine | theirs | of_one | of_other
    common = (mine | of_one) & (theirs | of_other)
    return not (own and foreign) and len(common) >= same_title * len(together)


def pairs_of(conflicts: Sequence[Conflict]) -> set[frozenset[str]]:
    """The pairs of ids that conflict."""
    return {frozenset((each.one.id, each.other.id)) for each in conflicts}


def question_of(slot: str) -> str:
    """What a kind of value is called in a reason."""
    if slot in QUESTIONS:
        return f"different answers to the question of the {slot}"
    return "different places" if slot == "place" else "different values"
