"""One pass over a text for many keywords: a single expression with the keywords' common beginnings shared.

A flat alternation of 300 words tries each of them at each character; sharing the beginnings leaves some thirty tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

_Trie: TypeAlias = "dict[str, _Trie]"

_END = ""
_SHORT_CHARS, _SHORT_TEXTS = 2_048, 80
"""To look for every word in so many texts of this length takes about as long as to compile the expression of all words."""


def _trie_of(words: Iterable[str]) -> _Trie:
    trie: _Trie = {}
    for word in words:
        node = trie
        for character in word:
            node = node.setdefault(character, {})
        node[_END] = {}
    return trie


def _expression_of(trie: _Trie) -> str:
    branches = [re.escape(character) + _expression_of(rest) for character, rest in sorted(trie.items()) if character]
    if not branches:
        return ""
    body = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
    return f"(?:{body})?" if _END in trie else body


def _pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """Matches the longest of `words`; no look-ahead, so that the search skips what no word begins with."""
    return re.compile(_expression_of(_trie_of(words)))


class KeywordSearch:
    """Finds words in lower case. The expression of all of them is compiled for long texts, and for whoever searches many: until
    then it is quicker to see which words are in a text at all, and most often that is none."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(words)
        self._short_texts = 0
        self._whole: re.Pattern[str] | None = None

    def hits(self, low: str) -> Iterator[tuple[int, str]]:
        """Where a word begins and which, the longest, at every place, also inside another one."""
        pattern = self._pattern_for(low)
        found = pattern.search(low) if pattern is not None else None
        while pattern is not None and found is not None:
            yield found.start(), found.group()
            found = pattern.search(low, found.start() + 1)

    def _pattern_for(self, low: str) -> re.Pattern[str] | None:
        if self._whole is None and len(low) <= _SHORT_CHARS and self._short_texts < _SHORT_TEXTS:
            self._short_texts += 1
            there = [word for word in self._words if word in low]
            return _pattern_of(there) if there else None
        if self._whole is None:
            self._whole = _pattern_of(self._words)
        return self._whole


def lowered(text: str) -> str:
    """`text` in lower case with every character at its old index (`İ` alone would become two)."""
    return text.replace("İ", "i").lower()
