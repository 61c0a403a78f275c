"""A search for what breaks a target: each input that reaches a line for the first time is changed in its turn."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterable

from attrs import define, field

from fuzz.mutation import mutated
from fuzz.reached import ReachedLines
from fuzz.target import Target


@define
class Tried:
    """One input, and what came of it."""

    data: bytes
    is_further: bool = False
    error: Exception | None = None
    """What broke at a place where nothing broke before."""


@define
class LineSearch:
    """Begins with inputs that hold; one step at a time."""

    target: Target
    chance: random.Random
    lines: ReachedLines = field(factory=ReachedLines)
    _inputs: list[bytes] = field(factory=list, init=False)
    _known: int = field(default=0, init=False)
    _broken: set[str] = field(factory=set, init=False)

    def begin(self, inputs: Iterable[bytes]) -> None:
        """Learn which lines these reach. Whatever their check raises is raised."""
        for data in inputs:
            self.lines.reached_more(self.target.check, data)
            self._inputs.append(data)
        self._known = len(self._inputs)

    def step(self) -> Tried:
        """Try one change of an input; half of the time of one that went further than those of the beginning."""
        further = self._inputs[self._known :]
        among = further if further and self.chance.random() < 0.5 else self._inputs
        data = mutated(self.chance.choice(among), self.chance, self.target.words)
        try:
            is_further = self.lines.reached_more(self.target.check, data)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is looked for
            # One bug must not hide the others: what breaks at another place is another.
            place = _place_of(error)
            is_new = place not in self._broken
            self._broken.add(place)
            return Tried(data, error=error if is_new else None)
        if is_further:
            self._inputs.append(data)
        return Tried(data, is_further)


def _place_of(error: Exception) -> str:
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {last.filename}:{last.lineno}"
