"""What is asked of each row of some columns: of rows that are equal, once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Answer = TypeVar("Answer")


def row_answers(ask: Callable[..., Answer], *columns: Iterable[Hashable]) -> list[Answer]:
    """What `ask` says of each row, given its values in order. It must depend on nothing but these.

    For what has few values, of many entries: then this takes as long as to look up each row in a dictionary.
    """
    rows = list(zip(*columns, strict=True))
    known = {row: ask(*row) for row in set(rows)}
    return list(map(known.__getitem__, rows))
