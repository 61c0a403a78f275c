"""Which known notes are about the same subject as one that is about to be written: the search before every write, the same for
a person's `remember`, for MCP clients and for what a consolidation creates."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from attrs import frozen

from agent_memory.errors import Busy, Error
from agent_memory.note.note import GLOBAL_SCOPE, Listed, StoredEntry
from agent_memory.note.terms import query_words
from agent_memory.ports import Embedder
from agent_memory.recall.embedding import cosine
from agent_memory.recall.hits import Matches, SearchRequest
from agent_memory.recall.note_index import NoteIndex
from agent_memory.results import as_result, unwrap
from agent_memory.rules.features import claims_of
from agent_memory.rules.similarity import LEAST_SHARED, Subject, meaning_text, similar_among
from agent_memory.store.store_files import Store
from agent_memory.text.salience import statements

MOST_CANDIDATES = 20
"""How many notes are read and compared. Of 187 real notes, the one that was repeated in other words was always among
the first five (24 of 24)."""


@frozen
class Near:
    """The notes that have words in common with one that is about to be written."""

    similar: tuple[StoredEntry, ...]
    """The notes about the same subject, most similar first."""
    compared: tuple[StoredEntry, ...]
    """These and all others that were compared: two notes may have only a value of one thing in common."""


@frozen
class KnownNotes:
    """The notes of a store. Without an embedder they are compared by words alone. A problem with it or with the index
    hinders no write."""

    store: Store
    index: NoteIndex
    embedder: Embedder | None = None
    least: float = LEAST_SHARED
    """What two notes must have in common to be on the same subject (`limits.similarity`)."""

    @as_result
    def near_each(self, subjects: Iterable[tuple[Subject, str]]) -> tuple[Near, ...]:
        """Returns, for each of these subjects and scopes, the live notes of the scope and of `global` that have most in
        common with it; never a secret one. Fails only where the store cannot be listed."""
        with suppress(Busy):  # the index answers with what it knows
            unwrap(self.index.refresh())
        found: list[Near] = []
        for subject, scope in subjects:
            scopes = frozenset((scope, GLOBAL_SCOPE))
            likely: Iterable[Listed] = ()
            with suppress(Error):
                likely = self.likely(subject, scopes)
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

    def likely(self, subject: Subject, scopes: frozenset[str] | None) -> Iterable[Listed]:
        """Returns the notes that the index finds."""

        def found(text: str) -> Matches:
            words = query_words(text, stretch=False)
            return unwrap(self.index.match(words, MOST_CANDIDATES, SearchRequest(text, scopes=scopes)))

        matches = found(f"{subject.title}\n{subject.description}\n{subject.body}")
        numbers = dict.fromkeys(matches.scores)
        if matches.matched > MOST_CANDIDATES:
            # A note that gives another value for one thing may share no more than the sentence that says so.
            for claim in claims_of(statements(subject.body)):
                numbers |= dict.fromkeys(found(claim.snippet).scores)
        return unwrap(self.index.notes(tuple(numbers))).values()
