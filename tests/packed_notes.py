"""Entries as a listing cache gives them: packed."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence

from agent_memory.domain.about_terms import postings_among
from agent_memory.domain.entry import Listed
from agent_memory.domain.packed_entries import Entries
from agent_memory.formats.packed_table import PackedTable, packed_piece
from agent_memory.formats.packed_terms import packed_terms


def table_of(entries: Sequence[Listed], rows_a_piece: int = 3) -> PackedTable:
    """The table of these, in pieces of so many."""
    pieces = [packed_piece(entries[at : at + rows_a_piece]) for at in range(0, len(entries), rows_a_piece)]
    return PackedTable(marshal.loads(marshal.dumps(pieces)), packed_terms(postings_among(entries)))


def packed(entries: Sequence[Listed]) -> Entries:
    """The same, of which none is unpacked."""
    return partly_packed((each, True) for each in entries)


def partly_packed(entries: Iterable[tuple[Listed, bool]]) -> Entries:
    """The same, of which those are packed of which it is said."""
    known = list(entries)
    rows = [at if is_packed else each for at, (each, is_packed) in enumerate(known)]
    return Entries(rows, table_of([each for each, _ in known]))
