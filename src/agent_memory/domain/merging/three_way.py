"""Three-way choices: what one side alone changed is taken from it; where both changed, a rule decides.

`base` is the common ancestor, None where there is none: then whatever differs counts as changed on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import TypeVar

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def chosen(base: T | None, ours: T, theirs: T, both: Callable[[T, T], T], *, has_base: bool) -> T:
    """The value of the side that changed it; what `both` makes of the two where both did."""
    if ours == theirs:
        return ours
    if has_base and ours == base:
        return theirs
    if has_base and theirs == base:
        return ours
    return both(ours, theirs)


def united(base: Collection[H], first: Sequence[H], second: Sequence[H]) -> tuple[H, ...]:
    """Everything that either side holds, but for what was in the base and is gone from one of them; each once, in the order
    of `first`, then what `second` adds. Where only one side changed anything, its order is kept."""
    for unchanged, changed in ((first, second), (second, first)):
        if tuple(unchanged) == tuple(base):
            return tuple(dict.fromkeys(changed))
    there = dict.fromkeys((*first, *second))
    return tuple(each for each in there if each not in base or (each in first and each in second))
