"""What was noticed in notes: `.cache/analysis` of the store. Derived: it may go at any time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agent_memory.adapters.analysis.content_rows import ContentRows
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.formats.noticed_rows import numbers_in, parse_row, render_row

CACHE_NAME = "analysis"
MAX_BYTES = 64 << 20
"""Of all rows: what is over is noticed anew each time."""


class NoticedFiles:
    """`ports.NoticedNotes` in a file. Where there is none, or it cannot be written, the notes are read again. No word is in it
    that no row numbers: a secret note, of which nothing is kept, leaves none there."""

    def __init__(self, root: Path, program: str, max_bytes: int = MAX_BYTES) -> None:
        self._rows = ContentRows(root, CACHE_NAME, program, max_bytes, self._words_of)
        self._words: Vocabulary | None = None

    @property
    def words(self) -> Vocabulary:
        """See the port."""
        if self._words is None:
            self._words = Vocabulary(self._rows.words)
        return self._words

    def recall(self, content_hash: str) -> Noticed | None:
        """See the port."""
        row = self._rows.recall(content_hash)
        return None if row is None else parse_row(row)

    def keep(self, content_hash: str, noticed: Noticed) -> None:
        """See the port."""
        self._rows.keep(content_hash, render_row(noticed))

    def save(self) -> None:
        """See the port."""
        self._rows.save()
        self._words = None  # another process may have numbered words by the time that the file is read again

    def _words_of(self, rows: Iterable[bytes]) -> Sequence[str]:
        numbers: set[int] = set()
        for row in rows:
            numbers.update(numbers_in(row))
        return self.words.words(numbers)
