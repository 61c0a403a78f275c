"""What the index is asked, and what it answers. Numbers of notes are the index's own: they mean nothing after a rebuild."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import field, frozen

from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Kind, Sensitivity

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

    def lets_through(self, listed: Listed) -> bool:
        """Whether a note may be found."""
        meta = listed.meta
        sources = meta.sources
        return (
            meta.sensitivity in self.sensitivities
            and (self.archived or not listed.archived)
            and (self.kind is None or meta.kind is self.kind)
            and (self.scopes is None or meta.scope in self.scopes)
            and (self.since_ms is None or meta.updated_at_ms >= self.since_ms)
            and (not self.tags or any(has_tag(meta.tags, tag) for tag in self.tags))
            and (self.session is None or any(source.thread_id == self.session for source in sources))
            and (self.agent is None or any(self.agent in (source.agent, source.harness) for source in sources))
        )


def has_tag(tags: tuple[str, ...], wanted: str) -> bool:
    """Whether a tag is among those of a note; without prefix it is there under any prefix."""
    if "__" in wanted:
        return wanted in tags
    return any(tag.partition("__")[2] == wanted for tag in tags)


@frozen
class Refreshed:
    """How the index stands to the files."""

    notes: int
    """Notes in it."""
    read: int = 0
    """Files that were read just now."""
    removed: int = 0
    pending: int = 0
    """Files known to have changed that are not in it yet: time was up, or another process is at work on it."""
    unreadable: int = 0
    """Files that could not be read just now, and are left out; they are tried again each time."""
    notices: tuple[str, ...] = ()
    """What whoever asks should know, a sentence each."""


@frozen
class TermPart:
    """What one word of the query adds to the score of one note."""

    term: str
    """The word of the query."""
    found: str
    """The term that the note has: another one where it only begins alike or may be a slip."""
    value: float


@frozen
class MatchedWord:
    """One word of a query, and the notes that have it."""

    term: str
    df: int
    """Notes that have it, whatever was filtered."""
    idf: float
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """What it adds to each note."""
    others: Mapping[int, str] = field(factory=dict[int, str])
    """The term that was taken for it, for notes without the word itself."""


@frozen
class Matches:
    """The notes that have at least one of the words."""

    words: tuple[MatchedWord, ...] = ()
    """The words that were looked for, and that any note has; of a long query the rarest."""
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """Score by note number, the best first, at most as many as were wanted; of equal ones the newer first."""
    matched: int = 0
    """Notes that matched, before the limit."""

    def parts(self, number: int) -> tuple[TermPart, ...]:
        """What each word adds to a note: they sum up to its score."""
        return tuple(
            TermPart(word.term, word.others.get(number, word.term), word.scores[number])
            for word in self.words
            if number in word.scores
        )


@frozen
class NearNote:
    """Two notes from turns of one session that are near to each other."""

    number: int
    other: int
    turns: int
    """From the one to the other; 0 where they come from the same turn."""
    terms: float
    """In the mean of both: their length."""


class Relation(StrEnum):
    """How one note refers to another."""

    LINKS = "links"
    SUPERSEDES = "supersedes"


@frozen
class NoteLink:
    """One note refers to another; both are in the index, the target by its id or an alias."""

    source: int
    target: int
    relation: Relation


@frozen
class Vectors:
    """Vectors of one model, one a note, in the order of `numbers`."""

    numbers: Sequence[int]
    rows: Sequence[bytes]


@frozen
class Nearness:
    """How near in meaning some notes are to a query."""

    deviations: Mapping[int, float] = field(factory=dict[int, float])
    """By how many standard deviations a note is nearer than all notes are in the mean."""
    cosines: Mapping[int, float] = field(factory=dict[int, float])
    """Cosine with the query, -1 to 1, of the same notes."""
    notices: tuple[str, ...] = ()
    """What the reader of the answer should know, a sentence each."""
