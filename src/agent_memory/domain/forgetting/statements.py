"""What a note states, line by line: compared by words, and kept as hashes where the words must not be kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from agent_memory.domain.defragging.kept_lines import KEPT_SHARE, Line, claims_among, distinct_lines
from agent_memory.domain.text.terms import content_terms, coverage

MENTION_SHARE = 0.6
"""Of a note's statements that another one must hold to be told of."""

_HASH_DIGITS = 16
_TELLING_TERMS = 4
"""A line of fewer content words is no proof by itself that a text was made from it."""


def statements_of(title: str, body: str) -> tuple[Line, ...]:
    """The lines of a body that state something; of an empty one its title."""
    return claims_among(distinct_lines([body])) or distinct_lines([title])


def statement_hashes(title: str, body: str) -> frozenset[str]:
    """A hash of the content words of each statement, whatever their order, case and endings."""
    return frozenset(_hash(line.terms) for line in statements_of(title, body))


def share_held(statements: Iterable[Line], text: str) -> float:
    """Which part of the statements is in a text, 0 to 1: a statement is when most of its content words are. Nothing is
    held of none."""
    lines = tuple(statements)
    said = content_terms(text)
    held = sum(coverage(line.terms, said) >= KEPT_SHARE for line in lines)
    return held / len(lines) if lines else 0.0


def holds_some(statements: Iterable[Line], text: str) -> bool:
    """Whether all content words of at least one telling statement are in a text."""
    said = content_terms(text)
    return any(len(line.terms) >= _TELLING_TERMS and line.terms <= said for line in statements)


def _hash(terms: frozenset[str]) -> str:
    return hashlib.sha256(" ".join(sorted(terms)).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
