"""Every keyword of every rule is found in one pass, wherever it stands."""

from __future__ import annotations

import pytest

from agent_memory.domain.redacting.keyword_search import KeywordSearch, lowered
from agent_memory.domain.redaction import RULES

_KEYWORDS = sorted({keyword for rule in RULES for keyword in rule.keywords})
_LONG = " " * 5_000
"""Behind which a text is searched for all words by one expression."""


@pytest.mark.parametrize("behind", ["", _LONG], ids=["short", "long"])
def test_p20_every_keyword_is_found(behind: str) -> None:
    search = KeywordSearch(_KEYWORDS)
    assert len(_KEYWORDS) > 300
    assert [word for word in _KEYWORDS if (1, word) not in search.hits(f"-{word}\0{behind}")] == []


@pytest.mark.parametrize("behind", ["", _LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    ("words", "text", "hits"),
    [
        (["ab"], "abab", [(0, "ab"), (2, "ab")]),
        (["ab", "ac"], "abac", [(0, "ab"), (2, "ac")]),
        (["a", "abc"], "ababc", [(0, "a"), (2, "abc")]),
        (["a", "ab", "ac"], "acaba", [(0, "ac"), (2, "ab"), (4, "a")]),
        (["a.", "b"], "a.bab", [(0, "a."), (2, "b"), (4, "b")]),
        (["abcd", "bc", "c"], "abcd", [(0, "abcd"), (1, "bc"), (2, "c")]),
        (["a", "b"], "cd", []),
    ],
)
def test_words_are_found_inside_others_too(
    words: list[str], text: str, hits: list[tuple[int, str]], behind: str
) -> None:
    assert list(KeywordSearch(words).hits(text + behind)) == hits


def test_whoever_searches_many_texts_finds_the_same_in_each() -> None:
    search = KeywordSearch(["ab", "b"])
    assert {tuple(search.hits("xab")) for _ in range(200)} == {((1, "ab"), (2, "b"))}


def test_capitals_are_read_as_small_letters_each_in_its_place() -> None:
    assert lowered("İAPI_KEYÄ") == "iapi_keyä"
