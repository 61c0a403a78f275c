"""The service behind `memory search`; its requests and answers are in `hits`. Unlike `reading`, it counts no
read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from agent_memory.errors import EntryNotFound, Error
from agent_memory.note.note import Listed, Relation, Tier, TierList, tiers_of
from agent_memory.note.terms import QueryWord, query_words, weighed_words
from agent_memory.recall.hits import (
    Matches,
    Mode,
    Nearness,
    NoteLink,
    ScorePart,
    SearchAnswer,
    SearchHit,
    SearchRequest,
)
from agent_memory.recall.note_index import NoteIndex
from agent_memory.recall.ranking import (
    MEANING,
    NEIGHBOURS,
    Period,
    Ranked,
    from_links,
    from_neighbours,
    ids_in,
    in_order,
    periods_in,
    strength_of,
    weigh,
    with_successors,
    with_words,
)
from agent_memory.results import as_result, unwrap, warning_of
from agent_memory.store.store_files import SHARED_SCOPE, NotesHere

if TYPE_CHECKING:
    from agent_memory.caller import Caller
    from agent_memory.ports import Clock, Notes
    from agent_memory.recall.embedding import IndexedMeanings

_LEAST_COSINE = 0.3
"""The least cosine of a note that is found by its meaning alone. Of the right notes in three data sets
(`bench.retrieval`) none was farther; of those nearest to ten questions about anything but code, nearly all were."""
_WEIGHED = 50
"""How many notes have their frontmatter looked at."""

_BY_MEANING_ALONE = (
    "No note has these words, and the model knows English: for notes in another language, use words of that language."
)
"""Measured on 12 Portuguese notes: a question in English brought 4 of them first, their own words 12."""


@frozen
class _Found:
    """An answer before its notes are read. Numbers are those of the index."""

    periods: tuple[Period, ...]
    """The times that it names."""
    words: tuple[QueryWord, ...]
    matches: Matches
    nearness: Nearness
    listed: Mapping[int, Listed]
    """The notes that were found, those that the query names, and those that supersede any of them, whether or not they may be shown."""
    named: tuple[int, ...]
    """Notes whose id is in the query, in its order."""
    page: tuple[Ranked, ...] = ()
    count: int = 0
    """How many notes match the query at all."""


@frozen
class Searching:
    store: Notes
    index: NoteIndex
    meanings: IndexedMeanings | str
    """A sentence instead says why there are none; it is shown if the search asked for meaning alone."""
    clock: Clock
    caller: Caller

    @as_result
    def search(self, request: SearchRequest) -> SearchAnswer:
        """Returns the best notes, and how they were found. Any text is a query; one without a word finds nothing.

        A note whose id or alias the query names comes first. No secret note is found (P20), and a withheld one by no
        agent.
        """
        request = evolve(request, withheld=not self.caller.is_agent)
        notices = unwrap(self.index.refresh())
        renewals = self.index.renewals
        found = self._ranked(request)
        if self.index.renewals != renewals:
            # The index was rebuilt meanwhile: the numbers found mean nothing now.
            notices = unwrap(self.index.refresh())
            found = self._ranked(request)
        tiers = self.store.tiers()
        unread: list[str] = []
        hits = tuple(self._hits(request, found, tiers.value_or(TierList()), unread))
        of_nearness = (each for each in found.nearness.notices if hits or each != _BY_MEANING_ALONE)
        notices = (*notices, *of_nearness, *warning_of(tiers), *dict.fromkeys(unread))
        mode = Mode.BM25 if isinstance(self.meanings, str) else request.mode
        return SearchAnswer(hits, mode, notices, found.count)

    # -- from the query to a page -------------------------------------------------------------------------------------

    def _ranked(self, request: SearchRequest) -> _Found:
        index, now_ms = self.index, self.clock.now_ms()
        ids, words = ids_in(request.query), query_words(request.query)
        periods = periods_in(request.query, now_ms)
        # So many notes with words of the query are scored; more if more hits are wanted.
        matches = unwrap(index.match(words, max(1_000, 2 * request.limit), request))
        nearness = self._nearness(request, matches)
        if not isinstance(self.meanings, str) and request.mode is Mode.SEMANTIC:
            matches = evolve(matches, scores={}, matched=0)
        given = self._given(request, matches, nearness)

        named_ids = unwrap(index.numbers_of(ids))
        named = tuple(dict.fromkeys(named_ids[id] for id in ids if id in named_ids))
        links = unwrap(index.links((*given, *named)))
        successors = (link.source for link in links if link.relation is Relation.SUPERSEDES)
        listed = unwrap(index.notes(tuple(dict.fromkeys((*given, *named, *successors)))))

        found = _Found(periods, words, matches, nearness, listed, named)
        page, count = self._page(request, found, given, links, now_ms)
        return evolve(found, page=page, count=max(matches.matched, count))

    def _nearness(self, request: SearchRequest, matches: Matches) -> Nearness:
        if request.mode is Mode.BM25:
            return Nearness()
        if isinstance(self.meanings, str):
            # Hybrid is the default, and says itself that words answered; if meaning alone was asked for, the answer says why not.
            return Nearness(notices=(self.meanings,) if request.mode is Mode.SEMANTIC and self.meanings else ())
        worth = {word.term: word.idf for word in matches.words}
        found = unwrap(self.meanings.nearness(weighed_words(request.query, worth)))
        alone = (_BY_MEANING_ALONE,) if found.cosines and not matches.matched else ()
        return evolve(found, notices=(*found.notices, *alone))

    def _given(self, request: SearchRequest, matches: Matches, nearness: Nearness) -> dict[int, list[ScorePart]]:
        """Returns what words, meaning and neighbours give to each of the notes that gain most, best first. What the
        frontmatter adds is too little to bring up another one. The best score by words becomes 1."""
        best_by_words = max(matches.scores.values(), default=0.0) or 1.0
        words = {number: score / best_by_words for number, score in matches.scores.items()}
        meaning = {number: MEANING * each for number, each in nearness.deviations.items()}
        # Of the nearest notes, those that may be shown, without those at a right angle or farther; newest first among equals.
        likely = [number for number, cosine in nearness.cosines.items() if cosine > 0]
        nearest = list(unwrap(self.index.among(request, likely))) if likely else []
        nearest.sort(key=lambda number: (nearness.deviations[number], number), reverse=True)
        nearest = nearest[: max(100, request.limit)]  # these are considered for their meaning alone
        own = {number: words.get(number, 0.0) + meaning.get(number, 0.0) for number in (*words, *nearest)}
        lending = [each for each in own if each in words or nearness.cosines.get(each, 0.0) >= _LEAST_COSINE]
        # The best lend a share of their score to the notes around them.
        lending = sorted(lending, key=lambda each: (-own[each], each))[:100]
        lent = {number: own[number] for number in lending}
        beside = from_neighbours(lent, unwrap(self.index.neighbours(lending, len(NEIGHBOURS))))
        linked = from_links(lent, unwrap(self.index.links(lending)))

        reasons = (("words", words), ("meaning", meaning), ("near", beside), ("links", linked))
        totals = {
            number: sum(values.get(number, 0.0) for _, values in reasons)
            for number in dict.fromkeys((*own, *beside, *linked))
        }
        best = sorted(totals, key=lambda each: (-totals[each], each))[: max(_WEIGHED, 2 * request.limit)]

        def part(name: str, value: float, number: int) -> ScorePart:
            told = f"{nearness.deviations[number]:+.1f} standard deviations" if name == "meaning" else ""
            return ScorePart(name, value, told)

        return {
            number: [part(name, values[number], number) for name, values in reasons if number in values]
            for number in best
        }

    def _page(
        self,
        request: SearchRequest,
        found: _Found,
        given: Mapping[int, Sequence[ScorePart]],
        links: Sequence[NoteLink],
        now_ms: int,
    ) -> tuple[tuple[Ranked, ...], int]:
        """Returns the best notes, those that the query names first, and how many there are in all."""
        shown = {number: each for number, each in found.listed.items() if request.lets_through(each)}

        def is_found(number: int) -> bool:
            """Returns whether more than a faint likeness in meaning speaks for the note: the least unlike note is no
            answer."""
            by_more = any(part.name != "meaning" for part in given[number])
            return by_more or bool(found.periods) or found.nearness.cosines.get(number, 0.0) >= _LEAST_COSINE

        parts = {number: each for number, each in given.items() if number in shown and is_found(number)}
        ranked = weigh(parts, shown, found.periods, now_ms, request.here)
        ranked = with_successors(ranked, links, shown)
        named = (ranked.get(each) or Ranked(each, shown[each], 0.0, ()) for each in found.named if each in shown)
        first = [evolve(each, parts=(ScorePart("id", 1.0), *each.parts)) for each in named]
        others = [each for each in in_order(ranked.values()) if each.number not in found.named]
        others_shown = others[: max(request.limit - len(first), 0)]
        others_shown.sort(key=lambda each: each.listed.archived)  # live ones first
        return (*first[: request.limit], *others_shown), len(first) + len(others)

    # -- from a page to an answer -------------------------------------------------------------------------------------

    def _hits(
        self, request: SearchRequest, found: _Found, tier_list: TierList, unread: list[str]
    ) -> Iterator[SearchHit]:
        """Yields each note of the page, as it is now. Adds a sentence to `unread` for each that could not be read."""
        tiers = tiers_of(tier_list, [each for each in found.listed.values() if not each.archived])
        known_worth = {word.term: word.idf for word in found.matches.words}
        for ranked in found.page:
            cosine = found.nearness.cosines.get(ranked.number, 0.0)
            said = found.matches.parts(ranked.number)
            is_named = ranked.number in found.named
            score = 1.0 if is_named else strength_of(found.words, found.matches.words, said, cosine)
            if score < (request.min_score or 0.0):
                continue
            try:
                stored = unwrap(self.store.read_again(ranked.listed))
            except EntryNotFound:
                continue
            except Error as error:
                unread.append(str(error))
                continue
            if stored.meta.is_secret or not request.lets_through(stored.listed):
                continue  # it has become a different note meanwhile
            worth = {**known_worth, **{part.found: known_worth.get(part.term, 1.0) for part in said}}
            successor = None if ranked.successor is None else found.listed.get(ranked.successor)
            yield SearchHit(
                stored,
                score,
                worth or {word.term: 1.0 for word in found.words},
                tiers.get(stored.meta.id, Tier.COLD),
                with_words(ranked.parts, said),
                None if successor is None else successor.meta.id,
            )


@as_result
def search_here(searching: Searching, here: NotesHere, request: SearchRequest) -> SearchAnswer:
    """Returns the best notes of a store and of the team in a checkout; the hits of each are in their own order."""
    own, team, added = unwrap(searching.search(request)), here.team, here.added
    if not added or team.files is None or request.scope not in (None, team.scope):
        return own
    if request.scopes is not None and team.scope not in request.scopes:
        return own
    index = NoteIndex(team.files)
    # In the files and their index all have one scope, which is the checkout's.
    theirs = unwrap(
        evolve(searching, index=index, meanings="").search(evolve(request, scope=None, scopes=None, here=SHARED_SCOPE))
    )
    both = merge(own.hits, (hit for hit in theirs.hits if hit.listed.meta.id in added), key=lambda hit: -hit.score)
    notices = dict.fromkeys((*own.notices, *theirs.notices))
    return SearchAnswer((*islice(both, request.limit),), own.mode, (*notices,), own.matched + theirs.matched)
