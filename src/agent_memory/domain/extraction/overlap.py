"""How far two statements speak of the same thing."""

from __future__ import annotations

from agent_memory.domain.planning.salience import is_negated, lost_salience
from agent_memory.domain.text.terms import content_terms

_MARKS = ".,;:!?…\"'“”‘’`()[]*_"


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set of content words that the other one holds too, 0 to 1; 0 for an empty one."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def in_words(statement: str) -> tuple[str, ...]:
    """All words of a statement as they were typed, small ones and signs too, without case and the punctuation around them.

    Two statements that differ in a single one of them may say the opposite: on and off, team A and team B, C and C++.
    """
    return tuple(filter(None, (word.strip(_MARKS) for word in statement.casefold().split())))


def holds_all_of(text: str, statement: str) -> bool:
    """Whether a text holds every content word of a statement, and every number, name and negation."""
    return content_terms(statement) <= content_terms(text) and not lost_salience(statement, text)


def says_all_of(sentence: str, statement: str) -> bool:
    """The same of one sentence, which must not deny what the statement affirms either."""
    return holds_all_of(sentence, statement) and is_negated(sentence) == is_negated(statement)
