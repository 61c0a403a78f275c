"""Which of many entries are secret, without unpacking any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, repeat
from operator import is_, not_

from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity


def are_secret(entries: Sequence[Listed]) -> list[bool]:
    """Of each of them, whether it is."""
    return list(map(is_, [each.meta.sensitivity for each in entries], repeat(Sensitivity.SECRET)))


def without_secret(entries: Sequence[Listed]) -> Sequence[Listed]:
    """The others, as packed as they are."""
    return tuple(compress(entries, map(not_, are_secret(entries))))


def secret_ids(entries: Sequence[Listed]) -> frozenset[str]:
    """Of those that are."""
    return frozenset([each.meta.id for each in tuple(compress(entries, are_secret(entries)))])
