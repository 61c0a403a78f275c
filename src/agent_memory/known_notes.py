"""The notes that are known, asked which of them are about the same as one that is to be written: the search before every
write, the same for a person's `remember`, for MCP clients and for what a consolidation creates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import chain

from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.about_terms import postings_among
from agent_memory.domain.entry import Listed, StoredEntry, without_secret
from agent_memory.domain.planning.salience import statements
from agent_memory.domain.searching.matching import Matches, NoteFilter
from agent_memory.domain.searching.terms import query_words
from agent_memory.domain.similarity.same_subject import Candidate, Subject, meaning_text, similar_among
from agent_memory.domain.similarity.vectors import cosine
from agent_memory.domain.text.terms import content_terms
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Sensitivity
from agent_memory.errors import AgentMemoryError, Error
from agent_memory.ports import Embedder, Index, Store
from agent_memory.results import sealed, unwrap

MOST_CANDIDATES = 20
"""Notes that are read and compared. Of 187 real notes the one that was said again in other words was always among the
first five (24 of 24)."""

_PATIENCE_SECONDS = 0.5
"""How long a write may wait for an index to catch up with the files; what it has not seen by then is looked for in the
listing."""


@frozen
class Near:
    """The notes that have words in common with one that is to be written."""

    similar: tuple[StoredEntry, ...]
    """Those about the same subject, the likest first."""
    compared: tuple[StoredEntry, ...]
    """These and the others that were compared: a value of one thing may be all that two notes have in common."""


@frozen
class KnownNotes:
    """The notes of a store. Without an index they are looked for in the listing, without an embedder compared by words
    alone: whatever is wrong with either hinders no write."""

    store: Store
    index: Index | None = None
    embedder: Embedder | None = None

    def near(self, subject: Subject, scope: str) -> Result[Near, Error]:
        """The live notes of this scope and of `global` that have most in common with it; never a secret one. An error only
        where the store cannot be listed."""
        return self.near_each(((subject, scope),)).map(lambda near: near[0])

    def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> Result[tuple[Near, ...], Error]:
        """The same for each of these subjects and scopes, in their order, all by one look at the files."""
        index = self._current_index()
        found: list[Near] = []
        for subject, scope in subjects:
            match sealed(self._near(subject, frozenset((scope, GLOBAL_SCOPE)), index)):
                case Failure(error):
                    return Failure(error)
                case Success(near):
                    found.append(Near(similar_among(subject, self._candidates(subject, near)), tuple(near)))
        return Success(tuple(found))

    def _current_index(self) -> Index | None:
        """The index, where it can answer for all notes."""
        if self.index is None:
            return None
        refreshed = self.index.refresh(_PATIENCE_SECONDS)
        return None if isinstance(refreshed, Failure) or refreshed.unwrap().pending else self.index

    def _near(
        self, subject: Subject, scopes: frozenset[str], index: Index | None
    ) -> Result[Sequence[StoredEntry], Error]:
        indexed = None if index is None else _indexed(subject, scopes, index)
        likely = (
            Success(indexed)
            if indexed is not None
            else self.store.list().map(lambda listing: _likeliest(subject, listing.entries, scopes))
        )
        return likely.map(
            lambda found: [stored for each in found if (stored := self._readable(each, scopes)) is not None]
        )

    def _readable(self, listed: Listed, scopes: frozenset[str]) -> StoredEntry | None:
        match sealed(self.store.read_again(listed)):
            case Success(stored) if _may_be_named(stored.listed, scopes):
                return stored
            case _:  # it went meanwhile, or cannot be read: then nobody can say that it is about the same
                return None

    def _candidates(self, subject: Subject, near: Sequence[StoredEntry]) -> list[Candidate]:
        if self.embedder is None or not near:
            return [Candidate(stored) for stored in near]
        subject_text = meaning_text(subject.title, subject.description, subject.body)
        texts = (meaning_text(each.meta.title, each.meta.description, each.body) for each in near)
        match sealed(self.embedder.embed((subject_text, *texts))):
            case Failure(_):
                return [Candidate(stored) for stored in near]
            case Success(vectors):
                mine, *others = vectors
                return [Candidate(each, cosine(mine, other)) for each, other in zip(near, others, strict=True)]


def _indexed(subject: Subject, scopes: frozenset[str], index: Index) -> Sequence[Listed] | None:
    """The notes that the index finds; None where it cannot answer."""
    renewals = index.renewals

    def found(text: str) -> Matches:
        words = query_words(text, stretch=False)
        return unwrap(index.match(words, MOST_CANDIDATES, NoteFilter(scopes=scopes)))

    try:
        matches = found(f"{subject.title}\n{subject.description}\n{subject.body}")
        numbers = dict.fromkeys(matches.scores)
        if matches.matched > MOST_CANDIDATES:
            # What gives another value for one thing may have no more in common than the sentence that says so.
            from agent_memory.domain.analysis.claims import claims_of, looked_at

            for claim in claims_of(looked_at(statements(subject.body))):
                numbers |= dict.fromkeys(found(claim.snippet).scores)
        notes = unwrap(index.notes(tuple(numbers)))
    except AgentMemoryError:
        return None
    # Where the index was made anew meanwhile, the numbers may mean other notes.
    return list(notes.values()) if index.renewals == renewals else None


def _may_be_named(listed: Listed, scopes: frozenset[str]) -> bool:
    return listed.meta.scope in scopes and listed.meta.sensitivity is not Sensitivity.SECRET


def _likeliest(subject: Subject, listed: Sequence[Listed], scopes: frozenset[str]) -> list[Listed]:
    """The entries that share most words with the subject, by what a listing knows of them."""
    wanted = content_terms(f"{subject.title} {subject.description} {subject.body}")
    nameable = without_secret([each for each in listed if each.meta.scope in scopes])
    found, ids = postings_among(nameable, wanted), [each.meta.id for each in nameable]
    shared = Counter(chain.from_iterable(found.places.values()))
    scored = ((each / math.sqrt(found.counts[place]), ids[place], place) for place, each in shared.items())
    return [nameable[place] for _, _, place in nlargest(MOST_CANDIDATES, scored)]
