"""Words as small numbers, so that the words of 50,000 entries fit in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count


class Vocabulary:
    """Numbers words in the order in which they are first met. The numbers say nothing: what is decided must not depend on
    them, but on the words (`word`)."""

    def __init__(self) -> None:
        # A million words are looked up without a step of Python each.
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words: list[str] = []

    def number(self, word: str) -> int:
        """The number of a word, always the same one."""
        return self._numbers[word]

    def numbers(self, words: Iterable[str]) -> tuple[int, ...]:
        """The numbers of distinct words, ascending."""
        return tuple(sorted(map(self._numbers.__getitem__, words)))

    def word(self, number: int) -> str:
        """The word that has this number."""
        if number >= len(self._words):
            self._words = list(self._numbers)
        return self._words[number]

    def __len__(self) -> int:
        return len(self._words)
