from __future__ import annotations

import json

import pytest
from returns.result import Failure, Success

from agent_memory.formats.tensor_file import TensorPlace, header_bytes, parse_table


def header(**changes: object) -> bytes:
    return json.dumps({"t": {"dtype": "F16", "shape": [3, 2], "data_offsets": [0, 12]} | changes}).encode()


def test_the_place_of_a_table_is_behind_the_header() -> None:
    written = header()
    place = TensorPlace(8 + len(written), 3, 2)
    assert parse_table(written, "t") == Success(place)
    assert (place.row_bytes, place.end) == (4, 8 + len(written) + 12)


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        header(dtype="F32"),
        header(shape=[3]),
        header(shape=[3, 2, 1]),
        header(shape=[3, 4]),
        header(shape=[True, 12]),
        header(shape=[0, 0], data_offsets=[0, 0]),
        header(shape=[-3, -2]),
        header(data_offsets=[0, "12"]),
        json.dumps({"t": None}).encode(),
        json.dumps({"u": {}}).encode(),
    ],
)
def test_a_damaged_header_is_told(damaged: bytes) -> None:
    assert isinstance(parse_table(damaged, "t"), Failure)


def test_the_length_of_the_header_is_bounded() -> None:
    assert header_bytes((90).to_bytes(8, "little")) == Success(90)
    for first in (b"", b"\x00" * 8, b"\xff" * 8, b"\x01"):
        assert isinstance(header_bytes(first), Failure)
