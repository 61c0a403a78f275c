"""Scores of notes, from the postings of a query's words: exact BM25F, every posting looked at once."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import chain, islice

from agent_memory.adapters.index.group_scoring import GroupScoring
from agent_memory.adapters.index.postings import parse_postings
from agent_memory.adapters.index.segments import Segment
from agent_memory.adapters.index.term_postings import TermHits, TermPostings
from agent_memory.domain.searching import bm25f
from agent_memory.domain.searching.matching import FIELDS, MatchedWord, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.domain.searching.spelling import slips_allowed, slips_of
from agent_memory.values import define, field, frozen

_MOST_BEGUN = 512
"""Of terms that begin with a word so many are looked at in each segment; one that begins more is a word of few letters."""
_MOST_ALIKE = 20_000
"""So many terms of each segment are compared with a word that nobody wrote."""
_LEAST, _AFTER_ALL = "\0", "\U0010ffff"
_FEW = 16
"""Looking for one ordinal takes as long as reading so many."""

_Place = tuple[int, int]
"""The position of a segment, and an ordinal in it."""


@frozen
class WordPlan:
    """One word that is looked for, and what stands for it."""

    word: QueryWord
    hits: TermHits
    idf: float
    others: tuple[tuple[str, float, TermHits], ...] = ()
    """Term, what it is worth, and its postings."""

    @property
    def matched(self) -> MatchedWord:
        return MatchedWord(self.word.term, self.hits.df, self.idf, tuple(term for term, _, _ in self.others))


@frozen
class WordScores:
    """What one word adds to the scores of notes, by segment and ordinal."""

    by_segment: Sequence[dict[int, float]]
    found: Sequence[Mapping[int, str]]
    """Of notes that only have another term, which."""


@define
class TermMatching:
    """One question to the postings, within one transaction."""

    postings: TermPostings
    weights: TermWeights
    note_total: int
    scoring: GroupScoring
    _scored: dict[QueryWord, WordScores] = field(factory=dict[QueryWord, "WordScores"])
    _planned: tuple[tuple[QueryWord, ...], list[WordPlan]] | None = None

    @classmethod
    def of(cls, postings: TermPostings, weights: TermWeights) -> TermMatching:
        """What every question begins with: how many notes there are, and how long."""
        live = postings.live
        sums = [
            sum(
                segment.length_sums[at] - sum(segment.lengths[at][o] for o in out)
                for segment, out in zip(live.segments, live.gone, strict=True)
            )
            for at in range(len(FIELDS))
        ]
        notes = live.count
        return cls(postings, weights, notes, GroupScoring(bm25f.norms_of(weights, notes, sums), weights.k1))

    @property
    def segments(self) -> Sequence[Segment]:
        """In the order of their numbers."""
        return self.postings.live.segments

    def plan(self, words: Sequence[QueryWord]) -> list[WordPlan]:
        """The words that are looked for: those that some note has, or that others stand for; of many the rarest."""
        asked = tuple(words)
        if self._planned is None or self._planned[0] != asked:
            self.postings.forget()
            self._scored = {}
            self._planned = asked, self._plan(asked)
        return self._planned[1]

    def _plan(self, words: Sequence[QueryWord]) -> list[WordPlan]:
        hits = self.postings.hits
        self.postings.load([word.term for word in words])
        others = {word: self._others(word.term) for word in bm25f.stretched(words)}
        counted = [(word, hits(word.term).df) for word in words if hits(word.term).df or others.get(word)]
        return [
            WordPlan(
                word,
                hits(word.term),
                bm25f.idf(hits(word.term).df, self.note_total),
                tuple((term, factor, hits(term)) for term, factor in others.get(word, ())),
            )
            for word in bm25f.rarest(counted)
        ]

    def totals(self, plans: Sequence[WordPlan]) -> list[dict[int, float]]:
        """The score of each note that has any of the words, by segment and ordinal."""
        totals: list[dict[int, float]] = [{} for _ in self.segments]
        for plan in plans:
            for at, scores in enumerate(self.scores(plan).by_segment):
                _add(totals[at], scores)
        return totals

    def parts(self, plans: Sequence[WordPlan], numbers: Sequence[int]) -> dict[int, list[TermPart]]:
        """What each word adds to the scores of these notes, in the order of the words."""
        parts: dict[int, list[TermPart]] = {number: [] for number in numbers}
        places = {number: place for number in numbers if (place := self.postings.live.place_of(number)) is not None}
        for plan in plans:
            scores = self.scores(plan)
            by_term: dict[str, list[int]] = {}
            for number, (at, ordinal) in places.items():
                if ordinal in scores.by_segment[at]:
                    by_term.setdefault(scores.found[at].get(ordinal, plan.word.term), []).append(number)
            for term, some in by_term.items():
                for number, counts in self.counts(term, {number: places[number] for number in some}).items():
                    at, ordinal = places[number]
                    parts[number].append(TermPart(plan.word.term, term, scores.by_segment[at][ordinal], counts))
        return parts

    def scores(self, plan: WordPlan) -> WordScores:
        """What the word adds to the scores of notes."""
        known = self._scored.get(plan.word)
        if known is None:
            known = self._scored[plan.word] = self._scores(plan)
        return known

    def _scores(self, plan: WordPlan) -> WordScores:
        worth = plan.idf * plan.word.weight
        scores = [self._earned(at, plan.hits, worth) for at in range(len(self.segments))]
        found: list[dict[int, str]] = [{} for _ in self.segments]
        if not plan.others:
            return WordScores(scores, found)
        least = bm25f.least_of(chain.from_iterable(each.values() for each in scores))
        best: list[dict[int, float]] = [{} for _ in self.segments]
        for term, factor, hits in plan.others:
            most = factor * min(bm25f.idf(hits.df, self.note_total) * plan.word.weight, least)
            for at in hits.by_segment:
                known = best[at]
                for ordinal, score in self._earned(at, hits, most).items():
                    if ordinal not in scores[at] and score > known.get(ordinal, 0.0):
                        known[ordinal], found[at][ordinal] = score, term
        for at, known in enumerate(best):
            scores[at].update(known)
        return WordScores(scores, found)

    def _earned(self, at: int, hits: TermHits, worth: float) -> dict[int, float]:
        """What a term adds to the scores of a segment's notes, where it is worth so much; by ordinal."""
        blob = hits.by_segment.get(at)
        if blob is None:
            return {}
        segment, earned = self.segments[at], dict[int, float]()
        for group in parse_postings(blob, segment.width):
            earned.update(zip(group.ordinals, self.scoring.of(group, segment.lengths, worth), strict=True))
        for ordinal in self.postings.live.gone[at] & earned.keys():
            del earned[ordinal]
        return earned

    def counts(self, term: str, places: Mapping[int, _Place]) -> dict[int, tuple[int, int, int, int]]:
        """How often those of these notes that have the term have it, in each field."""
        found: dict[int, tuple[int, int, int, int]] = {}
        for at, blob in self.postings.hits(term).by_segment.items():
            wanted = {ordinal: number for number, (place, ordinal) in places.items() if place == at}
            for counts, ordinals in parse_postings(blob, self.segments[at].width) if wanted else ():
                for ordinal in _those_in(ordinals, wanted):
                    one, two, three, four = counts
                    found[wanted[ordinal]] = one, two, three, four
        return found

    def _others(self, term: str) -> tuple[tuple[str, float], ...]:
        begun = self._begun_with(term) if self.weights.prefix > 0 else []
        near = self._slips(term) if self.weights.typo > 0 and not self.postings.hits(term).df else ()
        self.postings.load([*begun, *near])
        longer = [(each, self.postings.hits(each).df) for each in begun if self.postings.hits(each).df]
        return bm25f.others(longer, [each for each in near if self.postings.hits(each).df], self.weights)

    def _begun_with(self, term: str) -> list[str]:
        df: dict[str, int] = {}
        for segment in self.segments:
            left = _MOST_BEGUN
            for terms, dfs in self.postings.vocabularies.between(segment.id, term + _LEAST, term + _AFTER_ALL):
                for each, count in zip(terms[:left], dfs, strict=False):
                    df[each] = df.get(each, 0) + count
                left -= len(terms)
                if left <= 0:
                    break
        # Some may have dead notes only: a few more than are needed.
        return sorted(df, key=lambda each: (-df[each], each))[: 4 * bm25f.MAX_OTHERS]

    def _slips(self, term: str) -> tuple[str, ...]:
        most = slips_allowed(term)
        if not most:
            return ()
        shortest, longest = len(term) - 3, len(term) + most
        alike: set[str] = set()
        for segment in self.segments:
            some = self.postings.vocabularies.between(segment.id, term[0], term[0] + _AFTER_ALL)
            every = chain.from_iterable(terms for terms, _ in some)
            alike.update(islice((each for each in every if shortest <= len(each) <= longest), _MOST_ALIKE))
        return slips_of(term, alike)[: 4 * bm25f.MAX_OTHERS]


def _add(totals: dict[int, float], scores: Mapping[int, float]) -> None:
    """Few notes have two words of a query, and only of these a sum is made."""
    both = [(ordinal, totals[ordinal] + scores[ordinal]) for ordinal in totals.keys() & scores.keys()]
    totals.update(scores)
    totals.update(both)


def _those_in(ordinals: array[int], wanted: Mapping[int, object]) -> list[int]:
    """Those of the wanted ordinals that are among these ascending ones."""
    if len(ordinals) < _FEW * len(wanted):
        return [ordinal for ordinal in ordinals if ordinal in wanted]
    places = ((bisect_left(ordinals, ordinal), ordinal) for ordinal in wanted)
    return [ordinal for place, ordinal in places if place < len(ordinals) and ordinals[place] == ordinal]


def best_of(segments: Sequence[Segment], totals: Sequence[Mapping[int, float]], limit: int) -> dict[int, float]:
    """The best notes by their numbers, in order; of equals the newer first."""
    bar = -math.inf
    if limit < sum(map(len, totals)):
        # Sorting the bare figures first is many times faster than sorting pairs.
        every = chain.from_iterable(scores.values() for scores in totals)
        bar = sorted(every, reverse=True)[limit - 1] if limit > 0 else math.inf
    items = [
        (segment.numbers[ordinal], score)
        for segment, scores in zip(segments, totals, strict=True)
        for ordinal, score in scores.items()
        if score >= bar
    ]
    items.sort(key=lambda item: (-item[1], -item[0]))
    return dict(items[: max(limit, 0)])
