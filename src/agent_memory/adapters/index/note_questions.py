"""What the index knows of single notes: what is listed of each, and the lengths of its fields."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from agent_memory.adapters.index.number_rows import rows_of
from agent_memory.adapters.index.seals import check, seal
from agent_memory.adapters.index.segments import LiveNotes
from agent_memory.domain.searching.indexed_note import IndexedNote
from agent_memory.formats.listed_json import parse_listed

_SELECT = "SELECT number, terms, listed, seal FROM notes"


def note_row(number: int, terms: str, listed: str) -> tuple[int, str, str, int]:
    """The row of a note."""
    return number, terms, listed, seal(f"{number} {terms} {listed}")


def listed_of(connection: sqlite3.Connection, number: int) -> str:
    """What is listed of a note, as it was rendered. RuinedIndexError where it is not as it was written, or not there."""
    ((_, terms, listed, sealed),) = rows_of(connection, _SELECT, (number,))
    check(sealed, f"{number} {terms} {listed}")
    return str(listed)


def indexed_notes(connection: sqlite3.Connection, live: LiveNotes, numbers: Sequence[int]) -> Mapping[int, IndexedNote]:
    """What is known of those of the numbers that are notes. RuinedIndexError for one that is not as it was written."""
    found: dict[int, IndexedNote] = {}
    there = live.those_among(sorted(numbers))
    for number, terms, listed, sealed in rows_of(connection, _SELECT, there):
        check(sealed, f"{number} {terms} {listed}")
        one, two, three, four = map(int, terms.split())
        found[number] = IndexedNote(number, parse_listed(listed), (one, two, three, four))
    return found
