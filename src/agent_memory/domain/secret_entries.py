"""Which of many entries are secret."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.domain.entry import Listed
from agent_memory.domain.vocabulary import Sensitivity


def without_secret(entries: Sequence[Listed]) -> Sequence[Listed]:
    """Those that are not."""
    return tuple(each for each in entries if each.meta.sensitivity is not Sensitivity.SECRET)


def secret_ids(entries: Sequence[Listed]) -> frozenset[str]:
    """The ids of those that are."""
    return frozenset(each.meta.id for each in entries if each.meta.sensitivity is Sensitivity.SECRET)
