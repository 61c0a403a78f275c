"""What finds notes: by words, and by meaning."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from returns.result import Result

    from agent_memory.domain.entry import Listed
    from agent_memory.domain.searching.matching import (
        Matches,
        Nearness,
        NearNote,
        NoteFilter,
        NoteLink,
        Refreshed,
        Vectors,
    )
    from agent_memory.domain.searching.terms import QueryWord
    from agent_memory.errors import Error


class Index(Protocol):
    """The words, places and links of all notes, for searching. Derived: whatever is wrong with it, it is made anew.

    Nothing of a secret note is in it (P20). Numbers stay the same until a note changes; a number that is no more is left
    out of every answer. Files that cannot be read, or are no notes, are left out: `Store.list` reports them.
    """

    @property
    def renewals(self) -> int:
        """How often it was exchanged for another one, since it was damaged or gone: numbers from before mean nothing then,
        or another note."""
        ...

    def refresh(self, patience_seconds: float = math.inf) -> Result[Refreshed, Error]:
        """Bring it into line with the files, as far as that time suffices, newest files first.

        StoreIo or PathRefused only where the shelves themselves cannot be listed. An index that cannot be kept on disk is
        kept in memory, and the answer says so."""
        ...

    def match(self, words: Sequence[QueryWord], limit: int, among: NoteFilter) -> Result[Matches, Error]:
        """The notes with at least one of the words, the best first. What was not refreshed is not seen."""
        ...

    def among(self, notes: NoteFilter) -> Result[frozenset[int], Error]:
        """All notes that the filter lets through."""
        ...

    def notes(self, numbers: Sequence[int]) -> Result[Mapping[int, Listed], Error]:
        """What is known of these notes, in their order."""
        ...

    def numbers_of(self, ids: Sequence[str]) -> Result[Mapping[str, int], Error]:
        """The note of each id: the live one with this id, else the live one with this alias, else the archived one."""
        ...

    def near(self, numbers: Sequence[int], reach: int) -> Result[tuple[NearNote, ...], Error]:
        """For each of these notes the others of the same session at most `reach` turns before or after."""
        ...

    def links(self, numbers: Sequence[int]) -> Result[tuple[NoteLink, ...], Error]:
        """The links from and to these notes, successors and predecessors among them."""
        ...

    def vectors(self, model: str) -> Result[Vectors, Error]:
        """The vectors of a model, by number."""
        ...

    def without_vector(self, model: str) -> Result[tuple[int, ...], Error]:
        """The notes that have no vector of this model."""
        ...

    def put_vectors(self, model: str, vectors: Mapping[int, bytes]) -> Result[None, Error]:
        """Keep the vectors of these notes, of as many components each; those of notes that are no more, or of another model
        than this, are dropped."""
        ...


class Meanings(Protocol):
    """How near in meaning the entries of an index are to a query."""

    def near(self, words: Sequence[tuple[str, float]]) -> Result[Nearness, Error]:
        """How near all entries are, by the index's numbers, to these words as they are written, each with what it counts."""
        ...


class Embedder(Protocol):
    """What turns a text into a vector of its meaning, without a network."""

    @property
    def name(self) -> str:
        """Which model and recipe: vectors of another name are not comparable, and are not used."""
        ...

    @property
    def dimensions(self) -> int:
        """Components of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        """A packed vector for each text, in their order (`similarity.vectors`): `dimensions` signed bytes, all zeros for a
        text without words. Any text has one."""
        ...

    def embed_words(self, words: Sequence[tuple[str, float]]) -> Result[bytes, Error]:
        """The packed vector of these words, each counting as much as it says."""
        ...
