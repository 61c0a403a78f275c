"""Words as small numbers, so that the words of 50,000 entries fit in memory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count

UNUSED = ""
"""Stands in a list of words where a number has no word."""


class Vocabulary:
    """Numbers words as they are met. The numbers say nothing: what is decided must not depend on them, but on the words
    (`word`)."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        """With words that have their numbers, as `words` told them: their places. New words take those that are not used."""
        unused = [number for number, word in enumerate(words) if word == UNUSED]
        # A million words are looked up without a step of Python each.
        self._numbers: defaultdict[str, int] = defaultdict(chain(unused, count(len(words))).__next__)
        self._numbers.update(zip(words, range(len(words)), strict=True))
        self._numbers.pop(UNUSED, None)
        self._words = list(words)

    def number(self, word: str) -> int:
        """The number of a word, always the same one."""
        return self._numbers[word]

    def numbers(self, words: Iterable[str]) -> array[int]:
        """The numbers of distinct words, ascending."""
        return array("I", sorted(map(self._numbers.__getitem__, words)))

    def word(self, number: int) -> str:
        """The word that has this number."""
        if number >= len(self._words) or self._words[number] == UNUSED:
            self._words = self.words()
        return self._words[number]

    def words(self, among: Collection[int] | None = None) -> list[str]:
        """All words, each at the place that its number says; with `among` only those that have one of these numbers."""
        words = [UNUSED] * (max(self._numbers.values(), default=-1) + 1)
        for word, number in self._numbers.items():
            if among is None or number in among:
                words[number] = word
        return words
