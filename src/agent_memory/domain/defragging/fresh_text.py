"""Whose knowledge it is what a rewrite says and none of its sources does (P19)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

from agent_memory.domain.defragging.changed_claims import Clause, clauses_of, swapped_words
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.planning.directives import is_directive
from agent_memory.domain.planning.salience import actionable_tokens, lost_salience, statements
from agent_memory.domain.text.terms import content_terms, coverage
from agent_memory.domain.tiering.standing import is_vouched_for
from agent_memory.domain.vocabulary import Origin, Sensitivity, least_trusted

_SAID = 0.6
"""Share of the content words that must be in a text for it to have said them."""
_MOST_JOINED = 3
"""So many clauses of the sources may have become one."""
_FEWEST_NEW_WORDS = 3
"""Below this many, words in common are chance."""
_SPACES = re.compile(r"\s+")


@frozen
class Untrusted:
    """One entry whose text only a tool, a page or a file said, and no person vouches for."""

    terms: frozenset[str]
    actionable: frozenset[str]


@frozen
class _Sources:
    text: str
    terms: frozenset[str]
    clauses: tuple[Clause, ...]


def untrusted_entries(live: Iterable[Listed], shown: Iterable[StoredEntry]) -> tuple[Untrusted, ...]:
    """What an agent could have read of such entries: titles and descriptions, and the bodies it was shown."""
    bodies = {each.meta.id: each.body for each in shown}
    metas = (each.meta for each in live if each.meta.origin is Origin.EXTERNAL)
    texts = (
        f"{meta.title}\n{meta.description}\n{bodies.get(meta.id, '')}"
        for meta in metas
        if meta.sensitivity is not Sensitivity.SECRET and not is_vouched_for(meta)
    )
    return tuple(Untrusted(content_terms(text), actionable_tokens(text)) for text in texts)


def origin_of_fresh_text(before: str, after: str, untrusted: tuple[Untrusted, ...] = ()) -> Origin:
    """The least trusted origin of the sentences of `after` that `before` does not hold.

    `external` for a directive that is no directive of the sources in other words, and for what an untrusted entry says;
    `agent` for any other sentence that no source holds, or that names something to type or open that no source names;
    else `user`, so that rewording changes nothing.
    """
    known = {_plain(sentence) for sentence in statements(before)}
    fresh = [sentence for sentence in statements(after) if _plain(sentence) not in known]
    if not fresh:
        return Origin.USER
    sources = _Sources(before, content_terms(before), clauses_of(before))
    return least_trusted(_origin_of(sentence, sources, untrusted) for sentence in fresh)


def _origin_of(sentence: str, sources: _Sources, untrusted: tuple[Untrusted, ...]) -> Origin:
    tokens = actionable_tokens(sentence)
    # Not a new token where a source names it without backticks.
    new_tokens = tokens & frozenset(lost_salience(sentence, sources.text)) if tokens else tokens
    new_terms = content_terms(sentence) - sources.terms
    if any(_is_from(each, new_terms, new_tokens) for each in untrusted):
        return Origin.EXTERNAL
    is_new = (
        bool(new_tokens) or not _is_restated(sentence, sources.clauses) or bool(swapped_words(sources.text, sentence))
    )
    if is_new and is_directive(sentence):
        return Origin.EXTERNAL
    return Origin.AGENT if is_new else Origin.USER


def _is_restated(sentence: str, said: tuple[Clause, ...]) -> bool:
    """Whether each clause was said in other words: most of its content words in a few clauses together, of which the
    likest affirms or denies as it does."""
    return all(_is_said(clause, said) for clause in clauses_of(sentence))


def _is_said(clause: Clause, said: tuple[Clause, ...]) -> bool:
    likest = sorted(said, key=lambda each: (-clause.likeness(each), each.denied != clause.denied))[:_MOST_JOINED]
    if not likest or (clause.is_claim and likest[0].denied != clause.denied):
        return False
    return coverage(clause.terms, frozenset[str]().union(*(each.terms for each in likest))) >= _SAID


def _is_from(entry: Untrusted, terms: frozenset[str], tokens: frozenset[str]) -> bool:
    if tokens & entry.actionable:
        return True
    return len(terms) >= _FEWEST_NEW_WORDS and coverage(terms, entry.terms) >= _SAID


def _plain(sentence: str) -> str:
    return _SPACES.sub(" ", sentence).strip(" .!").casefold()
