"""Which known notes are about the same subject as one that is about to be written: the search before every write, the
same for a person's `remember`, for MCP clients and for what a consolidation creates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING

from attrs import frozen
from returns.result import Failure

from agent_memory.errors import Error
from agent_memory.note.note import GLOBAL_SCOPE, Listed, StoredEntry, without_secret
from agent_memory.note.terms import query_words
from agent_memory.ports import Embedder, Store
from agent_memory.recall.search_values import Matches, SearchRequest
from agent_memory.results import as_result, unwrap
from agent_memory.rules.similarity import LEAST_SHARED, Subject, about_terms, cosine, meaning_text, similar_among
from agent_memory.text.salience import content_terms, statements

if TYPE_CHECKING:
    from agent_memory.recall.note_index import NoteIndex

MOST_CANDIDATES = 20
"""How many notes are read and compared. Of 187 real notes, the one that was repeated in other words was always among
the first five (24 of 24)."""

_PATIENCE_SECONDS = 0.5
"""How long a write may wait for an index to catch up with the files; newer files are looked up in the listing."""


@frozen
class Near:
    """The notes that have words in common with one that is about to be written."""

    similar: tuple[StoredEntry, ...]
    """The notes about the same subject, most similar first."""
    compared: tuple[StoredEntry, ...]
    """These and all others that were compared: two notes may have only a value of one thing in common."""


@frozen
class KnownNotes:
    """The notes of a store. Without an index they are looked up in the listing, without an embedder they are compared
    by words alone: a problem with either hinders no write."""

    store: Store
    index: NoteIndex | None = None
    embedder: Embedder | None = None
    least: float = LEAST_SHARED
    """What two notes must have in common to be on the same subject (`limits.similarity`)."""

    @as_result
    def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> tuple[Near, ...]:
        """Returns, for each of these subjects and scopes, the live notes of the scope and of `global` that have most in
        common with it; never a secret one. Fails only where the store cannot be listed."""
        index = self.index
        if index is not None:
            refreshed = index.refresh(_PATIENCE_SECONDS)
            if isinstance(refreshed, Failure) or refreshed.unwrap().pending:
                index = None  # it cannot answer for all notes
        found: list[Near] = []
        for subject, scope in subjects:
            scopes = frozenset((scope, GLOBAL_SCOPE))
            likely = None if index is None else _indexed(subject, scopes, index)
            if likely is None:
                likely = _likeliest(subject, unwrap(self.store.list()).entries, scopes)
            read = (self.store.read_again(listed).value_or(None) for listed in likely)
            # A note that cannot be read, or went meanwhile, cannot be called similar.
            near = tuple(
                each for each in read if each is not None and each.meta.scope in scopes and not each.meta.is_secret
            )
            texts = [meaning_text(subject.title, subject.description, subject.body)]
            texts += [meaning_text(each.meta.title, each.meta.description, each.body) for each in near]
            vectors = self.embedder.embed(tuple(texts)).value_or(None) if self.embedder is not None and near else None
            cosines = [None] * len(near) if vectors is None else [cosine(vectors[0], other) for other in vectors[1:]]
            found.append(Near(similar_among(subject, near, cosines, self.least), near))
        return tuple(found)


def _indexed(subject: Subject, scopes: frozenset[str], index: NoteIndex) -> Sequence[Listed] | None:
    """Returns the notes that the index finds; None where it cannot answer."""
    renewals = index.renewals

    def found(text: str) -> Matches:
        words = query_words(text, stretch=False)
        return unwrap(index.match(words, MOST_CANDIDATES, SearchRequest(text, scopes=scopes)))

    try:
        matches = found(f"{subject.title}\n{subject.description}\n{subject.body}")
        numbers = dict.fromkeys(matches.scores)
        if matches.matched > MOST_CANDIDATES:
            # A note that gives another value for one thing may share no more than the sentence that says so.
            from agent_memory.rules.features import claims_of

            for claim in claims_of(statements(subject.body)):
                numbers |= dict.fromkeys(found(claim.snippet).scores)
        notes = unwrap(index.notes(tuple(numbers)))
    except Error:
        return None
    # If the index was rebuilt meanwhile, the numbers may mean other notes.
    return list(notes.values()) if index.renewals == renewals else None


def _likeliest(subject: Subject, listed: Sequence[Listed], scopes: frozenset[str]) -> list[Listed]:
    """Returns the notes that share most words with the subject, judged by the listing."""
    wanted = content_terms(f"{subject.title} {subject.description} {subject.body}")
    nameable = without_secret([each for each in listed if each.meta.scope in scopes])
    about = ((each, about_terms(each.meta)) for each in nameable)
    scored = ((len(terms & wanted) / math.sqrt(len(terms)), each) for each, terms in about if terms & wanted)
    likeliest = nlargest(MOST_CANDIDATES, scored, key=lambda pair: (pair[0], pair[1].meta.id))
    return [each for _, each in likeliest]
