"""`Embedder` over wordllama's static vectors: a text's is the mean of those of its word pieces.

What one write embeds is done without numpy, whose import takes 80 ms and 12 MB; more with it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from returns.result import Failure, Result, Success

from agent_memory.adapters.disk.io_errors import store_io
from agent_memory.adapters.embedding.installed_numpy import installed_numpy
from agent_memory.adapters.embedding.kept_pieces import pieces_kept_in
from agent_memory.adapters.embedding.weight_table import WeightTable, open_weight_table
from agent_memory.adapters.embedding.wordllama_files import WordllamaFiles, broken, find_wordllama_files
from agent_memory.domain.searching.query_meaning import WeighedWord
from agent_memory.domain.similarity.vectors import packed
from agent_memory.domain.similarity.word_pieces import WordPieces
from agent_memory.errors import Error
from agent_memory.formats.piece_vocabulary import parse_piece_vocabulary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RECIPE = 1
"""To be raised whenever a text would get another vector than before."""
_MOST_CHARS = 8_000
"""What follows in a longer text changes its mean little."""
_FEW_PIECES = 8_000
"""So many take about as long in pure Python as the import of numpy."""
_FEW_ROWS = 4_000
"""So many are read one by one in the time in which all are read at once, and all are 16 MB."""
_FREQUENT = 300
"""The pieces are numbered by frequency; number n counts n / (n + this) (measured: 91 -> 93 % of notes found)."""


class WordllamaEmbedder:
    """`Embedder` by static vectors: the same text always has the same vector, whatever else is embedded with it."""

    def __init__(self, table: WeightTable, pieces: WordPieces) -> None:
        self._table = table
        self._pieces = pieces
        self._embedded = 0
        """How many pieces were embedded so far."""

    @property
    def name(self) -> str:
        """See the port."""
        stem, _ = os.path.splitext(os.path.basename(self._table.path))
        return f"{stem}-{self._table.checksum}-{_RECIPE}"

    @property
    def dimensions(self) -> int:
        """See the port."""
        return self._table.place.columns

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        """See the port."""
        cut = [self._pieces.numbers(text[:_MOST_CHARS]) for text in texts]
        self._embedded += sum(map(len, cut))
        numpy = installed_numpy() if self._embedded > _FEW_PIECES else None
        try:
            sums = self._sums(cut) if numpy is None else self._many_sums(cut, numpy)
        except OSError as error:
            return Failure(store_io(error, "read", self._table.path))
        return Success(tuple(map(packed, sums)))

    def embed_words(self, words: Sequence[WeighedWord]) -> Result[bytes, Error]:
        """See the port."""
        cut = [(self._pieces.numbers(word[:_MOST_CHARS]), weight) for word, weight in words]
        total = [0.0] * self.dimensions
        try:
            rows = self._table.rows(number for numbers, _ in cut for number in numbers)
        except OSError as error:
            return Failure(store_io(error, "read", self._table.path))
        for numbers, weight in cut:
            for number in numbers:
                worth = weight * _weight(number)
                total = [one + worth * other for one, other in zip(total, rows[number], strict=True)]
        return Success(packed(total))

    def _sums(self, cut: Sequence[Sequence[int]]) -> list[Sequence[float]]:
        sums: list[Sequence[float]] = []
        for numbers in cut:
            rows = self._table.rows(numbers)  # of one text at a time: a row is 8 KB of Python's floats
            total = [0.0] * self.dimensions
            for number in numbers:
                weight = _weight(number)
                total = [one + weight * other for one, other in zip(total, rows[number], strict=True)]
            sums.append(total)
        return sums

    def _many_sums(self, cut: Sequence[Sequence[int]], numpy: Any) -> list[Sequence[float]]:
        weights = [numpy.array(list(map(_weight, numbers))) for numbers in cut]
        wanted = sorted({number for numbers in cut for number in numbers})
        if len(wanted) > _FEW_ROWS:
            rows, placed = self._whole_table, cut
        else:
            places = {number: at for at, number in enumerate(wanted)}
            rows = self._as_rows(self._table.joined(wanted), len(wanted))
            placed = [[places[number] for number in numbers] for numbers in cut]
        return [(weight @ rows[list(numbers)]).tolist() for weight, numbers in zip(weights, placed, strict=True)]

    @cached_property
    def _whole_table(self) -> NDArray[np.float16]:
        return self._as_rows(self._table.whole(), self._table.place.rows)

    def _as_rows(self, data: bytes, count: int) -> NDArray[np.float16]:
        import numpy

        return numpy.frombuffer(data, dtype="<f2").reshape(count, self._table.place.columns)


def open_wordllama(root: str | None = None) -> Result[WordllamaEmbedder, str]:
    """The embedder of the installed package; else a sentence that says why there is none. No network, no exception. In the
    store at `root` is kept what makes opening it the next time quick."""
    return find_wordllama_files().bind(lambda files: open_embedder_of(files, root))


def open_embedder_of(files: WordllamaFiles, root: str | None = None) -> Result[WordllamaEmbedder, str]:
    """The embedder over these files; else a sentence that says what is wrong with them."""

    def over(table: WeightTable) -> Result[WordllamaEmbedder, str]:
        def read() -> Result[dict[str, int], str]:
            return _vocabulary(files.tokenizer).bind(lambda found: _fitting(found, table, files.tokenizer))

        vocabulary = pieces_kept_in(root, files.tokenizer, table.place.rows, read)
        return vocabulary.map(lambda found: WordllamaEmbedder(table, WordPieces(found)))

    return open_weight_table(files.weights).bind(over).alt(broken)


def _vocabulary(path: str) -> Result[dict[str, int], str]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        return Failure(f"{path} cannot be read: {error.strerror}")
    return parse_piece_vocabulary(data).alt(lambda problem: f"{path}: {problem}")


def _fitting(vocabulary: dict[str, int], table: WeightTable, path: str) -> Result[dict[str, int], str]:
    rows = table.place.rows
    if not vocabulary or min(vocabulary.values()) < 0 or max(vocabulary.values()) >= rows:
        return Failure(f"{path}: its vocabulary does not fit the {rows:,} vectors")
    return Success(vocabulary)


def _weight(number: int) -> float:
    return number / (number + _FREQUENT)
