"""How near in meaning entries are to a query."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen


@frozen
class Nearness:
    """The nearest entries, by the index's numbers, and those that were asked for."""

    deviations: Mapping[int, float] = field(factory=dict[int, float])
    """By how many standard deviations an entry is nearer than all entries are in the mean."""
    cosines: Mapping[int, float] = field(factory=dict[int, float])
    """Cosine with the query, -1 to 1, of the same entries."""
    notices: tuple[str, ...] = ()
    """What the reader of the answer should know, a sentence each."""
