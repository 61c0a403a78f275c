"""The words of a query."""

from __future__ import annotations

from attrs import frozen

from agent_memory.domain.searching.terms import MAX_TERM_CHARS, chunk_terms, chunks_of

MAX_QUERY_CHARS = 16_384
"""What follows is not looked at."""
MAX_QUERY_TERMS = 1_000
"""Of different terms of a query the first so many are looked up."""


@frozen
class QueryWord:
    """One word that is looked for."""

    term: str
    """As `chunk_terms` makes it."""
    weight: float = 1.0
    stretches: bool = True
    """Whether terms that it begins, and slips of it, may stand for it."""


def query_words(text: str) -> tuple[QueryWord, ...]:
    """The words of a query, each once, in their order; stop words only where there is nothing else.

    Any text is a query. A word that is said several times weighs no more: a log repeats what matters least.
    """
    wanted: dict[str, bool] = {}
    common: dict[str, bool] = {}
    for chunk in chunks_of(text[:MAX_QUERY_CHARS]):
        terms = chunk_terms(chunk)
        for part in terms.parts:
            wanted.setdefault(part, True)
        for whole in terms.wholes:
            wanted.setdefault(whole, False)
        common.update(dict.fromkeys(terms.common, False))
        if len(wanted) >= MAX_QUERY_TERMS:
            break
    words = wanted or common
    return tuple(QueryWord(term, 1.0, _stretches(term) and may) for term, may in list(words.items())[:MAX_QUERY_TERMS])


def _stretches(term: str) -> bool:
    return 3 <= len(term) < MAX_TERM_CHARS and not term[0].isdigit()
