from __future__ import annotations

import json

import pytest
from returns.result import Failure, Success

from agent_memory.formats.piece_vocabulary import parse_piece_vocabulary
from static_vectors import VOCABULARY, tokenizer_of


def test_the_vocabulary_is_read_and_no_more() -> None:
    written = tokenizer_of(VOCABULARY)
    assert parse_piece_vocabulary(written) == Success(VOCABULARY)
    assert parse_piece_vocabulary(written[: written.rfind(b"a b")]) == Success(VOCABULARY)


def test_pieces_with_braces_and_quotes_are_pieces() -> None:
    assert parse_piece_vocabulary(tokenizer_of({'"}': 1, "{": 2, "}": 3})) == Success({'"}': 1, "{": 2, "}": 3})


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b'"vocab":',
        b'{"vocab": {"a": 1',
        b'{"vocab": {"a": 1, "merges": []}',
        tokenizer_of({"a": "1"}),
        tokenizer_of({"a": True}),
        tokenizer_of({"a": {"b": 1}}),
        json.dumps({"model": {"vocab": [["a", 1]], "merges": []}}).encode(),
        b'{"vocab": ' + b'{"a":' * 100_000 + b'}, "merges":',
        b'{"vocab": {"\xff": 1}, "merges":',
    ],
)
def test_a_damaged_file_is_told(damaged: bytes) -> None:
    assert isinstance(parse_piece_vocabulary(damaged), Failure)
