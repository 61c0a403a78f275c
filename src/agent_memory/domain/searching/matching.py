"""What the index is asked, and what it answers: which notes have which words, and how much that is worth.

The score is BM25F (Zaragoza et al., TREC 2004): of each word the counts in all fields are summed, weighted and normed by
the field's length, and then saturated once. A word's worth is `ln(1 + (N - df + 0.5) / (df + 0.5))`.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agent_memory.domain.vocabulary import Kind, Sensitivity


@frozen
class FieldWeight:
    """What a word in one field is worth."""

    weight: float
    b: float
    """How much a long field counts less: 0 not at all, 1 in proportion to its length."""


@frozen
class TermWeights:
    """How words become a score."""

    title: FieldWeight = FieldWeight(2.0, 0.3)
    tags: FieldWeight = FieldWeight(1.0, 0.0)
    description: FieldWeight = FieldWeight(1.0, 0.3)
    body: FieldWeight = FieldWeight(1.0, 0.5)
    k1: float = 1.0
    """How late a word that occurs again stops to count."""
    prefix: float = 0.25
    """What a word that only begins like the wanted one is worth, 0 to 1, relative to the least of the exact hits; 0: they
    are not looked for."""
    typo: float = 0.25
    """The same for a word that differs by a slip; looked for only where no note has the word itself."""

    @property
    def fields(self) -> tuple[FieldWeight, ...]:
        """In the order of `FIELDS`."""
        return (self.title, self.tags, self.description, self.body)


FIELDS = ("title", "tags", "description", "body")
"""The fields of a note that hold words, in the order that everything about terms uses."""

OPEN_SENSITIVITIES = frozenset({Sensitivity.NORMAL, Sensitivity.PRIVATE})


@frozen
class NoteFilter:
    """Which notes may be found. What is None or empty does not filter; secret notes are not in the index at all."""

    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    """Any one of these, with prefix; one without it matches under every prefix."""
    scopes: frozenset[str] | None = None
    since_ms: int | None = None
    """Changed at or after this, epoch ms."""
    session: str | None = None
    agent: str | None = None
    """A source names this agent, or is of the harness of this name."""
    archived: bool = False
    """Archived notes too."""
    sensitivities: frozenset[Sensitivity] = OPEN_SENSITIVITIES


@frozen
class MatchedWord:
    """One word of a query, as the index knows it."""

    term: str
    df: int
    """Notes that have it, whatever was filtered."""
    idf: float
    others: tuple[str, ...] = ()
    """Terms that were taken for it: it begins them, or it may be a slip of them."""


@frozen
class Matches:
    """The notes that have at least one of the words."""

    scores: Mapping[int, float]
    """Score by note number, the best first, at most as many as were wanted; of equal ones the newer first."""
    matched: int
    """Notes that matched, before the limit."""
    words: tuple[MatchedWord, ...] = ()
    """The words that were looked for; of a long query the rarest."""


@frozen
class TermPart:
    """What one word of the query adds to the score of one note."""

    term: str
    """The word of the query."""
    found: str
    """The term that the note has: another one where it only begins alike or may be a slip."""
    value: float
    counts: tuple[int, int, int, int]
    """How often the note has it in each of `FIELDS`."""
