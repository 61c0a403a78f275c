"""Finding entries: what `search` does. Beside `reading`: it looks at entries, and counts no read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, StoredEntry, Usage
from agent_memory.domain.results import sealed
from agent_memory.domain.searching.indexed_note import NearNote, NoteLink, Relation
from agent_memory.domain.searching.matching import Matches, NoteFilter, TermPart
from agent_memory.domain.searching.nearness import Nearness
from agent_memory.domain.searching.note_filter import lets_through
from agent_memory.domain.searching.query_hints import QueryHints, hints_of
from agent_memory.domain.searching.query_meaning import weighed_words
from agent_memory.domain.searching.query_words import QueryWord, query_words
from agent_memory.domain.searching.ranking import (
    Asker,
    Found,
    Ranked,
    Surroundings,
    in_order,
    live_first,
    most_given,
    spread,
    weigh,
    with_successors,
)
from agent_memory.domain.searching.ranking_weights import WEIGHTS, RankingWeights
from agent_memory.domain.searching.search_answer import ScorePart, SearchAnswer, SearchHit, Snippet, with_words
from agent_memory.domain.searching.search_request import Mode, SearchRequest, filter_of, problem_of
from agent_memory.domain.searching.snippet import snippet_of
from agent_memory.domain.searching.strength import strength_of
from agent_memory.domain.tiering.standing import standing_tiers
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryNotFound, Error, UsageInvalid
from agent_memory.values import evolve, field, frozen
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.domain.note_draft import Caller
    from agent_memory.ports import Clock, Index, Meanings, Store, UsageLedger

PATIENCE_SECONDS = 1.0
"""How long a search waits for the index to take in what has changed."""
_CANDIDATES = 1_000
"""Entries with words of the query whose scores are looked at; more where more hits are wanted."""
_TYING = 200
"""Of these, the best so many give a share of their score to entries around them."""
_NEAREST = 100
"""Entries that are looked at for their meaning alone."""
_WEIGHED = 100
"""Entries whose frontmatter is looked at."""


@frozen
class _Search:
    """A search on its way: each step adds what it finds. Numbers are the index's."""

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
    found: int = 0
    """Entries that have something of the query."""
    tiers: Mapping[str, Tier] = field(factory=dict[str, Tier])


@frozen
class Searching:
    """Finds entries of a store on behalf of a caller."""

    store: Store
    index: Index
    meanings: Meanings | None
    ledger: UsageLedger
    clock: Clock
    caller: Caller
    without_meanings: str = ""
    """Why there are none, a sentence; told where nothing but meaning was asked for."""
    weights: RankingWeights = WEIGHTS

    def search(self, request: SearchRequest) -> Result[SearchAnswer, Error]:
        """The best entries, and how they were found. Any text is a query; one without a word finds nothing.

        An entry whose id or alias the query names comes first. What is secret is found by its id alone and by a person
        alone, who is shown that it is there and nothing of its text (P20). UsageInvalid for a limit that is not from 1 to
        `MAX_HITS`, and for a least score that is not from 0 to 1.
        """
        if problem := problem_of(request):
            return Failure(UsageInvalid(problem))
        now_ms = self.clock.now_ms()
        begun = _Search(
            request,
            hints_of(request.query, now_ms),
            query_words(request.query),
            filter_of(request),
            Asker(now_ms, request.here),
        )
        return (
            self._refreshed(begun)
            .bind(self._matched)
            .bind(self._tied)
            .bind(self._meant)
            .map(self._spread)
            .bind(self._known)
            .map(self._ordered)
            .bind(self._answered)
        )

    def _refreshed(self, search: _Search) -> Result[_Search, Error]:
        return self.index.refresh(PATIENCE_SECONDS).map(lambda fresh: evolve(search, notices=fresh.notices))

    def _matched(self, search: _Search) -> Result[_Search, Error]:
        wanted = max(_CANDIDATES, 2 * search.request.limit)
        found = self.index.match(search.words, self.weights.terms, wanted, search.among)
        if self._mode(search.request) is Mode.SEMANTIC:  # what each word is worth counts there too
            return found.map(lambda matches: evolve(search, matches=Matches({}, 0, matches.words)))
        return found.map(lambda matches: evolve(search, matches=matches))

    def _tied(self, search: _Search) -> Result[_Search, Error]:
        """With what is around the best entries, and what each word adds to these."""
        best = tuple(search.matches.scores)[:_TYING]
        if not best:
            return Success(search)
        return self.index.near(best, len(self.weights.near)).bind(
            lambda near: self.index.places(_with_near(search.matches.scores, near)).bind(
                lambda places: self.index.links(best).bind(
                    lambda links: self.index.explain(search.words, self.weights.terms, best).map(
                        lambda said: evolve(search, said=said, ties=Surroundings(near, places, links))
                    )
                )
            )
        )

    def _meant(self, search: _Search) -> Result[_Search, Error]:
        """With how near in meaning all these are, and the nearest of the others."""
        if search.request.mode is Mode.BM25:
            return Success(search)
        if self.meanings is None:
            # Hybrid is the rule, and says itself that words answered; who asks for meaning alone is told why not.
            told = (self.without_meanings,) if search.request.mode is Mode.SEMANTIC and self.without_meanings else ()
            return Success(evolve(search, notices=(*search.notices, *told)))
        known = _with_near(search.matches.scores, search.ties.near)
        words = weighed_words(search.request.query, {each.term: each.idf for each in search.matches.words})
        found = self.meanings.near(words, max(_NEAREST, search.request.limit), known, search.among)
        return found.map(lambda near: evolve(search, nearness=near, notices=(*search.notices, *near.notices)))

    def _spread(self, search: _Search) -> _Search:
        """With what words, meaning and surroundings give to each entry; of these the best."""
        matches = search.matches
        worth = {word.term: word.idf for word in matches.words}
        found = Found(matches.scores, search.nearness.deviations, search.said, worth)
        given = spread(found, search.ties, self.weights)
        return evolve(search, given=most_given(given, max(_WEIGHED, 2 * search.request.limit)))

    def _known(self, search: _Search) -> Result[_Search, Error]:
        """With the frontmatter of what was found, of what the query names, and of what supersedes any of it."""

        def noted(links: tuple[NoteLink, ...], named: Mapping[str, int]) -> Result[_Search, Error]:
            successors = (link.source for link in links if link.relation is Relation.SUPERSEDES)
            numbers = dict.fromkeys((*search.given, *named.values(), *successors))
            return self.index.notes(tuple(numbers)).map(
                lambda notes: evolve(
                    search,
                    links=links,
                    named=tuple(dict.fromkeys(named[id] for id in search.hints.ids if id in named)),
                    listed={number: note.listed for number, note in notes.items()},
                )
            )

        return self.index.numbers_of(search.hints.ids).bind(
            lambda named: self.index.links((*search.given, *named.values())).bind(lambda links: noted(links, named))
        )

    def _ordered(self, search: _Search) -> _Search:
        may_be_shown = {number: each for number, each in search.listed.items() if lets_through(search.among, each)}
        tiers, notices = self._tiers([each for each in may_be_shown.values() if not each.archived])
        given = {number: parts for number, parts in search.given.items() if number in may_be_shown}
        weighed = weigh(given, may_be_shown, search.hints, search.asker, tiers, self._usage(), self.weights)
        ranked = with_successors(weighed, search.links, may_be_shown, self.weights)
        named = [
            evolve(each, parts=(ScorePart("id", 1.0), *each.parts))
            for number in search.named
            if number in may_be_shown
            for each in (ranked.get(number) or Ranked(number, may_be_shown[number], 0.0, ()),)
        ]
        others = [each for each in in_order(ranked.values()) if each.number not in search.named]
        room = max(search.request.limit - len(named), 0)
        page = (*named[: search.request.limit], *live_first(others[:room]))
        found = max(search.matches.matched, len(named) + len(others))
        return evolve(search, page=page, found=found, tiers=tiers, notices=(*search.notices, *notices))

    def _answered(self, search: _Search) -> Result[SearchAnswer, Error]:
        unsaid = tuple(each.number for each in search.page if each.number not in search.said)
        if not unsaid or not search.matches.scores:
            return Success(self._answer(search, search.said))
        explained = self.index.explain(search.words, self.weights.terms, unsaid)
        return explained.map(lambda said: self._answer(search, {**search.said, **said}))

    def _answer(self, search: _Search, said: Mapping[int, Sequence[TermPart]]) -> SearchAnswer:
        request = search.request
        cosine = max((search.nearness.cosines.get(each.number, 0.0) for each in search.page), default=0.0)
        strength = strength_of(search.matches.words, [said.get(each.number, ()) for each in search.page], cosine)
        best = max((each.total for each in search.page), default=0.0)
        hits, unread = list(self._secret_hits(search)), list[str]()
        last = 1.0
        for each in search.page:
            share = 1.0 if each.number in search.named else strength * each.total / best
            last = min(last, max(share, 0.0))
            if request.min_score is not None and last < request.min_score:
                continue
            match sealed(self.store.read_again(each.listed)):
                case Success(stored) if lets_through(search.among, stored.listed):
                    hits.append(self._hit(search, each, stored, last, said.get(each.number, ())))
                case Success(_) | Failure(EntryNotFound()):  # it is no more, or now one that must not be shown
                    continue
                case Failure(error):
                    unread.append(describe(error))
        return SearchAnswer(
            tuple(hits[: request.limit]),
            self._mode(request),
            (*search.notices, *dict.fromkeys(unread)),
            max(search.found, len(hits)),
        )

    def _hit(
        self, search: _Search, ranked: Ranked, stored: StoredEntry, score: float, said: Sequence[TermPart]
    ) -> SearchHit:
        successor = None if ranked.successor is None else search.listed.get(ranked.successor)
        shown = successor is not None and successor.meta.sensitivity is not Sensitivity.SECRET
        return SearchHit(
            stored.listed,
            score,
            snippet_of((stored.meta.description, stored.body), _worth(search, said)),
            search.tiers.get(stored.meta.id, Tier.COLD),
            with_words(ranked.parts, said),
            successor.meta.id if successor is not None and shown else None,
        )

    def _secret_hits(self, search: _Search) -> Iterator[SearchHit]:
        """Secret entries that a person names by id: that they are there, and nothing of their text."""
        if self.caller.is_agent:
            return
        open_to_secret = evolve(search.among, sensitivities=frozenset({Sensitivity.SECRET}))
        known = {each.meta.id for each in search.listed.values()}
        for id in search.hints.ids:
            stored = None if id in known else self.store.read(id).value_or(None)
            if stored is not None and lets_through(open_to_secret, stored.listed):
                yield SearchHit(stored.listed, 1.0, Snippet(""), Tier.COLD, (ScorePart("id", 1.0),))

    def _mode(self, request: SearchRequest) -> Mode:
        return Mode.BM25 if self.meanings is None else request.mode

    def _tiers(self, live: Sequence[Listed]) -> tuple[Mapping[str, Tier], tuple[str, ...]]:
        known, notices = TierList(), tuple[str, ...]()
        match sealed(self.store.tiers()):
            case Success(tiers):
                known = tiers
            case Failure(error):
                notices = (describe(error),)
        standing = standing_tiers(known, [each.meta for each in live])
        return {**dict.fromkeys(standing.warm, Tier.WARM), **dict.fromkeys(standing.hot, Tier.HOT)}, notices

    def _usage(self) -> Mapping[str, Usage]:
        """Reads by the ledgers: what breaks ties is not worth an error."""
        return self.ledger.totals().value_or(dict[str, Usage]())


def _with_near(scores: Mapping[int, float], near: Mapping[int, Sequence[NearNote]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*scores, *(other.number for each in near.values() for other in each))))


def _worth(search: _Search, said: Sequence[TermPart]) -> dict[str, float]:
    """What each term is worth in a passage of this entry: what it was found by, and whatever else the query says."""
    worth = {word.term: word.idf for word in search.matches.words}
    worth.update({part.found: worth.get(part.term, 1.0) for part in said})
    return worth or {word.term: 1.0 for word in search.words}
