from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.recall.embedding import WordPieces
from static_vectors import VOCABULARY

NAMES = {number: piece for piece, number in VOCABULARY.items()}


def pieces(text: str) -> list[str]:
    return [NAMES[number] for number in WordPieces(VOCABULARY).numbers(text)]


def test_the_pieces_with_the_lowest_numbers_are_merged_first() -> None:
    assert pieces("cdab") == ["▁", "cd", "ab"]


def test_a_character_that_the_vocabulary_lacks_is_its_bytes() -> None:
    assert pieces("é") == ["▁", "<0xC3>", "<0xA9>"]
    assert pieces("é") == ["▁", "<0xC3>", "<0xA9>"]


def test_what_the_vocabulary_lacks_altogether_is_left_out() -> None:
    without_bytes = {piece: number for piece, number in VOCABULARY.items() if not piece.startswith("<")}
    assert WordPieces(without_bytes).numbers("é a") == [VOCABULARY["▁"], VOCABULARY["▁a"]]


@settings(max_examples=60)
@given(st.text("abcd é", max_size=30))
def test_pieces_are_those_of_the_tokenizers_library(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    by_number = sorted((number, piece) for piece, number in VOCABULARY.items() if number >= 259 and len(piece) > 1)
    merges = [
        (piece[:cut], piece[cut:])
        for _, piece in by_number
        for cut in range(1, len(piece))
        if piece[:cut] in VOCABULARY and piece[cut:] in VOCABULARY
    ]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(VOCABULARY, merges, byte_fallback=True, unk_token="<unk>"))
    theirs.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")]
    )
    plain = " ".join(text.split())
    assert WordPieces(VOCABULARY).numbers(plain) == (theirs.encode(plain).ids if plain else [])
