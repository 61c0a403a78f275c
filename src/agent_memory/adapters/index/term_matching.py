"""Scores of notes, from the postings of a query's words: exact BM25F, every posting looked at once."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from agent_memory.adapters.index.postings import FieldPostings, note_count, parse_postings
from agent_memory.adapters.index.segments import Segment, Segments, dead_numbers
from agent_memory.domain.searching import bm25f
from agent_memory.domain.searching.matching import FIELDS, MatchedWord, TermPart, TermWeights
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.domain.searching.spelling import slips_allowed, slips_of
from agent_memory.values import define, field, frozen

_MOST_BEGUN = 512
"""Of terms that begin with a word so many are looked at in each segment; one that begins more is a word of few letters."""
_MOST_ALIKE = 20_000
"""So many terms of each segment are compared with a word that nobody wrote."""
_AFTER_ALL = "\U0010ffff"


@frozen
class TermHits:
    """The postings of one term."""

    df: int
    """Live notes that have it."""
    by_segment: Mapping[int, bytes]
    """Blobs by the position of their segment."""


_NO_HITS = TermHits(0, {})


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

    @property
    def postings_bytes(self) -> int:
        """About how much work it is."""
        return sum(len(blob) for blob in self.hits.by_segment.values())


@define
class TermMatching:
    """One question to the postings, within one transaction."""

    connection: sqlite3.Connection
    segments: Sequence[Segment]
    weights: TermWeights
    gone: Sequence[frozenset[int]]
    """Ordinals of the dead, by segment."""
    note_total: int
    norms: Sequence[bm25f.Norm]
    _known: dict[str, TermHits] = field(factory=dict[str, TermHits])
    _scored: dict[QueryWord, tuple[dict[int, float], dict[int, str]]] = field(
        factory=dict[QueryWord, tuple[dict[int, float], dict[int, str]]]
    )
    _planned: tuple[tuple[QueryWord, ...], list[WordPlan]] | None = None

    @classmethod
    def of(cls, connection: sqlite3.Connection, segments: Segments, weights: TermWeights) -> TermMatching:
        """What every question begins with: how many notes there are, and how long."""
        loaded = segments.all(connection)
        dead = dead_numbers(connection)
        gone = [
            frozenset(at for number in dead if (at := segment.ordinal_of(number)) is not None) for segment in loaded
        ]
        notes = sum(len(segment.numbers) - len(out) for segment, out in zip(loaded, gone, strict=True))
        sums = [
            sum(
                segment.length_sums[at] - sum(segment.lengths[at][o] for o in out)
                for segment, out in zip(loaded, gone, strict=True)
            )
            for at in range(len(FIELDS))
        ]
        return cls(connection, loaded, weights, gone, notes, bm25f.norms_of(weights, notes, sums))

    def plan(self, words: Sequence[QueryWord]) -> list[WordPlan]:
        """The words that are looked for: those that some note has, or that others stand for; of many the rarest."""
        asked = tuple(words)
        if self._planned is None or self._planned[0] != asked:
            self._known, self._scored = {}, {}
            self._planned = asked, self._plan(asked)
        return self._planned[1]

    def _plan(self, words: Sequence[QueryWord]) -> list[WordPlan]:
        self._load([word.term for word in words])
        others = {word: self._others(word.term) for word in bm25f.stretched(words)}
        counted = [(word, self._hits(word.term).df) for word in words if self._hits(word.term).df or others.get(word)]
        return [
            WordPlan(
                word,
                self._hits(word.term),
                bm25f.idf(self._hits(word.term).df, self.note_total),
                tuple((term, factor, self._hits(term)) for term, factor in others.get(word, ())),
            )
            for word in bm25f.rarest(counted)
        ]

    def total(self, plans: Sequence[WordPlan]) -> dict[int, float]:
        """The score of each note that has any of the words."""
        total: dict[int, float] = {}
        for plan in plans:
            scores, _ = self.scores(plan)
            if not total:
                total = dict(scores)
            else:
                for number, score in scores.items():
                    total[number] = total.get(number, 0.0) + score
        return total

    def parts(self, plans: Sequence[WordPlan], numbers: Sequence[int]) -> dict[int, list[TermPart]]:
        """What each word adds to the scores of these notes, in the order of the words."""
        parts: dict[int, list[TermPart]] = {number: [] for number in numbers}
        for plan in plans:
            scores, found = self.scores(plan)
            by_term: dict[str, list[int]] = {}
            for number in parts:
                if number in scores:
                    by_term.setdefault(found.get(number, plan.word.term), []).append(number)
            for term, some in by_term.items():
                for number, counts in self.counts(term, some).items():
                    parts[number].append(TermPart(plan.word.term, term, scores[number], counts))
        return parts

    def scores(self, plan: WordPlan) -> tuple[dict[int, float], dict[int, str]]:
        """What the word adds to each note's score; for notes that only have another term, which."""
        known = self._scored.get(plan.word)
        if known is None:
            known = self._scored[plan.word] = self._scores(plan)
        return known

    def _scores(self, plan: WordPlan) -> tuple[dict[int, float], dict[int, str]]:
        worth = plan.idf * plan.word.weight
        scores = {number: worth * count for number, count in self._saturated(plan.hits)}
        least = bm25f.least_of(scores.values()) if plan.others else 0.0
        best: dict[int, float] = {}
        found: dict[int, str] = {}
        for term, factor, hits in plan.others:
            most = factor * min(bm25f.idf(hits.df, self.note_total) * plan.word.weight, least)
            for number, count in self._saturated(hits):
                if number not in scores and most * count > best.get(number, 0.0):
                    best[number], found[number] = most * count, term
        scores.update(best)
        return scores, found

    def counts(self, term: str, numbers: Sequence[int]) -> dict[int, tuple[int, int, int, int]]:
        """How often those of these notes that have the term have it, in each field."""
        found: dict[int, list[int]] = {}
        for at, blob in self._hits(term).by_segment.items():
            wanted = {o: number for number in numbers if (o := self.segments[at].ordinal_of(number)) is not None}
            for field_at, ordinals, counts in parse_postings(blob) if wanted else ():
                for ordinal, number in wanted.items():
                    place = bisect_left(ordinals, ordinal)
                    if place < len(ordinals) and ordinals[place] == ordinal:
                        found.setdefault(number, [0] * len(FIELDS))[field_at] = counts[place]
        return {number: (one, two, three, four) for number, (one, two, three, four) in found.items()}

    def _saturated(self, hits: TermHits) -> Iterator[tuple[int, float]]:
        k1 = self.weights.k1
        for at, blob in hits.by_segment.items():
            numbers, gone = self.segments[at].numbers, self.gone[at]
            for ordinal, weighted in self._weighted(at, list(parse_postings(blob))).items():
                if weighted > 0.0 and ordinal not in gone:
                    yield numbers[ordinal], weighted / (k1 + weighted)

    def _weighted(self, segment: int, postings: Sequence[FieldPostings]) -> dict[int, float]:
        """By ordinal. The same operations, in the same order, as `bm25f.weighted_count`."""
        all_lengths = self.segments[segment].lengths
        totals: dict[int, float] = {}
        for at, ordinals, counts in postings:
            norm, lengths = self.norms[at], all_lengths[at]
            weight, base, slope = norm.weight, norm.base, norm.slope
            pairs = zip(ordinals, counts, strict=True)
            if not totals:
                totals = {o: weight * count / (base + slope * lengths[o]) for o, count in pairs}
            else:
                for o, count in pairs:
                    totals[o] = totals.get(o, 0.0) + weight * count / (base + slope * lengths[o])
        return totals

    def _hits(self, term: str) -> TermHits:
        return self._known.get(term, _NO_HITS)

    def _load(self, terms: Sequence[str]) -> None:
        """Find the postings of these terms."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._known]
        found: dict[str, dict[int, bytes]] = {}
        df: dict[str, int] = {}
        marks = ",".join("?" * len(wanted))
        sql = f"SELECT term, df, fields FROM postings WHERE segment = ? AND term IN ({marks})"
        for at, segment in enumerate(self.segments):
            gone = self.gone[at]
            for term, count, blob in self.connection.execute(sql, (segment.id, *wanted)):
                found.setdefault(term, {})[at] = blob
                df[term] = df.get(term, 0) + (note_count(parse_postings(blob), gone) if gone else count)
        for term in wanted:
            self._known[term] = TermHits(df.get(term, 0), found.get(term, {}))

    def _others(self, term: str) -> tuple[tuple[str, float], ...]:
        begun = self._begun_with(term) if self.weights.prefix > 0 else []
        near = self._slips(term) if self.weights.typo > 0 and not self._hits(term).df else ()
        self._load([*begun, *near])
        longer = [(each, self._hits(each).df) for each in begun if self._hits(each).df]
        return bm25f.others(longer, [each for each in near if self._hits(each).df], self.weights)

    def _begun_with(self, term: str) -> list[str]:
        sql = "SELECT term, df FROM postings WHERE segment = ? AND term > ? AND term < ? LIMIT ?"
        df: dict[str, int] = {}
        for segment in self.segments:
            for each, count in self.connection.execute(sql, (segment.id, term, term + _AFTER_ALL, _MOST_BEGUN)):
                df[each] = df.get(each, 0) + count
        # Some may have dead notes only: a few more than are needed.
        return sorted(df, key=lambda each: (-df[each], each))[: 4 * bm25f.MAX_OTHERS]

    def _slips(self, term: str) -> tuple[str, ...]:
        most = slips_allowed(term)
        if not most:
            return ()
        sql = "SELECT term FROM postings WHERE segment = ? AND term >= ? AND term < ? AND length(term) BETWEEN ? AND ? LIMIT ?"
        bounds = (term[0], term[0] + _AFTER_ALL, len(term) - 3, len(term) + most, _MOST_ALIKE)
        rows = (self.connection.execute(sql, (segment.id, *bounds)) for segment in self.segments)
        return slips_of(term, {each for (each,) in chain.from_iterable(rows)})[: 4 * bm25f.MAX_OTHERS]


def best_of(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """The best, in order; of equals the newer first."""
    items = list(scores.items())
    if limit < len(items):
        # Sorting the bare figures first is many times faster than sorting pairs.
        bar = sorted(scores.values(), reverse=True)[limit - 1] if limit > 0 else float("inf")
        items = [item for item in items if item[1] >= bar]
    items.sort(key=lambda item: (-item[1], -item[0]))
    return dict(items[: max(limit, 0)])
