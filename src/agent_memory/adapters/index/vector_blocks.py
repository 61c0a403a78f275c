"""The vectors of notes, those of neighbouring numbers in one block. A block that is lost is as if none had been made."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from agent_memory.adapters.index.facts import MODEL, fact, put_fact
from agent_memory.adapters.index.seals import check, seal
from agent_memory.adapters.index.segments import LiveNotes
from agent_memory.domain.searching.indexed_note import Vectors

_BLOCK_BITS = 7
"""So many numbers, as a power of two, share a block: one note more writes some 30 KB."""


def vectors_of(connection: sqlite3.Connection, live: LiveNotes, model: str) -> Vectors:
    """The vectors of a model."""
    if fact(connection, MODEL) != model:
        return Vectors((), ())
    rows = connection.execute("SELECT block, numbers, lengths, rows, seal FROM vectors ORDER BY block").fetchall()
    there = set(live.numbers())
    found = [pair for row in rows for pair in _pairs(model, *row) if pair[0] in there]
    return Vectors(tuple([number for number, _ in found]), tuple([vector for _, vector in found]))


def numbers_without_vector(connection: sqlite3.Connection, live: LiveNotes, model: str) -> tuple[int, ...]:
    """The notes that have no vector of this model."""
    if fact(connection, MODEL) != model:
        return tuple(live.numbers())
    known: set[int] = set()
    for (numbers,) in connection.execute("SELECT numbers FROM vectors").fetchall():
        known.update(_numbers(numbers))
    return tuple([number for number in live.numbers() if number not in known])


def put_vectors(connection: sqlite3.Connection, live: LiveNotes, model: str, vectors: Mapping[int, bytes]) -> None:
    """Keep these; see the port."""
    if fact(connection, MODEL) != model:
        connection.execute("DELETE FROM vectors")
        put_fact(connection, MODEL, model)
    for block, numbers in _by_block(live.those_among(sorted(vectors))):
        known = _block(connection, model, block)
        there = live.those_among(sorted(known))
        _put(connection, model, block, {**{n: known[n] for n in there}, **{n: vectors[n] for n in numbers}})


def drop_vectors(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Those of notes that are no more."""
    model = str(fact(connection, MODEL))
    for block, some in _by_block(numbers):
        known = _block(connection, model, block)
        out = known.keys() & set(some)
        if out:
            _put(connection, model, block, {number: row for number, row in known.items() if number not in out})


def _by_block(numbers: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    for block, some in groupby(sorted(numbers), key=lambda number: number >> _BLOCK_BITS):
        yield block, list(some)


def _block(connection: sqlite3.Connection, model: str, block: int) -> dict[int, bytes]:
    sql = "SELECT block, numbers, lengths, rows, seal FROM vectors WHERE block = ?"
    row = connection.execute(sql, (block,)).fetchone()
    return {} if row is None else dict(_pairs(model, *row))


def _put(connection: sqlite3.Connection, model: str, block: int, vectors: Mapping[int, bytes]) -> None:
    if not vectors:
        connection.execute("DELETE FROM vectors WHERE block = ?", (block,))
        return
    numbers, rows = zip(*sorted(vectors.items()), strict=True)
    runs = array("Q", numbers).tobytes(), array("I", map(len, rows)).tobytes(), b"".join(rows)
    row = (block, *runs, seal(f"{model} {block}", *runs))
    connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", row)


def _pairs(
    model: str, block: int, numbers: bytes, lengths: bytes, rows: bytes, sealed: int
) -> Iterator[tuple[int, bytes]]:
    check(sealed, f"{model} {block}", numbers, lengths, rows)
    at = 0
    for number, length in zip(_numbers(numbers), memoryview(lengths).cast("I"), strict=True):
        yield number, rows[at : at + length]
        at += length


def _numbers(run: bytes) -> array[int]:
    found: array[int] = array("Q")
    found.frombytes(run)
    return found
