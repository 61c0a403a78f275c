"""`Embedder` in memory: each word is a random direction of its own, so texts are near as far as they share words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from returns.result import Result, Success

from agent_memory.errors import Error
from agent_memory.recall.embedding import packed
from agent_memory.text.salience import content_sequence

WeighedWord = tuple[str, float]


class DictEmbedder:
    """Deterministic and without a model. `meanings` gives words that are to mean the same one name."""

    def __init__(self, meanings: dict[str, str] | None = None, dimensions: int = 64, name: str = "words") -> None:
        self.name = name
        self.dimensions = dimensions
        self._meanings = meanings or {}

    def embed(self, texts: Sequence[str]) -> Result[tuple[bytes, ...], Error]:
        return Success(tuple(map(self._vector, texts)))

    def embed_words(self, words: Sequence[WeighedWord]) -> Result[bytes, Error]:
        weighed = ((each, weight) for word, weight in words for each in content_sequence(word))
        return Success(self._sum(weighed))

    def _vector(self, text: str) -> bytes:
        return self._sum((word, 1.0) for word in content_sequence(text))

    def _sum(self, words: Iterable[WeighedWord]) -> bytes:
        directions = [(self._direction(self._meanings.get(word, word)), weight) for word, weight in words]
        parts = [[weight * part for part in direction] for direction, weight in directions]
        return packed([float(sum(each)) for each in zip(*parts, strict=True)] or [0.0] * self.dimensions)

    def _direction(self, word: str) -> tuple[int, ...]:
        digest = hashlib.shake_256(word.encode("utf-8", "surrogatepass")).digest(self.dimensions)
        return tuple(byte - 128 for byte in digest)
