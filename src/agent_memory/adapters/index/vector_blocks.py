"""The vectors of notes, those of neighbouring numbers in one block. A block that is lost is as if none had been made."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from agent_memory.adapters.index.facts import MODEL, fact, put_fact
from agent_memory.adapters.index.seals import RuinedIndexError, check, seal
from agent_memory.adapters.index.segments import LiveNotes
from agent_memory.domain.searching.indexed_note import Vectors
from agent_memory.domain.similarity.vector_rows import VectorRows, rows_of

_BLOCK_BITS = 7
"""So many numbers, as a power of two, share a block: one note more writes some 30 KB."""
_COLUMNS = "block, numbers, squares, unit_sum, rows, seal"


def vectors_of(connection: sqlite3.Connection, live: LiveNotes, model: str) -> Vectors:
    """The vectors of a model."""
    if fact(connection, MODEL) != model:
        return Vectors((), VectorRows())
    there = set(live.numbers())
    found = connection.execute(f"SELECT {_COLUMNS} FROM vectors ORDER BY block").fetchall()
    blocks = [each for row in found if (each := _those_in(there, _block_of(model, *row))).numbers]
    if len({len(block.rows.unit_sum) for block in blocks}) > 1:
        raise RuinedIndexError
    numbers = [number for block in blocks for number in block.numbers]
    squares = [square for block in blocks for square in block.rows.squares]
    sums = [block.rows.unit_sum for block in blocks]
    together = VectorRows(
        b"".join([block.rows.data for block in blocks]), squares, list(map(sum, zip(*sums, strict=True)))
    )
    return Vectors(numbers, together)


def numbers_without_vector(connection: sqlite3.Connection, live: LiveNotes, model: str) -> tuple[int, ...]:
    """The notes that have no vector of this model."""
    if fact(connection, MODEL) != model:
        return tuple(live.numbers())
    known: set[int] = set()
    for (numbers,) in connection.execute("SELECT numbers FROM vectors").fetchall():
        known.update(memoryview(numbers).cast("Q"))
    return tuple([number for number in live.numbers() if number not in known])


def put_vectors(connection: sqlite3.Connection, live: LiveNotes, model: str, vectors: Mapping[int, bytes]) -> None:
    """Keep these; see the port."""
    if fact(connection, MODEL) != model:
        connection.execute("DELETE FROM vectors")
        put_fact(connection, MODEL, model)
    for block, numbers in _by_block(live.those_among(sorted(vectors))):
        known = _known(connection, model, block)
        there = live.those_among(sorted(known))
        _put(connection, model, block, {**{n: known[n] for n in there}, **{n: vectors[n] for n in numbers}})


def drop_vectors(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Those of notes that are no more."""
    model = str(fact(connection, MODEL))
    for block, some in _by_block(numbers):
        known = _known(connection, model, block)
        out = known.keys() & set(some)
        if out:
            _put(connection, model, block, {number: row for number, row in known.items() if number not in out})


def _by_block(numbers: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    for block, some in groupby(sorted(numbers), key=lambda number: number >> _BLOCK_BITS):
        yield block, list(some)


def _known(connection: sqlite3.Connection, model: str, block: int) -> dict[int, bytes]:
    row = connection.execute(f"SELECT {_COLUMNS} FROM vectors WHERE block = ?", (block,)).fetchone()
    return {} if row is None else _by_number(_block_of(model, *row))


def _put(connection: sqlite3.Connection, model: str, block: int, vectors: Mapping[int, bytes]) -> None:
    if not vectors:
        connection.execute("DELETE FROM vectors WHERE block = ?", (block,))
        return
    made = _made(vectors)
    known = array("Q", made.numbers), array("I", made.rows.squares), array("d", made.rows.unit_sum)
    runs = [*(each.tobytes() for each in known), made.rows.data]
    row = (block, *runs, seal(f"{model} {block}", *runs))
    connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?)", row)


def _made(vectors: Mapping[int, bytes]) -> Vectors:
    in_order = dict(sorted(vectors.items()))
    return Vectors(tuple(in_order), rows_of(tuple(in_order.values())))


def _block_of(model: str, block: int, numbers: bytes, squares: bytes, sums: bytes, rows: bytes, sealed: int) -> Vectors:
    check(sealed, f"{model} {block}", numbers, squares, sums, rows)
    there = memoryview(numbers).cast("Q")
    known = VectorRows(rows, memoryview(squares).cast("I"), memoryview(sums).cast("d"))
    if len(rows) != len(there) * len(known.unit_sum):
        raise RuinedIndexError
    return Vectors(there, known)


def _those_in(there: set[int], block: Vectors) -> Vectors:
    """The block without what is no more, which is taken out of the index later."""
    if there.issuperset(block.numbers):
        return block
    return _made({number: vector for number, vector in _by_number(block).items() if number in there})


def _by_number(block: Vectors) -> dict[int, bytes]:
    return dict(zip(block.numbers, block.rows.each(), strict=True))
