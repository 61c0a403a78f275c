"""A document of many rows is printed as if it had been there whole."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from agent_memory.surfaces.console import Console


class Stream(io.StringIO):
    encoding = "utf-8"


class AsciiStream(io.StringIO):
    encoding = "ascii"


def row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "title": 'Größe\n"記憶" ]',
        "tags": ["x"] * (number % 3),
        "sources": [{"turns": []}],
        "none": {},
    }


@pytest.mark.parametrize("count", [0, 1, 2, 500, 501, 1_203])
@pytest.mark.parametrize("stream", [Stream, AsciiStream])
def test_it_is_what_the_encoder_makes_of_the_whole(count: int, stream: type[io.StringIO]) -> None:
    rest = {"unreadable": [{"path": "ü"}], "more": []}
    out = stream()
    Console(out, stream(), json=True).document_of("entries", map(row, range(count)), rest)
    whole = {"entries": [row(number) for number in range(count)], **rest}
    assert out.getvalue() == json.dumps(whole, ensure_ascii=stream is AsciiStream, indent=2) + "\n"


def test_for_people_no_row_is_even_made() -> None:
    out = Stream()
    Console(out, Stream()).document_of("entries", (pytest.fail("made") for _ in range(1)), {})
    assert out.getvalue() == ""
