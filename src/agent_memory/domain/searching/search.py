"""What is searched for, and what was found."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.searching.matching import NoteFilter
from agent_memory.domain.text.tags import normal_tags
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Kind

MAX_HITS = 1_000
"""The most that can be asked for at once."""


class Mode(StrEnum):
    """How entries are compared with the query: by words, by meaning, or by both."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    SEMANTIC = "semantic"


@frozen
class SearchRequest:
    """A question to the store. Any text is a query; what is None or empty does not filter."""

    query: str
    limit: int = 10
    mode: Mode = Mode.HYBRID
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    """Only entries that have one of these, with or without prefix."""
    scope: str | None = None
    """Only entries of this scope."""
    since_ms: int | None = None
    """Only entries changed since."""
    session: str | None = None
    """Only entries that come from this session."""
    agent: str | None = None
    """Only entries whose sources name this agent."""
    min_score: float | None = None
    """Only hits of at least this score, 0 to 1."""
    archived: bool = False
    """Archived entries too, below the live ones."""
    here: str = GLOBAL_SCOPE
    """The scope of whoever asks: its entries come first where others are as good."""
    scopes: frozenset[str] | None = None
    """Only entries of these scopes; for what is shown unasked."""


def problem_of(request: SearchRequest) -> str | None:
    """What is wrong with its numbers, as a sentence without its full stop."""
    if not 1 <= request.limit <= MAX_HITS:
        return f"The limit of hits is {request.limit}, expected a number from 1 to {MAX_HITS:,}"
    if request.min_score is not None and not 0 <= request.min_score <= 1:
        return f"The least score is {request.min_score:g}, expected a number from 0 to 1"
    return None


def filter_of(request: SearchRequest) -> NoteFilter:
    """The entries that it asks for."""
    scopes = request.scopes
    if request.scope is not None:
        wanted = frozenset({request.scope})
        scopes = wanted if scopes is None else scopes & wanted
    tags = tuple(dict.fromkeys(tag for each in request.tags for tag in _wanted_tags(each)))
    return NoteFilter(
        request.kind, tags, scopes, request.since_ms, request.session, request.agent, archived=request.archived
    )


def _wanted_tags(tag: str) -> tuple[str, ...]:
    """As notes bear it; without its prefix where it was asked for without."""
    return tuple(each if "__" in tag else each.partition("__")[2] for each in normal_tags([tag])) or (tag,)


@frozen
class Snippet:
    """The best passage of an entry, on one line, without control characters."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words of the query are in `text`: half-open ranges of characters, in order."""


@frozen
class ScorePart:
    """One reason for a score: `name` is a word for it, `value` what it adds to (or takes from) the sum."""

    name: str
    value: float
    detail: str = ""


@frozen
class FoundEntry:
    """An entry that was found, as it is now."""

    stored: StoredEntry
    superseded_by: str | None = None
    """The live entry that says what has become of it."""
    score: float = 0.0
    """What it has of the query, 0 to 1."""


@frozen
class FoundEntries:
    """The best first."""

    entries: tuple[FoundEntry, ...]
    notices: tuple[str, ...] = ()
    """What could not be read or searched, and what else the reader should know of it, a sentence each."""


@frozen
class SearchHit:
    """One entry that was found."""

    listed: Listed
    score: float
    """0 to 1, for the best hit of a good match about 1; comparable within one answer, not between answers."""
    snippet: Snippet
    tier: Tier = Tier.COLD
    parts: tuple[ScorePart, ...] = ()
    superseded_by: str | None = None
    """The live entry that says what has become of it."""


@frozen
class SearchAnswer:
    """The best hits first, and how they were found."""

    hits: tuple[SearchHit, ...]
    mode: Mode
    """What answered: not what was asked for where that is not installed."""
    notices: tuple[str, ...] = ()
    """What the reader should know of it, a sentence each: another mode answered, the index could not be kept."""
    matched: int = 0
    """Entries that had something of the query, before `limit`."""
