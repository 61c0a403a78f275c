from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.formats import piece_table
from agent_memory.formats.piece_table import parse_piece_table, render_piece_table

VOCABULARY = {"▁": 0, "▁zebra": 7, "lock": 3, "<0x0A>": 2**32 - 1, "\n": 5, "": 9, "\ud800": 11}
pieces = st.text(st.characters(exclude_categories=()), max_size=6)
vocabularies = st.dictionaries(pieces, st.integers(0, 2**32 - 1), max_size=40)


@settings(max_examples=150)
@given(vocabularies, st.lists(pieces, max_size=20))
def test_each_piece_has_its_number_and_nothing_else_has_one(vocabulary: dict[str, int], others: list[str]) -> None:
    table = parse_piece_table(render_piece_table(vocabulary, "here"), "here")
    assert table is not None
    for piece in (*vocabulary, *others):
        assert table.get(piece) == vocabulary.get(piece)


def test_many_pieces_are_found_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piece_table, "_FEW_LOOKUPS", 3)
    table = parse_piece_table(render_piece_table(VOCABULARY, "here"), "here")
    assert table is not None
    for _ in range(2):
        assert [table.get(piece) for piece in (*VOCABULARY, "none", "▁zebr")] == [*VOCABULARY.values(), None, None]


def test_a_table_of_something_else_is_none() -> None:
    assert parse_piece_table(render_piece_table(VOCABULARY, "here 1"), "here 2") is None


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 40, -1])
def test_a_table_that_is_cut_is_none(length: int) -> None:
    assert parse_piece_table(render_piece_table(VOCABULARY, "here")[:length], "here") is None


def test_a_flipped_bit_is_seen_wherever_it_is_p6() -> None:
    written = render_piece_table(VOCABULARY, "here")
    for at in range(len(written)):
        damaged = bytearray(written)
        damaged[at] ^= 1 << at % 8
        assert parse_piece_table(bytes(damaged), "here") is None


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_other_bytes_are_no_table(data: bytes) -> None:
    assert parse_piece_table(data, "here") is None
