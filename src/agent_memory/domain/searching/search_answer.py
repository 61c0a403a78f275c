"""What was found."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.searching.matching import TermPart
from agent_memory.domain.searching.search_request import Mode
from agent_memory.domain.tiers import Tier

_TOLD_WORDS = 8


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


def with_words(parts: Sequence[ScorePart], said: Sequence[TermPart]) -> tuple[ScorePart, ...]:
    """The parts, that of the words with the words themselves, those worth most first."""
    best = sorted(said, key=lambda part: -part.value)
    words = [part.found if part.found == part.term else f"{part.found} for {part.term}" for part in best]
    detail = ", ".join(words[:_TOLD_WORDS]) + (
        f" and {len(words) - _TOLD_WORDS} more" if len(words) > _TOLD_WORDS else ""
    )
    return tuple(evolve(part, detail=detail) if part.name == "words" else part for part in parts)
