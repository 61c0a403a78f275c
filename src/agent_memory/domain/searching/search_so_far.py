"""A search on its way, and what its score comes to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.searching.indexed_note import NearNote, NoteLink
from agent_memory.domain.searching.matching import MatchedWord, Matches, NoteFilter, TermPart
from agent_memory.domain.searching.nearness import Nearness
from agent_memory.domain.searching.query_hints import QueryHints
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.domain.searching.ranking import Asker, Ranked, Surroundings
from agent_memory.domain.searching.search_answer import ScorePart
from agent_memory.domain.searching.search_request import SearchRequest
from agent_memory.domain.tiers import Tier


@frozen
class SearchSoFar:
    """Each step adds what it finds. Numbers are the index's."""

    request: SearchRequest
    hints: QueryHints
    words: tuple[QueryWord, ...]
    among: NoteFilter
    asker: Asker
    notices: tuple[str, ...] = ()
    matches: Matches = field(factory=lambda: Matches({}, 0))
    ties: Surroundings = field(factory=Surroundings)
    nearness: Nearness = field(factory=Nearness)
    given: Mapping[int, Sequence[ScorePart]] = field(factory=dict[int, Sequence[ScorePart]])
    said: Mapping[int, Sequence[TermPart]] = field(factory=dict[int, Sequence[TermPart]])
    """What each word adds to the best entries."""
    links: tuple[NoteLink, ...] = ()
    named: tuple[int, ...] = ()
    """Entries whose id the query says, in its order."""
    listed: Mapping[int, Listed] = field(factory=dict[int, Listed])
    page: tuple[Ranked, ...] = ()
    """The best of them, in their order."""
    found: int = 0
    """Entries that have something of the query."""
    tiers: Mapping[str, Tier] = field(factory=dict[str, Tier])


def is_found(search: SearchSoFar, number: int, listed: Listed, least_cosine: float) -> bool:
    """Whether anything but a faint likeness in meaning speaks for an entry: what is least unlike the query is no answer."""
    by_more = any(part.name not in ("meaning", "session meaning") for part in search.given[number])
    is_asked_for = listed.meta.kind in search.hints.kinds or bool(search.hints.periods)
    return by_more or is_asked_for or search.nearness.cosines.get(number, 0.0) >= least_cosine


def scored(search: SearchSoFar) -> Iterator[tuple[Ranked, float]]:
    """The page with its scores, 0 to 1; without what scores less than was asked for. A score is what an entry has of the query
    by itself, so it says the same whatever else was found; the order looks at more."""
    for each in search.page:
        said, cosine = search.said.get(each.number, ()), search.nearness.cosines.get(each.number, 0.0)
        score = 1.0 if each.number in search.named else strength_of(search.words, search.matches.words, said, cosine)
        if score >= (search.request.min_score or 0.0):
            yield each, score


def with_near(scores: Mapping[int, float], near: Mapping[int, Sequence[NearNote]]) -> tuple[int, ...]:
    """The numbers of entries and of those around them, each once."""
    return tuple(dict.fromkeys((*scores, *(other.number for each in near.values() for other in each))))


def worth_in(search: SearchSoFar, said: Sequence[TermPart]) -> dict[str, float]:
    """What each term is worth in a passage of this entry: what it was found by, and whatever else the query says."""
    worth = {word.term: word.idf for word in search.matches.words}
    worth.update({part.found: worth.get(part.term, 1.0) for part in said})
    return worth or {word.term: 1.0 for word in search.words}


def strength_of(
    asked: Sequence[QueryWord], words: Sequence[MatchedWord], parts: Sequence[TermPart], cosine: float = 0.0
) -> float:
    """0 to 1: the root of the share of the query's words, by their worth, that the hit has; or how near in meaning it is, if
    that is more. A question in whole sentences names much that no entry says: hence the root. A word that no entry has is
    worth as much as the rarest; `Q2` is one word, whatever it is looked up by besides."""
    several = any(len(word.term) > 1 for word in words)
    worth = {word.term: word.idf for word in words if (word.df or word.others) and (len(word.term) > 1 or not several)}
    nowhere = sum(word.stretches and word.term not in worth for word in asked)
    whole = sum(worth.values()) + nowhere * max(worth.values(), default=0.0)
    most = sum(worth.get(part.term, 0.0) for part in parts)
    said = math.sqrt(min(most / whole, 1.0)) if whole > 0 else 0.0
    return max(said, min(max(cosine, 0.0), 1.0))
