"""Finding entries: what `search` does. Beside `reading`: it looks at entries, and counts no read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from attrs import evolve, frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.entry import Listed, Usage
from agent_memory.domain.searching.indexed_note import NoteLink, Relation
from agent_memory.domain.searching.matching import Matches
from agent_memory.domain.searching.note_filter import lets_through
from agent_memory.domain.searching.query_hints import hints_of
from agent_memory.domain.searching.query_meaning import weighed_words
from agent_memory.domain.searching.query_words import query_words
from agent_memory.domain.searching.ranking import (
    Asker,
    Found,
    Ranked,
    Surroundings,
    in_order,
    live_first,
    spread,
    weigh,
    with_successors,
)
from agent_memory.domain.searching.ranking_weights import WEIGHTS, RankingWeights
from agent_memory.domain.searching.search_answer import (
    FoundEntries,
    FoundEntry,
    ScorePart,
    SearchAnswer,
    SearchHit,
    Snippet,
    with_words,
)
from agent_memory.domain.searching.search_request import Mode, SearchRequest, filter_of, problem_of
from agent_memory.domain.searching.search_so_far import SearchSoFar, is_found, scored, with_near, worth_in
from agent_memory.domain.tiering.standing import standing_tiers
from agent_memory.domain.tiers import Tier, TierList
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import EntryNotFound, Error, UsageInvalid
from agent_memory.results import sealed
from agent_memory.wording import describe

if TYPE_CHECKING:
    from agent_memory.domain.note_draft import Caller
    from agent_memory.ports import Clock, Index, Meanings, Store, UsageLedger

Value = TypeVar("Value")
Answer = TypeVar("Answer", SearchAnswer, FoundEntries)

PATIENCE_SECONDS = 1.0
"""How long a search waits for the index to take in what has changed."""
_CANDIDATES = 1_000
"""Entries with words of the query whose scores are looked at; more where more hits are wanted."""
_TYING = 100
"""Of these, the best so many give a share of their score to entries around them."""
_NEAREST = 100
"""Entries that are looked at for their meaning alone."""
_LEAST_COSINE = 0.3
"""What is found by its meaning alone is at least so near. Of the right notes of three data sets (`bench.retrieval`) none was farther;
of those nearest to ten questions about anything else than code nearly all were."""
_WEIGHED = 50
"""Entries whose frontmatter is looked at."""


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
        return self._done(request, self._answer)

    def find(self, request: SearchRequest) -> Result[FoundEntries, Error]:
        """The best entries as `search` finds them, as they are now, for whoever shows them in a way of their own: without
        passages, and without what is secret."""

        return self._done(request, self._entries)

    def _done(self, request: SearchRequest, concluded: Callable[[SearchSoFar], Answer]) -> Result[Answer, Error]:
        if problem := problem_of(request):
            return Failure(UsageInvalid(problem))
        now_ms = self.clock.now_ms()
        begun = SearchSoFar(
            request,
            hints_of(request.query, now_ms),
            query_words(request.query),
            filter_of(request),
            Asker(now_ms, request.here),
        )
        return self._looked_for_in_line(begun).map(concluded)

    def _looked_for_in_line(self, begun: SearchSoFar) -> Result[SearchSoFar, Error]:
        """What is found in an index that is in line with the files; once more where it was made anew meanwhile, since what was
        found before bears numbers that mean nothing now."""

        def once() -> tuple[int, Result[SearchSoFar, Error]]:
            fresh = self.index.refresh(PATIENCE_SECONDS)
            renewals = self.index.renewals
            return renewals, fresh.bind(lambda fresh: self._looked_for(evolve(begun, notices=fresh.notices)))

        renewals, done = once()
        return done if self.index.renewals == renewals else once()[1]

    def _looked_for(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        return (
            self._matched(search)
            .bind(self._tied)
            .bind(self._meant)
            .map(self._spread)
            .bind(self._known)
            .map(self._ordered)
            .bind(self._explained)
        )

    def _matched(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        wanted = max(_CANDIDATES, 2 * search.request.limit)
        found = self.index.match(search.words, self.weights.terms, wanted, search.among)
        if self._mode(search.request) is Mode.SEMANTIC:  # what each word is worth counts there too
            return found.map(lambda matches: evolve(search, matches=Matches({}, 0, matches.words)))
        return found.map(lambda matches: evolve(search, matches=matches))

    def _tied(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        """With what is around the best entries, and what each word adds to these."""
        best = tuple(search.matches.scores)[:_TYING]
        if not best:
            return Success(search)
        return self.index.near(best, len(self.weights.near)).bind(
            lambda near: self.index.places(with_near(search.matches.scores, near)).bind(
                lambda places: self.index.links(best).bind(
                    lambda links: self.index.explain(search.words, self.weights.terms, best).map(
                        lambda said: evolve(search, said=said, ties=Surroundings(near, places, links))
                    )
                )
            )
        )

    def _meant(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        """With how near in meaning all these are, and the nearest of the others."""
        if search.request.mode is Mode.BM25:
            return Success(search)
        if self.meanings is None:
            # Hybrid is the rule, and says itself that words answered; who asks for meaning alone is told why not.
            told = (self.without_meanings,) if search.request.mode is Mode.SEMANTIC and self.without_meanings else ()
            return Success(evolve(search, notices=(*search.notices, *told)))
        known = with_near(search.matches.scores, search.ties.near)
        words = weighed_words(search.request.query, {each.term: each.idf for each in search.matches.words})
        found = self.meanings.near(words, max(_NEAREST, search.request.limit), known, search.among)
        return found.map(lambda near: evolve(search, nearness=near, notices=(*search.notices, *near.notices)))

    def _spread(self, search: SearchSoFar) -> SearchSoFar:
        """With what words, meaning and surroundings give to each entry; of these the best."""
        matches = search.matches
        worth = {word.term: word.idf for word in matches.words}
        found = Found(matches.scores, search.nearness.deviations, search.said, worth)
        most = max(_WEIGHED, 2 * search.request.limit)
        return evolve(search, given=spread(found, search.ties, self.weights, most))

    def _known(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        """With the frontmatter of what was found, of what the query names, and of what supersedes any of it."""

        def noted(links: tuple[NoteLink, ...], named: Mapping[str, int]) -> Result[SearchSoFar, Error]:
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

    def _ordered(self, search: SearchSoFar) -> SearchSoFar:
        may_be_shown = {number: each for number, each in search.listed.items() if lets_through(search.among, each)}
        tiers, notices = self._tiers([each for each in may_be_shown.values() if not each.archived])
        given = {
            number: parts
            for number, parts in search.given.items()
            if number in may_be_shown and is_found(search, number, may_be_shown[number], _LEAST_COSINE)
        }
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

    def _explained(self, search: SearchSoFar) -> Result[SearchSoFar, Error]:
        """With what each word adds to those entries of the page for which that is not known yet."""
        unsaid = tuple(each.number for each in search.page if each.number not in search.said)
        if not unsaid or not search.matches.scores:
            return Success(search)
        explained = self.index.explain(search.words, self.weights.terms, unsaid)
        return explained.map(lambda said: evolve(search, said={**search.said, **said}))

    def _entries(self, search: SearchSoFar) -> FoundEntries:
        entries, notices = self._each(search, lambda _ranked, found, score: evolve(found, score=score))
        return FoundEntries(tuple(entries), notices)

    def _answer(self, search: SearchSoFar) -> SearchAnswer:
        found, notices = self._each(search, partial(self._hit, search))
        hits = (*self._secret_hits(search), *found)
        return SearchAnswer(
            hits[: search.request.limit], self._mode(search.request), notices, max(search.found, len(hits))
        )

    def _each(
        self, search: SearchSoFar, show: Callable[[Ranked, FoundEntry, float], Value]
    ) -> tuple[list[Value], tuple[str, ...]]:
        """What `show` makes of each entry of the page, as it is now, and of its score: one at a time, since entries may be
        large. And all notices, with those of what could not be read."""
        shown, unread = list[Value](), list[str]()
        for each, score in scored(search):
            match sealed(self._read(search, each)):
                case Success(FoundEntry() as found):
                    shown.append(show(each, found, score))
                case Success(_):
                    continue
                case Failure(error):
                    unread.append(describe(error))
        return shown, (*search.notices, *dict.fromkeys(unread))

    def _read(self, search: SearchSoFar, ranked: Ranked) -> Result[FoundEntry | None, Error]:
        """The entry as it is now; None where it is no more, or is one now that must not be shown."""
        successor = None if ranked.successor is None else search.listed.get(ranked.successor)
        is_told = successor is not None and successor.meta.sensitivity is not Sensitivity.SECRET
        superseded_by = successor.meta.id if successor is not None and is_told else None
        match sealed(self.store.read_again(ranked.listed)):
            case Success(stored):
                is_open = lets_through(search.among, stored.listed)
                return Success(FoundEntry(stored, superseded_by) if is_open else None)
            case Failure(EntryNotFound()):
                return Success(None)
            case Failure(_) as unread:
                return unread

    def _hit(self, search: SearchSoFar, ranked: Ranked, found: FoundEntry, score: float) -> SearchHit:
        from agent_memory.domain.searching.snippet import snippet_of  # who only finds does without

        stored, said = found.stored, search.said.get(ranked.number, ())
        return SearchHit(
            stored.listed,
            score,
            snippet_of((stored.meta.description, stored.body), worth_in(search, said)),
            search.tiers.get(stored.meta.id, Tier.COLD),
            with_words(ranked.parts, said),
            found.superseded_by,
        )

    def _secret_hits(self, search: SearchSoFar) -> Iterator[SearchHit]:
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
