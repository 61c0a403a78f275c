"""What is searched for."""

from __future__ import annotations

from enum import StrEnum

from agent_memory.domain.vocabulary import GLOBAL_SCOPE, Harness, Kind
from agent_memory.values import frozen


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
    asked_by: Harness | None = None
