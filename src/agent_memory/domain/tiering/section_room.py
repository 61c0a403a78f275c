"""The room of a managed section while tiers are decided. A section shows what is global and what belongs to one scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from attrs import define, field

from agent_memory.domain.entry import Meta
from agent_memory.domain.tiering.score import TierFacts
from agent_memory.domain.vocabulary import GLOBAL_SCOPE

HEADING_CHARS = 100
"""What is written around an entry that is shown whole, besides its title: heading mark, origin, date, blank lines."""


def hot_chars(facts: TierFacts) -> int:
    """About as many characters as the entry takes where it is shown whole."""
    return whole_chars(len(facts.meta.title), facts.body_chars)


def whole_chars(title_chars: int, body_chars: int) -> int:
    """The same, by the lengths of title and body."""
    return title_chars + HEADING_CHARS + body_chars


class Place(NamedTuple):
    """What an entry takes of a section, and of which."""

    scope: str
    size: int
    pinned: bool


def shown_whole(facts: Mapping[str, TierFacts]) -> dict[str, Place]:
    """What entries take that are shown whole."""
    return {id: Place(each.meta.scope, hot_chars(each), each.meta.pinned) for id, each in facts.items()}


def in_one_line(facts: Mapping[str, TierFacts]) -> dict[str, Place]:
    """What entries take that are one line each."""
    return {id: Place(each.meta.scope, 1, each.meta.pinned) for id, each in facts.items()}


@define
class SectionRoom:
    """What is taken of a budget, in each scope's section.

    Pins are always in. A scope whose pins alone are over the budget takes nothing else, and does not keep what is global
    out of the other sections.
    """

    limit: int
    places: Mapping[str, Place]
    """Of every entry that is put in or asked about, by id."""
    _taken: Counter[str] = field(factory=Counter[str])
    _pinned: Counter[str] = field(factory=Counter[str])

    def put(self, id: str) -> None:
        """Take the room of an entry, whether or not it is there."""
        self._add(self.places[id], 1)

    def remove(self, id: str) -> None:
        """Give the room of an entry back."""
        self._add(self.places[id], -1)

    def fits(self, id: str) -> bool:
        """Whether the entry could be put in as well."""
        self.put(id)
        fits = not self.crowded_by(id)
        self.remove(id)
        return fits

    def crowded_by(self, id: str) -> bool:
        """Whether a section that shows this entry, which is in, is over the budget."""
        scope = self.places[id].scope
        if scope != GLOBAL_SCOPE:
            return self._shown(self._taken, scope) > self.limit
        scopes = {GLOBAL_SCOPE} | {each for each in self._taken if self._shown(self._pinned, each) <= self.limit}
        return any(self._shown(self._taken, each) > self.limit for each in scopes)

    def overfull_by_pins(self) -> tuple[str, ...]:
        """The scopes whose pins, with the global ones, are over the budget."""
        return tuple(sorted(each for each in self._pinned if self._shown(self._pinned, each) > self.limit))

    def _add(self, place: Place, times: int) -> None:
        self._taken[place.scope] += times * place.size
        if place.pinned:
            self._pinned[place.scope] += times * place.size

    def _shown(self, sizes: Counter[str], scope: str) -> int:
        return sizes[GLOBAL_SCOPE] + (0 if scope == GLOBAL_SCOPE else sizes[scope])


def shares_a_section(one: Meta, other: Meta) -> bool:
    """Whether some section shows both."""
    return one.scope == other.scope or GLOBAL_SCOPE in (one.scope, other.scope)


def within(room: SectionRoom, ids: Iterable[str]) -> SectionRoom:
    """The room with these entries in it."""
    for id in ids:
        room.put(id)
    return room
