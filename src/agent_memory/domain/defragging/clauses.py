"""Clauses: what one claim at a time says, and whether it affirms or denies it."""

from __future__ import annotations

import re

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

_NAMES = re.compile(r"`[^`\n]*`|(?<!\w)-{0,2}\w+(?:-\w+)+|(?<!\w)--?\w+")
"""What denies nothing though it holds a `no`: code, flags, hyphenated names."""


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
    return tuple(clause for statement in statements(text) for clause in _clauses_in(statement))


def denying_sentences(text: str) -> tuple[Clause, ...]:
    """The sentences that do nothing but deny, whole: a negation can reach over a comma."""
    return tuple(
        Clause(statement.rstrip(".,;:!?"), content_terms(statement), True)
        for statement in statements(text)
        if _denies(statement) and all(each.denied or not each.is_claim for each in _clauses_in(statement))
    )


def _clauses_in(statement: str) -> list[Clause]:
    clauses: list[Clause] = []
    denies_all = False
    for part in _END.split(statement):
        terms, denied = content_terms(part), _denies(part)
        if terms:
            text = part.strip().rstrip(".,;:!?")
            clauses.append(Clause(text, terms, denied or denies_all, not clauses))
        denies_all |= denied and not terms  # "Do not, under any circumstances, …"
    return clauses


def _denies(text: str) -> bool:
    return is_negated(_NAMES.sub(" ", text))
