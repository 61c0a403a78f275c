"""Which terms a segment has, in order, and how many of its notes have each: some hundred of them a block.

A block says where it begins and where the next one does, so that nobody takes a term for absent whose block is lost.
"""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from operator import attrgetter

from agent_memory.adapters.index.seals import RuinedIndexError, check
from agent_memory.values import define, field, frozen


def block_said(segment: int, first: str, after: str | None, terms: str) -> str:
    """What the checksum of a block is of, beside its counts."""
    return f"{segment}\n{first}\n{after}\n{terms}"


@frozen
class Block:
    """Some terms, in order."""

    first: str
    after: str | None
    """Where the next block begins; None where there is none."""
    terms: list[str]
    dfs: array[int]


@define
class Vocabularies:
    """Those of all segments, read block by block where they are asked for."""

    connection: sqlite3.Connection
    _blocks: dict[int, list[Block]] = field(factory=dict[int, list[Block]])

    def has(self, segment: int, term: str) -> bool:
        """Whether a segment has this term."""
        terms = self._block(segment, term).terms
        at = bisect_left(terms, term)
        return at < len(terms) and terms[at] == term

    def between(self, segment: int, low: str, high: str) -> Iterator[tuple[list[str], array[int]]]:
        """The terms of a segment from the one on and below the other, in order, and how many of its notes have each; some
        at a time."""
        while True:
            block = self._block(segment, low)
            start, end = bisect_left(block.terms, low), bisect_left(block.terms, high)
            yield block.terms[start:end], block.dfs[start:end]
            if block.after is None or block.after >= high:
                return
            low = block.after

    def _block(self, segment: int, term: str) -> Block:
        """The block that has the term, if any has it. RuinedIndexError for one that is not as it was written, or not there."""
        known = self._blocks.setdefault(segment, [])
        at = bisect_right(known, term, key=_first_of) - 1
        if at >= 0 and _covers(known[at], term):
            return known[at]
        found = self._read(segment, term)
        insort(known, found, key=_first_of)
        return found

    def _read(self, segment: int, term: str) -> Block:
        sql = """
            SELECT first, after, seal, terms, dfs FROM vocabulary WHERE segment = ? AND first <= ?
            ORDER BY first DESC LIMIT 1
        """
        row = self.connection.execute(sql, (segment, term)).fetchone()
        if row is None:
            raise RuinedIndexError
        first, after, sealed, terms, run = row
        check(sealed, block_said(segment, first, after, terms), run)
        dfs: array[int] = array("I")
        dfs.frombytes(run)
        block = Block(first, after, terms.split("\n") if terms else [], dfs)
        if not _covers(block, term):
            raise RuinedIndexError
        return block


_first_of = attrgetter("first")


def _covers(block: Block, term: str) -> bool:
    return block.first <= term and (block.after is None or term < block.after)
