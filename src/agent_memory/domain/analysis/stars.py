"""Pairs gathered into groups that can be looked at together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from agent_memory.domain.analysis.features import Features

MOST_IN_GROUP = 12
"""More entries side by side are more than anybody can judge at once."""


def stars(
    pairs: Iterable[tuple[Features, Features]], rank: Callable[[Features], Any]
) -> Iterator[tuple[Features, ...]]:
    """Groups of 2 to `MOST_IN_GROUP` entries, each of which is paired with the first. Every pair is in some group.

    The first of a group ranks before the others. The same pairs in any order give the same groups.
    """
    partners: dict[Features, set[Features]] = defaultdict(set)
    for one, other in pairs:
        partners[one].add(other)
        partners[other].add(one)
    for centre in sorted(partners, key=rank):
        while partners[centre]:
            around = sorted(partners[centre], key=rank)[: MOST_IN_GROUP - 1]
            group = (centre, *around)
            for member in group:
                partners[member].difference_update(group)
            yield group


def slices(group: tuple[Features, ...]) -> Iterator[tuple[Features, ...]]:
    """A group of any size as groups of at most `MOST_IN_GROUP`, each led by the first."""
    first, others = group[0], group[1:]
    for start in range(0, len(others), MOST_IN_GROUP - 1):
        yield (first, *others[start : start + MOST_IN_GROUP - 1])
