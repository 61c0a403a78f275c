"""The stem of an English word is that of the published stemmer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

from agent_memory.domain.searching.english_stem import english_stem

PUBLISHED = EnglishStemmer()
_ENDINGS = """
    s es ed ing ly ness ation ational ization ful fully fulness ous ously ousness ive iveness iviti al ally alism aliti ist
    ogist ogi ogy er or y ies ied eed eedly edly ingly ement ment ent entli ence enci ance anci able abli ible ibly ic ical
    icate iciti ative alize iciti ll e yy tional lessli li bli biliti izer ator
"""
_STARTS = "commun gener arsen past univers later emerg organ inter succ proc exc even cann inn earr herr out dy ly"
ENDINGS, STARTS = ["", *_ENDINGS.split()], ["", *_STARTS.split()]

words = st.builds(
    "".join,
    st.tuples(st.sampled_from(STARTS), st.text("aeioyybcdlnstgmr", max_size=6), st.sampled_from(ENDINGS)),
)


@settings(max_examples=500)
@given(words)
def test_made_up_words_have_the_published_stem(word: str) -> None:
    assert english_stem(word) == PUBLISHED.stemWord(word)


@pytest.mark.shared
def test_the_words_of_real_texts_have_the_published_stem(shared: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in shared.glob("*.md"))
    real = set(re.findall(r"[a-z]+", text.lower()))
    assert len(real) > 1_000
    assert {word: english_stem(word) for word in real} == {word: PUBLISHED.stemWord(word) for word in real}


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("migrations", "migrat"),
        ("running", "run"),
        ("skies", "sky"),
        ("dying", "die"),
        ("happily", "happili"),
        ("is", "is"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(word: str, stem: str) -> None:
    assert english_stem(word) == stem
