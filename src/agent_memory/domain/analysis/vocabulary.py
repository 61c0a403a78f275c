"""Words as small numbers, so that the words of 50,000 entries fit in memory."""

from __future__ import annotations

from collections.abc import Iterable


class Vocabulary:
    """Numbers words in the order in which they are first met. The numbers say nothing: what is decided must not depend on
    them, but on the words (`word`)."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []

    def number(self, word: str) -> int:
        """The number of a word, always the same one."""
        known = self._numbers.get(word)
        if known is None:
            known = self._numbers[word] = len(self._words)
            self._words.append(word)
        return known

    def numbers(self, words: Iterable[str]) -> tuple[int, ...]:
        """The numbers of distinct words, ascending."""
        return tuple(sorted(map(self.number, words)))

    def word(self, number: int) -> str:
        """The word that has this number."""
        return self._words[number]

    def __len__(self) -> int:
        return len(self._words)
