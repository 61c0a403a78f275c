"""Findings about entries that contradict each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.analysis.conflicts import Conflict, question_of
from agent_memory.domain.analysis.features import Features
from agent_memory.domain.analysis.precedence import across_scopes, in_precedence, precedence
from agent_memory.domain.analysis.stars import stars
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.planning.drafts import stored_line
from agent_memory.domain.vocabulary import Origin

_MOST_CHARS = 80
_MOST_TOLD = 3


def contradictions(conflicts: Iterable[Conflict]) -> Iterator[Finding]:
    """The conflicts as groups around the entry that should win, each with what is said on both sides."""
    by_pair: dict[frozenset[str], list[Conflict]] = defaultdict(list)
    for each in conflicts:
        by_pair[frozenset((each.one.id, each.other.id))].append(each)
    pairs = [(same[0].one, same[0].other) for same in by_pair.values()]
    for group in stars(pairs, precedence):
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
        f"{question_of(conflict.slot)}{_quoted(winner, mine, f': {winner.id} says ')}"
        f"{_quoted(other, theirs, f', {other.id} says ')}"
    )


def _quoted(by: Features, snippet: str, lead: str) -> str:
    """What is said, cut and without secrets; nothing of an entry that is secret."""
    return "" if by.is_secret or not snippet else f"{lead}“{stored_line(snippet, _MOST_CHARS)}”"


def _why_first(winner: Features, other: Features) -> str:
    first, second = in_precedence((winner, other))
    if (first.pinned or first.promoted) != (second.pinned or second.promoted):
        return f"{first.id} was pinned or promoted"
    if second.origin is Origin.EXTERNAL and first.origin is not Origin.EXTERNAL:
        return f"{second.id} comes from outside"
    if _since_ms(first) != _since_ms(second):
        return f"{first.id} is newer"
    return f"{first.id} is better sourced" if first.origin is not second.origin else "neither is newer"


def _since_ms(entry: Features) -> int:
    return entry.valid_from_ms if entry.valid_from_ms is not None else entry.updated_at_ms
