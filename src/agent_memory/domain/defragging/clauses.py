"""Clauses: what one claim at a time says, and whether it affirms or denies it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.planning.salience import is_negated
from agent_memory.domain.planning.statements import statements
from agent_memory.domain.text.terms import content_terms

_END = re.compile(r",\s+|\s+(?:but|and|mas|e)\s+|\s*[()]\s*")

_CIRCUMSTANCE = re.compile(
    r"(?:to|for|in|on|at|by|when|whenever|if|unless|before|after|with|as|since|because|so|which|that|where|"
    r"para|em|no|na|se|quando|antes|depois|com|porque|que|onde)\b",
    re.IGNORECASE,
)


@frozen
class Clause:
    """A part of a sentence that holds a content word."""

    text: str
    terms: frozenset[str]
    denied: bool
    leads: bool = True
    """Whether it begins its sentence."""

    @property
    def is_claim(self) -> bool:
        """Whether it can stand alone: one word ("…, yarn") or a circumstance ("…, to install it") belongs to what was
        said before it."""
        return " " in self.text and (self.leads or not _CIRCUMSTANCE.match(self.text))

    def likeness(self, other: Clause) -> float:
        """Share of the content words of both that they have in common (Jaccard), 0 to 1."""
        return len(self.terms & other.terms) / len(self.terms | other.terms)


def clauses_of(text: str) -> tuple[Clause, ...]:
    """The sentences of a text cut at commas, brackets, `and` and `but`, in order."""
    parts = ((part, at == 0) for statement in statements(text) for at, part in enumerate(_END.split(statement)))
    return _with_content(parts)


def denying_sentences(text: str) -> tuple[Clause, ...]:
    """The sentences that negate anything, whole: a negation can reach over a comma."""
    return _with_content((statement, True) for statement in statements(text) if is_negated(statement))


def _with_content(parts: Iterable[tuple[str, bool]]) -> tuple[Clause, ...]:
    clauses = (
        Clause(part.strip().rstrip(".,;:!?"), content_terms(part), is_negated(part), leads) for part, leads in parts
    )
    return tuple(clause for clause in clauses if clause.terms)
