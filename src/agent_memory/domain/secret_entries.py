"""Which of many entries are secret, without unpacking any."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import is_, not_

from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import chosen, column_of
from agent_memory.domain.vocabulary import Sensitivity


def are_secret(entries: Sequence[Listed]) -> list[bool]:
    """Of each of them, whether it is."""
    return list(map(is_, column_of(entries, "meta.sensitivity"), repeat(Sensitivity.SECRET)))


def without_secret(entries: Sequence[Listed]) -> Sequence[Listed]:
    """The others, as packed as they are."""
    return chosen(entries, map(not_, are_secret(entries)))


def secret_ids(entries: Sequence[Listed]) -> frozenset[str]:
    """Of those that are."""
    return frozenset(column_of(chosen(entries, are_secret(entries)), "meta.id"))
