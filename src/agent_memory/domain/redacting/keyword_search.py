"""One pass over a text for many keywords: a single expression with the keywords' common beginnings shared.

A flat alternation of 300 words tries each of them at each character; sharing the beginnings leaves some thirty tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

_Trie: TypeAlias = "dict[str, _Trie]"

_END = ""


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


def keyword_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Matches the longest of `words`; no look-ahead, so that the search skips what no word begins with."""
    return re.compile(_expression_of(_trie_of(words)))


def keyword_hits(pattern: re.Pattern[str], low: str) -> Iterator[tuple[int, str]]:
    """Where a word begins and which, at every place, also inside another one."""
    found = pattern.search(low)
    while found:
        yield found.start(), found.group()
        found = pattern.search(low, found.start() + 1)


def lowered(text: str) -> str:
    """`text` in lower case with every character at its old index (`İ` alone would become two)."""
    return text.replace("İ", "i").lower()
