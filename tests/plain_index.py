"""An index over a store that looks at every note for each question: what the one in the database is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.adapters.store.store_acts import is_retired
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.searching import bm25f
from agent_memory.domain.searching.indexed_note import (
    IndexedNote,
    NearNote,
    NoteLink,
    Place,
    Refreshed,
    Relation,
    Vectors,
)
from agent_memory.domain.searching.matching import MatchedWord, Matches, NoteFilter, TermPart, TermWeights
from agent_memory.domain.searching.note_filter import lets_through
from agent_memory.domain.searching.note_terms import FieldTerms, note_terms
from agent_memory.domain.searching.query_words import QueryWord
from agent_memory.domain.searching.spelling import slips_of
from agent_memory.domain.text.links import find_links
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.errors import Error
from agent_memory.ports import Store
from agent_memory.results import sealed

_Fields = tuple[FieldTerms, FieldTerms, FieldTerms, FieldTerms]
_Counts = tuple[int, int, int, int]


@frozen
class _Note:
    stored: StoredEntry
    fields: _Fields

    @property
    def lengths(self) -> _Counts:
        one, two, three, four = (field.length for field in self.fields)
        return one, two, three, four

    def counts(self, term: str) -> _Counts:
        one, two, three, four = (field.counts.get(term, 0) for field in self.fields)
        return one, two, three, four


@frozen
class _Word:
    """What one word of a query comes to."""

    matched: MatchedWord
    scores: Mapping[int, float]
    found: Mapping[int, str]


class PlainIndex:
    """See the port."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._notes: dict[int, _Note] = {}
        self._vectors: dict[str, dict[int, bytes]] = {}
        self._last = 0
        self.renewals = 0

    def refresh(self, patience_seconds: float = math.inf) -> Result[Refreshed, Error]:
        """See the port."""
        entries: list[StoredEntry] = []
        for archived in (False, True):
            match sealed(self._store.list(archived=archived)):
                case Failure(error):
                    return Failure(error)
                case Success(listing):
                    for each in listing.entries:
                        if each.meta.sensitivity is Sensitivity.SECRET or (archived and not is_retired(each)):
                            continue
                        read = self._store.read(each.meta.id, archived=archived)
                        if isinstance(read, Success):
                            entries.append(read.unwrap())
        return Success(self._taken(entries))

    def match(
        self, words: Sequence[QueryWord], weights: TermWeights, limit: int, among: NoteFilter
    ) -> Result[Matches, Error]:
        """See the port."""
        looked_for = self._words(words, weights)
        total: dict[int, float] = {}
        for word in looked_for:
            for number, score in word.scores.items():
                if lets_through(among, self._notes[number].stored.listed):
                    total[number] = total.get(number, 0.0) + score
        best = sorted(total.items(), key=lambda item: (-item[1], -item[0]))[: max(limit, 0)]
        return Success(Matches(dict(best), len(total), tuple(word.matched for word in looked_for)))

    def explain(
        self, words: Sequence[QueryWord], weights: TermWeights, numbers: Sequence[int]
    ) -> Result[Mapping[int, tuple[TermPart, ...]], Error]:
        """See the port."""
        looked_for = self._words(words, weights)
        return Success(
            {
                number: tuple(
                    TermPart(
                        word.matched.term,
                        word.found[number],
                        word.scores[number],
                        self._notes[number].counts(word.found[number]),
                    )
                    for word in looked_for
                    if number in word.scores
                )
                for number in numbers
                if number in self._notes
            }
        )

    def among(self, notes: NoteFilter) -> Result[frozenset[int], Error]:
        """See the port."""
        return Success(
            frozenset(number for number, note in self._notes.items() if lets_through(notes, note.stored.listed))
        )

    def notes(self, numbers: Sequence[int]) -> Result[Mapping[int, IndexedNote], Error]:
        """See the port."""
        found = ((number, self._notes[number]) for number in numbers if number in self._notes)
        return Success({number: IndexedNote(number, note.stored.listed, note.lengths) for number, note in found})

    def numbers_of(self, ids: Sequence[str]) -> Result[Mapping[str, int], Error]:
        """See the port."""
        found = {id: self._resolve(id) for id in ids}
        return Success({id: number for id, number in found.items() if number is not None})

    def places(self, numbers: Sequence[int]) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        wanted = set(numbers)
        return Success(tuple(place for place in self._places() if place.number in wanted))

    def session(self, session: str) -> Result[tuple[Place, ...], Error]:
        """See the port."""
        found = [place for place in self._places() if place.session == session]
        return Success(tuple(sorted(found, key=lambda place: (place.turn or 0, place.number))))

    def near(self, numbers: Sequence[int], reach: int) -> Result[Mapping[int, tuple[NearNote, ...]], Error]:
        """See the port."""
        found: dict[int, dict[int, int]] = {}
        places = [place for place in self._places() if place.turn is not None]
        wanted = set(numbers)
        for one in places:
            for other in places if one.number in wanted else ():
                distance = (other.turn or 0) - (one.turn or 0)
                if other.session == one.session and other.number != one.number and abs(distance) <= reach:
                    known = found.setdefault(one.number, {})
                    known[other.number] = min(known.get(other.number, distance), distance, key=lambda d: (abs(d), d))
        return Success(
            {
                number: tuple(
                    NearNote(other, distance)
                    for other, distance in sorted(near.items(), key=lambda item: (abs(item[1]), item[1], item[0]))
                )
                for number, near in found.items()
            }
        )

    def links(self, numbers: Sequence[int]) -> Result[tuple[NoteLink, ...], Error]:
        """See the port."""
        wanted = set(numbers)
        return Success(
            tuple(sorted({link for link in self._links() if wanted & {link.source, link.target}}, key=_in_order))
        )

    def vectors(self, model: str) -> Result[Vectors, Error]:
        """See the port."""
        kept = sorted(self._vectors.get(model, {}).items())
        return Success(Vectors([number for number, _ in kept], [vector for _, vector in kept]))

    def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
        """See the port."""
        return Success(tuple(sorted(self._notes.keys() - self._vectors.get(model, {}).keys())))

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
        """See the port."""
        kept = {**self._vectors.get(model, {}), **vectors}
        self._vectors = {model: {number: row for number, row in kept.items() if number in self._notes}}
        return Success(None)

    def _taken(self, entries: Sequence[StoredEntry]) -> Refreshed:
        known = {note.stored: number for number, note in self._notes.items()}
        new = [entry for entry in entries if entry not in known]
        kept = {known[entry]: self._notes[known[entry]] for entry in entries if entry in known}
        removed = len(self._notes) - len(kept)
        for entry in new:
            self._last += 1
            kept[self._last] = _Note(entry, note_terms(entry))
        self._notes = kept
        self._vectors = {
            model: {number: row for number, row in rows.items() if number in kept}
            for model, rows in self._vectors.items()
        }
        return Refreshed(len(kept), len(new), removed)

    def _words(self, words: Sequence[QueryWord], weights: TermWeights) -> list[_Word]:
        sums = [sum(note.lengths[at] for note in self._notes.values()) for at in range(4)]
        norms = bm25f.norms_of(weights, len(self._notes), sums)
        counted = {word: self._saturated(word.term, norms, weights) for word in words}
        with_others = bm25f.stretched(words)
        others = {word: self._others(word.term, bool(counted[word]), weights) for word in with_others}
        looked_for = bm25f.rarest([(word, len(counted[word])) for word in words if counted[word] or others.get(word)])
        return [self._word(word, counted[word], others.get(word, ()), norms, weights) for word in looked_for]

    def _word(
        self,
        word: QueryWord,
        counted: Mapping[int, float],
        others: Sequence[tuple[str, float]],
        norms: Sequence[bm25f.Norm],
        weights: TermWeights,
    ) -> _Word:
        worth = bm25f.idf(len(counted), len(self._notes))
        scores = {number: worth * word.weight * count for number, count in counted.items()}
        found = dict.fromkeys(scores, word.term)
        least = bm25f.least_of(scores.values())
        best: dict[int, float] = {}
        for term, factor in others:
            resembling = self._saturated(term, norms, weights)
            most = factor * min(bm25f.idf(len(resembling), len(self._notes)) * word.weight, least)
            for number, count in resembling.items():
                if number not in scores and most * count > best.get(number, 0.0):
                    best[number], found[number] = most * count, term
        matched = MatchedWord(word.term, len(counted), worth, tuple(term for term, _ in others))
        return _Word(matched, {**scores, **best}, found)

    def _saturated(self, term: str, norms: Sequence[bm25f.Norm], weights: TermWeights) -> dict[int, float]:
        found: dict[int, float] = {}
        for number, note in self._notes.items():
            weighted = bm25f.weighted_count(note.counts(term), note.lengths, norms)
            if weighted > 0:
                found[number] = bm25f.saturated(weighted, weights.k1)
        return found

    def _others(self, term: str, is_known: bool, weights: TermWeights) -> tuple[tuple[str, float], ...]:
        dictionary: dict[str, int] = {}
        for note in self._notes.values():
            for each in {each for field in note.fields for each in field.counts}:
                dictionary[each] = dictionary.get(each, 0) + 1
        longer = [(each, df) for each, df in dictionary.items() if each != term and each.startswith(term)]
        slips = () if is_known else slips_of(term, dictionary)
        return bm25f.others(longer, slips, weights)

    def _resolve(self, id: str) -> int | None:
        ways: tuple[Callable[[Listed], bool], ...] = (
            lambda listed: not listed.archived and listed.meta.id == id,
            lambda listed: not listed.archived and id in listed.meta.aliases,
            lambda listed: listed.archived and listed.meta.id == id,
        )
        for is_wanted in ways:
            found = [number for number, note in self._notes.items() if is_wanted(note.stored.listed)]
            if found:
                return min(found)
        return None

    def _places(self) -> Iterator[Place]:
        for number, note in self._notes.items():
            places = {
                Place(number, source.thread_id, turn)
                for source in note.stored.meta.sources
                if source.thread_id is not None
                for turn in (source.turns or (None,))
            }
            yield from sorted(places, key=lambda place: (place.session, place.turn or 0))

    def _links(self) -> Iterator[NoteLink]:
        for number, note in self._notes.items():
            linked = [(link.target, Relation.LINKS) for link in find_links(note.stored.body)]
            linked += [(id, Relation.SUPERSEDES) for id in note.stored.meta.supersedes]
            for target, relation in linked:
                resolved = self._resolve(target)
                if resolved is not None and resolved != number:
                    yield NoteLink(number, resolved, relation)


def _in_order(link: NoteLink) -> tuple[int, int, str]:
    return link.source, link.target, link.relation
