"""What a search is asked and answers, and what the index finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from agent_memory.note.note import GLOBAL_SCOPE, Kind, Listed, Relation, StoredEntry, Tier
from agent_memory.text.ids import DEFAULT_PREFIX, normal_tag

if TYPE_CHECKING:
    from agent_memory.recall.snippet import Snippet

MAX_HITS = 1_000
"""The most that can be asked for at once."""


class Mode(StrEnum):
    """How notes are compared with the query: by words, by meaning, or by both."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    SEMANTIC = "semantic"


def _wanted_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Returns the tags as notes have them; without prefix if they were asked for without."""
    wanted: dict[str, None] = {}
    for tag in tags:
        normal = normal_tag(tag) or tag
        wanted[normal if "__" in tag else normal.removeprefix(f"{DEFAULT_PREFIX}__")] = None
    return tuple(wanted)


@frozen
class SearchRequest:
    """A question to the store. Any text is a query; None, or empty, does not filter. Secret notes are not in the index
    at all."""

    query: str
    limit: int = 10
    mode: Mode = Mode.HYBRID
    kind: Kind | None = None
    tags: tuple[str, ...] = field(default=(), converter=_wanted_tags)
    """Only notes with one of these; one without prefix matches under every prefix."""
    scope: str | None = None
    """Only notes of this scope."""
    since_ms: int | None = None
    """Only notes changed since."""
    session: str | None = None
    """Only notes that come from this session."""
    agent: str | None = None
    """Only notes with a source that names this agent, or a harness of this name."""
    min_score: float | None = None
    """Only hits of at least this score, 0 to 1."""
    archived: bool = False
    """Archived notes too, below the live ones."""
    withheld: bool = True
    """Also notes that no person has approved yet; never for an agent."""
    here: str = GLOBAL_SCOPE
    """The scope of whoever asks: its notes come first among equals."""
    scopes: frozenset[str] | None = None
    """Only notes of these scopes; for text that is shown unasked."""

    @property
    def is_filtered(self) -> bool:
        """Returns whether the request asks for more than that a note is live."""
        filters = (self.kind, self.scope, self.scopes, self.since_ms, self.session, self.agent)
        return bool(self.tags) or any(each is not None for each in filters)

    def lets_through(self, listed: Listed) -> bool:
        """Returns whether the request admits a note, apart from its sensitivity."""
        meta = listed.meta
        sources = meta.sources
        return (
            (self.archived or not listed.archived)
            and (self.withheld or not meta.withheld)
            and (self.kind is None or meta.kind is self.kind)
            and (self.scope is None or meta.scope == self.scope)
            and (self.scopes is None or meta.scope in self.scopes)
            and (self.since_ms is None or meta.updated_at_ms >= self.since_ms)
            and (not self.tags or any(each in self.tags for tag in meta.tags for each in (tag, tag.partition("__")[2])))
            and (self.session is None or any(source.thread_id == self.session for source in sources))
            and (self.agent is None or any(self.agent in (source.agent, source.harness) for source in sources))
        )


@frozen
class ScorePart:
    """One reason for a score: `name` is its name, `value` what it adds to (or takes from) the sum."""

    name: str
    value: float
    detail: str = ""


@frozen(slots=False)
class SearchHit:
    """A note that was found, as it is now; the text of a secret note is left out."""

    stored: StoredEntry
    score: float
    """0 to 1, about 1 for the best hit of a good match; comparable within one answer, not between answers."""
    worth: Mapping[str, float] = field(factory=dict[str, float])
    """The value of each term in a passage of the note: those it was found by, and the other words of the query."""
    tier: Tier = Tier.COLD
    parts: tuple[ScorePart, ...] = ()
    superseded_by: str | None = None
    """The live note that replaced it."""

    @property
    def listed(self) -> Listed:
        return self.stored.listed

    @cached_property
    def snippet(self) -> Snippet:
        """Returns the passage that answers most of the query; empty for a secret note."""
        from agent_memory.recall.snippet import Snippet, snippet_of  # computed only if somebody looks at it

        meta = self.stored.meta
        return Snippet("") if meta.is_secret else snippet_of((meta.description, self.stored.body), self.worth)


@frozen
class SearchAnswer:
    """The hits, best first, and how they were found."""

    hits: tuple[SearchHit, ...]
    mode: Mode
    """The mode that answered: another than the one asked for if that is not installed."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader: about what could not be read, or that another mode answered."""
    matched: int = 0
    """How many notes matched the query at all, before `limit`."""


@frozen
class TermPart:
    term: str
    found: str
    """The term in the note: another one if it only begins alike or may be a misspelling."""
    value: float


@frozen
class MatchedWord:
    term: str
    idf: float
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """Its part in the score of each note."""
    others: Mapping[int, str] = field(factory=dict[int, str])
    """The term that stands in for it, for notes without the word itself."""


@frozen
class Matches:
    words: tuple[MatchedWord, ...] = ()
    """The words that were looked for and that any note has; for a long query, the rarest."""
    scores: Mapping[int, float] = field(factory=dict[int, float])
    """Score by note number, best first, at most as many as were wanted; newer first among equals."""
    matched: int = 0
    """Notes that matched, before the limit."""

    def parts(self, number: int) -> tuple[TermPart, ...]:
        """Returns what each word adds to a note; the sum is its score."""
        return tuple(
            TermPart(word.term, word.others.get(number, word.term), word.scores[number])
            for word in self.words
            if number in word.scores
        )


@frozen
class NearNote:
    """Two notes from neighbouring turns of one session."""

    number: int
    other: int
    turns: int
    """Turns from one to the other; 0 if they come from the same turn."""
    terms: float
    """The mean of their lengths, in terms."""


@frozen
class NoteLink:
    """A link from one note to another; both are in the index, the target by its id or an alias."""

    source: int
    target: int
    relation: Relation


@frozen
class Nearness:
    deviations: Mapping[int, float] = field(factory=dict[int, float])
    """By how many standard deviations each note is nearer than the average note."""
    cosines: Mapping[int, float] = field(factory=dict[int, float])
    """Cosine with the query, -1 to 1, of the same notes."""
    notices: tuple[str, ...] = ()
    """Sentences for the reader of the answer."""
