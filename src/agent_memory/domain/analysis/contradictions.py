"""Notes that contradict each other: different values for one thing, or one denies what another affirms."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from agent_memory.domain.analysis.alternatives import QUESTIONS
from agent_memory.domain.analysis.claims import Assertion, Claim
from agent_memory.domain.analysis.features import Features, across_scopes, in_precedence, same_reach, stars
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.vocabulary import Kind, Origin

_FEW_TERMS = 3
"""A statement of fewer content words says too little of what it is about: then the titles must say it."""
_SAME_TITLE = 0.6
"""Share of the words of titles and statements that both must have then."""
_MOST_VALUES = 3
"""What has more values than this in a store has more than one at a time."""
_MOST_COMPARED = 300
_MOST_OF_ONE_FRAME = 40
"""A sentence that more entries have says nothing about any of them."""
_NOTHING = ""
"""Stands for the words of a statement that has none besides its value."""
_MOST_CHARS = 80
_MOST_TOLD = 3


@frozen
class Conflict:
    """Two entries, and what of each denies the other."""

    one: Features
    other: Features
    slot: str
    """The kind of value (`claims.Claim`), or `denial`."""
    said_by_one: str
    said_by_other: str


# -- what conflicts ---------------------------------------------------------------------------------------------------


@frozen
class _Said:
    by: Features
    claim: Claim


def conflicts_among(entries: Sequence[Features]) -> list[Conflict]:
    """All pairs of entries that cannot both hold."""
    return [*_value_conflicts(entries), *_denial_conflicts(entries)]


def _value_conflicts(entries: Sequence[Features]) -> Iterator[Conflict]:
    """Pairs that give different values for what by its words is the same thing."""
    by_slot: dict[tuple[str, int], list[_Said]] = defaultdict(list)
    for each in entries:
        for claim in each.claims:
            by_slot[claim.slot, len(claim.values)].append(_Said(each, claim))
    for said in by_slot.values():
        yield from _in_slot(_with_one_value(said))


def _denial_conflicts(entries: Sequence[Features]) -> Iterator[Conflict]:
    """Pairs of which one affirms what the other denies, word for word."""
    affirming: dict[tuple[str, ...], list[Features]] = defaultdict(list)
    denying: dict[tuple[str, ...], list[tuple[Features, Assertion]]] = defaultdict(list)
    for each in entries:
        for said in each.assertions:
            if said.denied:
                denying[said.frame].append((each, said))
            else:
                affirming[said.frame].append(each)
    for words, deniers in denying.items():
        frame, affirmers = frozenset(words), affirming.get(words, ())
        same_title = 0.0 if len(frame) >= _FEW_TERMS else _SAME_TITLE
        for one in affirmers if len(affirmers) + len(deniers) <= _MOST_OF_ONE_FRAME else ():
            for other, said in deniers:
                if _comparable(one, other) and _one_subject(one, other, frame, frame, same_title):
                    yield Conflict(one, other, "denial", "", said.snippet)


def _with_one_value(said: Sequence[_Said]) -> list[_Said]:
    """Those whose subject does not have many values in its scope."""
    values: dict[tuple[str, frozenset[str]], set[tuple[str, ...]]] = defaultdict(set)
    for each in said:
        values[each.by.scope, each.claim.frame].add(each.claim.values)
    return [each for each in said if len(values[each.by.scope, each.claim.frame]) <= _MOST_VALUES]


def _in_slot(said: Sequence[_Said]) -> Iterator[Conflict]:
    """Compares claims whose statements share the rarest word of the shorter one; one without words, with all others."""
    spread = Counter(term for each in said for term in each.claim.frame)
    question = QUESTIONS.get(said[0].claim.slot) if said else None
    repeated = question.about if question and question.exclusive else frozenset[str]()
    ordered = sorted(said, key=lambda each: (len(each.claim.frame), each.by.id, each.claim.values))
    holders: dict[str, list[int]] = defaultdict(list)
    for position, each in enumerate(ordered):
        for term in (*each.claim.frame, _NOTHING):
            holders[term].append(position)
    for position, each in enumerate(ordered):
        rarest = min(each.claim.frame, key=lambda term: (spread[term], term), default=_NOTHING)
        sharing = holders[rarest]
        start = bisect_right(sharing, position)
        for candidate in sharing[start : start + _MOST_COMPARED]:
            other = ordered[candidate]
            if _conflict(each, other, repeated):
                yield Conflict(each.by, other.by, each.claim.slot, each.claim.snippet, other.claim.snippet)


def _conflict(one: _Said, other: _Said, repeated: frozenset[str]) -> bool:
    """Whether two claims of one slot conflict. `repeated` are words that only say again what the slot is."""
    if not _values_conflict(one.claim, other.claim) or not _comparable(one.by, other.by):
        return False
    shorter, longer = one.claim.frame, other.claim.frame
    if not shorter <= longer or not longer - shorter <= one.by.about:
        return False
    if shorter != longer and (one.claim.conditional or other.claim.conditional):
        return False
    same_title = 0.0 if len(shorter) >= _FEW_TERMS or one.claim.exclusive else _SAME_TITLE
    return _one_subject(one.by, other.by, shorter | repeated, longer | repeated, same_title)


def _values_conflict(one: Claim, other: Claim) -> bool:
    """Whether at most half of several values differ: if all do, the statements are about different occasions."""
    if one.values == other.values or one.dates != other.dates:
        return False
    differing = sum(mine != theirs for mine, theirs in zip(one.values, other.values, strict=True))
    return 0 < differing <= max(1, len(one.values) // 2)


def _comparable(one: Features, other: Features) -> bool:
    """Whether both are meant to hold at the same place and time."""
    if one.id == other.id or not same_reach(one, other) or _succeeds(one, other) or _succeeds(other, one):
        return False
    if one.meta.valid_until_ms is not None or other.meta.valid_until_ms is not None:
        return False
    # A repository's own rule is an exception to a global one, not its contradiction.
    is_rule = any(each.meta.kind in (Kind.PREFERENCE, Kind.CONVENTION) for each in (one, other))
    return one.scope == other.scope or not is_rule


def _succeeds(one: Features, other: Features) -> bool:
    return any(id == other.id or id in other.meta.aliases for id in one.meta.supersedes)


def _one_subject(
    one: Features, other: Features, of_one: frozenset[str], of_other: frozenset[str], same_title: float
) -> bool:
    """Whether the titles allow that both are about one thing: not each of them has a word of its own, and `same_title` is
    the share of their words, with those of the statements, that they have in common."""
    own = one.title - of_one - of_other - other.about
    foreign = other.title - of_one - of_other - one.about
    together = one.title | other.title | of_one | of_other
    common = (one.title | of_one) & (other.title | of_other)
    return not (own and foreign) and len(common) >= same_title * len(together)


# -- what is told of it -----------------------------------------------------------------------------------------------


def contradictions(conflicts: Iterable[Conflict]) -> Iterator[Finding]:
    """The conflicts as groups around the entry that should win, each with what is said on both sides."""
    by_pair: dict[frozenset[str], list[Conflict]] = defaultdict(list)
    for each in conflicts:
        by_pair[frozenset((each.one.id, each.other.id))].append(each)
    for group in stars((same[0].one, same[0].other) for same in by_pair.values()):
        yield _finding(group, by_pair)


def _finding(group: tuple[Features, ...], by_pair: dict[frozenset[str], list[Conflict]]) -> Finding:
    winner = group[0]
    told = [_told(winner, by_pair[frozenset((winner.id, other.id))]) for other in group[1:]]
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    across = across_scopes(winner, group[1])
    reason = f"{'; '.join(told[:_MOST_TOLD])}{more}; {_why_first(winner, group[1])}{across}"
    return Finding(FindingKind.CONTRADICTION, tuple(each.id for each in group), reason, 0.6 if across else 1.0)


def _told(winner: Features, conflicts: Sequence[Conflict]) -> str:
    conflict = min(conflicts, key=lambda each: (each.slot, each.said_by_one, each.said_by_other))
    is_first = conflict.one is winner
    other = conflict.other if is_first else conflict.one
    said, answered = conflict.said_by_one, conflict.said_by_other
    if conflict.slot == "denial":
        return f"{conflict.one.id} affirms what {conflict.other.id} denies{_quoted(conflict.other, answered, ': ')}"
    mine, theirs = (said, answered) if is_first else (answered, said)
    return (
        f"{_question_of(conflict.slot)}{_quoted(winner, mine, f': {winner.id} says ')}"
        f"{_quoted(other, theirs, f', {other.id} says ')}"
    )


def _question_of(slot: str) -> str:
    if slot in QUESTIONS:
        return f"different answers to the question of the {slot}"
    return "different places" if slot == "place" else "different values"


def _quoted(by: Features, snippet: str, lead: str) -> str:
    """What is said, cut and without secrets; nothing of an entry that is secret."""
    return "" if by.is_secret or not snippet else f"{lead}“{stored_line(snippet, _MOST_CHARS)}”"


def _why_first(winner: Features, other: Features) -> str:
    first, second = in_precedence((winner, other))
    if first.is_vouched_for != second.is_vouched_for:
        return f"{first.id} was pinned or promoted"
    if second.meta.origin is Origin.EXTERNAL and first.meta.origin is not Origin.EXTERNAL:
        return f"{second.id} comes from outside"
    if first.since_ms != second.since_ms:
        return f"{first.id} is newer"
    return f"{first.id} is better sourced" if first.meta.origin is not second.meta.origin else "neither is newer"
