"""The words of a query."""

from __future__ import annotations

from attrs import frozen


@frozen
class QueryWord:
    """One word that is looked for."""

    term: str
    """As `terms_of` makes it."""
    weight: float = 1.0
    stretches: bool = True
    """Whether terms that it begins, and slips of it, may stand for it."""
