"""Rows that each note has one of, by the notes' numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from agent_memory.adapters.index.seals import RuinedIndexError

_AT_ONCE = 500


def rows_of(connection: sqlite3.Connection, select: str, numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """The rows of these notes; `select` gives the number first. RuinedIndexError where one is not there: they are notes."""
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        # All of them at once: a cursor that is left halfway would outlive the connection of a ruined index.
        found = connection.execute(f"{select} WHERE number IN ({','.join('?' * len(some))})", some).fetchall()
        if len(found) != len(set(some)):
            raise RuinedIndexError
        yield from found
