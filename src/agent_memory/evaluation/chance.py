"""How sure a small number is, without any library: an interval, and two tests against chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from random import Random

_Z = 1.96
_SHUFFLES = 5_000


def interval(hits: int, of: int) -> tuple[float, float]:
    """Returns the shares, from 0 to 1, that are compatible with so many hits: Wilson's interval of 95 %."""
    if not of:
        return 0.0, 1.0
    share, z2 = hits / of, _Z * _Z
    middle, half = share + z2 / (2 * of), _Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    low, high = (middle - half) / (1 + z2 / of), (middle + half) / (1 + z2 / of)
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def by_chance(one: Sequence[int], other: Sequence[int]) -> float:
    """Returns how often two groups that were drawn at random from these values differ in their means at least as much
    as these two: a permutation test, from 0 (excluded) to 1, with shuffles that are always the same."""
    if not one or not other:
        return 1.0
    smaller, all_values = min(one, other, key=len), sorted((*one, *other))
    drawn, rest, total = len(smaller), len(all_values) - len(smaller), sum(all_values)

    def apart(of_drawn: int) -> int:
        """Returns the difference of the means, in whole numbers so that equal ones are equal."""
        return abs(of_drawn * rest - (total - of_drawn) * drawn)

    seen = apart(sum(smaller))
    random = Random(0)
    as_far = sum(apart(sum(random.sample(all_values, drawn))) >= seen for _ in range(_SHUFFLES))
    return (as_far + 1) / (_SHUFFLES + 1)


def by_coin(wins: int, losses: int) -> float:
    """Returns how often so many tosses of a coin come out at least as uneven: the exact sign test."""
    tosses, fewer = wins + losses, min(wins, losses)
    tail = sum(comb(tosses, each) for each in range(fewer + 1))
    return min(1.0, tail / 2.0 ** (tosses - 1))
