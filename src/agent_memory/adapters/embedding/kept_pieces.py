"""The vocabulary of word pieces, kept in `.cache/pieces` as it is looked up: to read the model's own file takes longer than
to compare the vectors of ten thousand notes."""

from __future__ import annotations

import os
from collections.abc import Callable

from returns.result import Result, Success

from agent_memory.adapters.disk.derived_file import read_derived, write_derived
from agent_memory.domain.similarity.word_pieces import Vocabulary
from agent_memory.formats.piece_table import parse_piece_table, render_piece_table

NAME = "pieces"
_MOST_BYTES = 16 << 20


def pieces_kept_in(
    root: str | None, path: str, rows: int, read: Callable[[], Result[dict[str, int], str]]
) -> Result[Vocabulary, str]:
    """What `read` gives of the file at `path`, which fits a model of so many rows; from the cache of a store, if there is a
    store, and while that file looks as it did."""
    source = _source(path, rows) if root is not None else None
    if root is None or source is None:
        return read()
    kept = read_derived(root, NAME, _MOST_BYTES)
    table = None if kept is None else parse_piece_table(kept, source)
    if table is not None:
        return Success(table)

    def kept_now(vocabulary: dict[str, int]) -> Vocabulary:
        write_derived(root, NAME, render_piece_table(vocabulary, source))
        return vocabulary

    return read().map(kept_now)


def _source(path: str, rows: int) -> str | None:
    try:
        looks = os.stat(path)
    except OSError:  # whoever reads it finds out
        return None
    return f"{path} {looks.st_size} {looks.st_mtime_ns} {looks.st_ino} {rows}"
