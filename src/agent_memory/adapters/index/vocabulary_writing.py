"""Writing what `vocabulary` reads."""

from __future__ import annotations

import sqlite3
from array import array

from agent_memory.adapters.index.seals import seal
from agent_memory.adapters.index.vocabulary import block_said
from agent_memory.values import define, field

_BLOCK_TERMS = 256
_BEFORE_ALL = ""


@define
class VocabularyDraft:
    """The vocabulary of a segment to be."""

    connection: sqlite3.Connection
    segment: int
    count: int = 0
    """Terms so far."""
    _first: str = _BEFORE_ALL
    _terms: list[str] = field(factory=list[str])
    _dfs: list[int] = field(factory=list[int])

    def add(self, term: str, df: int) -> None:
        """One term more; they ascend."""
        if len(self._terms) == _BLOCK_TERMS:
            self._write(term)
        self._terms.append(term)
        self._dfs.append(df)
        self.count += 1

    def finish(self) -> None:
        """There are no more."""
        self._write(None)

    def _write(self, after: str | None) -> None:
        terms, dfs = "\n".join(self._terms), array("I", self._dfs).tobytes()
        sealed = seal(block_said(self.segment, self._first, after, terms), dfs)
        row = (self.segment, self._first, after, sealed, terms, dfs)
        self.connection.execute("INSERT INTO vocabulary VALUES (?, ?, ?, ?, ?, ?)", row)
        self._first = after or _BEFORE_ALL
        self._terms, self._dfs = [], []
