"""What is searched for."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from agent_memory.domain.searching.matching import NoteFilter
from agent_memory.domain.text.tags import normal_tags
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
