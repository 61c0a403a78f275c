"""What a comparison for likeness knows of each note, so that after a change only those that it concerns are compared again."""

from __future__ import annotations

from array import array

from agent_memory.domain.analysis.ragged import Ragged
from agent_memory.values import field, frozen


@frozen
class LikenedPair:
    """Two notes that are alike, by their slots."""

    one: int
    """The smaller."""
    other: int
    jaccard: float
    """Share of the words of both that they have in common."""
    containment: float
    """Share of the words of the smaller that the other has."""
    is_near: bool
    """Near duplicates; else one overlaps the other."""


@frozen
class Likened:
    """The notes that were compared for likeness, by their slots (see `gathered`), and what was found."""

    slots: frozenset[int] = frozenset()
    holders: Ragged = field(factory=Ragged.empty)
    """Of each word the slots of the notes that have it, ascending."""
    probed: Ragged = field(factory=Ragged.empty)
    """Of each note the words of which a partner has one, the rarest first."""
    limits: array[int] = field(factory=lambda: array("I"))
    """Of each note how many have the last of the words on which it depends what is probed: what becomes of words that more
    notes have makes no difference."""
    pairs: tuple[LikenedPair, ...] = ()
