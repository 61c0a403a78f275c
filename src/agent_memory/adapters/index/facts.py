"""Single values that the index keeps of itself. All are there from the first moment on: a missing one was lost."""

from __future__ import annotations

import sqlite3
from typing import Any

from agent_memory.adapters.index.seals import RuinedIndexError, check, seal

STATE = "state"
"""What both shelves looked like (`shelf_state`) when all their files had been taken in; None where they never were."""
NOTES = "notes"
"""How many notes there are."""
SEGMENTS = "segments"
"""The ids of all segments, joined by spaces."""
LAST_SEGMENT = "last segment"
"""The highest id that a segment ever had."""
LAST_NUMBER = "last number"
"""The highest number that a note ever had."""
FILES = "files"
"""What all rows of `files` come to (`known_files`)."""
MODEL = "model"
"""Whose vectors are there; empty before the first."""

_AT_FIRST = {STATE: None, NOTES: 0, SEGMENTS: "", LAST_SEGMENT: 0, LAST_NUMBER: 0, FILES: "0 0 0", MODEL: ""}


def put_first_facts(connection: sqlite3.Connection) -> None:
    """Those of an empty index."""
    for name, value in _AT_FIRST.items():
        put_fact(connection, name, value)


def fact(connection: sqlite3.Connection, name: str) -> Any:
    """One value. RuinedIndexError where it is not as it was written."""
    row = connection.execute("SELECT value, seal FROM about WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise RuinedIndexError
    check(row[1], _said(name, row[0]))
    return row[0]


def put_fact(connection: sqlite3.Connection, name: str, value: bytes | str | int | None) -> None:
    """Keep it instead of the one before."""
    row = (name, value, seal(_said(name, value)))
    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?, ?)", row)


def next_number(connection: sqlite3.Connection, name: str) -> int:
    """One more than the last: never one that was there before."""
    number = int(fact(connection, name)) + 1
    put_fact(connection, name, number)
    return number


def _said(name: str, value: object) -> str:
    return f"{name} {value!r}"
