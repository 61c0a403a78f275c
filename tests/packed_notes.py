"""Entries as a listing gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agent_memory.domain.entry import Listed


def packed(entries: Sequence[Listed]) -> tuple[Listed, ...]:
    """These."""
    return tuple(entries)


def partly_packed(entries: Iterable[tuple[Listed, bool]]) -> tuple[Listed, ...]:
    """These, whatever is said of them."""
    return tuple(each for each, _ in entries)
