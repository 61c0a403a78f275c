"""Claims whose polarity was turned: "never push to main" that became "push to main", or the other way round.

A bag of words does not show it where some other sentence denies something about the same things, so claims are compared
clause by clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_memory.domain.defragging.clauses import Clause, clauses_of, denying_sentences
from agent_memory.domain.planning.salience import denying_words
from agent_memory.domain.text.terms import content_terms

_SAME_CLAIM = 0.5
_VERY_SAME_CLAIM = 0.8
_MOST_PHRASE_CHARS = 80


def turned_claims(before: str, after: str, drops: Iterable[str] = ()) -> tuple[str, ...]:
    """The clauses of `before` that `after` holds with the opposite polarity only, unless `drops` names them."""
    dropped_terms = content_terms("\n".join(drops))
    old = _once(clause for clause in clauses_of(before) if clause.is_claim)
    new = _once((*clauses_of(after), *denying_sentences(after)))
    turned = (
        clause.text[:_MOST_PHRASE_CHARS]
        for clause in old.values()
        if not clause.terms & dropped_terms and _is_turned(clause, old, new)
    )
    return tuple(dict.fromkeys(turned))


_Claims = Mapping[tuple[frozenset[str], bool], Clause]


def _once(clauses: Iterable[Clause]) -> _Claims:
    """The clauses by what they say; of two that say the same, one that stands alone."""
    return {(clause.terms, clause.denied): clause for clause in sorted(clauses, key=lambda each: each.is_claim)}


def _is_turned(clause: Clause, old: _Claims, new: _Claims) -> bool:
    if (clause.terms, clause.denied) in new:
        return False
    opposite = (
        each
        for each in new.values()
        if each.denied != clause.denied
        and each.is_claim
        and not (clause.denied and denying_words(each.text) - denying_words(clause.text))
    )
    turned = max((clause.likeness(each) for each in opposite if not _was_said(each, clause, old)), default=0.0)
    if turned < (_SAME_CLAIM if clause.denied else _VERY_SAME_CLAIM):
        return False
    return turned > max((clause.likeness(each) for each in new.values() if each.denied == clause.denied), default=0.0)


def _was_said(claim: Clause, clause: Clause, old: _Claims) -> bool:
    """Whether the sources make this claim themselves, beside the one that it looks like."""
    return claim.terms != clause.terms and (claim.terms, claim.denied) in old
