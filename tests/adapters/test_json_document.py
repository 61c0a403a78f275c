"""The objects in one list of a JSON document, from the file as it is being read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.disk.lines import Line, LongLine
from agent_memory.adapters.harness.gemini import read_items

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=8) | st.just("items"), VALUES, max_size=4)


def pieces(data: bytes, max_item_bytes: int = 10_000, chunk_bytes: int = 7) -> list[Line | LongLine]:
    path = Path("document.json").absolute()
    path.write_bytes(data)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return list(read_items(descriptor, len(data), b"items", max_item_bytes, chunk_bytes))
    finally:
        os.close(descriptor)


def values(found: list[Line | LongLine]) -> list[object]:
    return [json.loads(bytes(piece.data)) for piece in found if isinstance(piece, Line)]


@settings(max_examples=120)
@given(
    items=st.lists(OBJECTS, max_size=5),
    before=VALUES,
    after=VALUES,
    indent=st.none() | st.just(2),
    ascii=st.booleans(),
    chunk_bytes=st.integers(1, 40),
)
def test_every_item_and_then_what_is_around_them(
    items: list[dict[str, object]], before: object, after: object, indent: int | None, ascii: bool, chunk_bytes: int
) -> None:
    document = {"before": before, "items": items, "after": after}
    data = json.dumps(document, indent=indent, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    found = pieces(data, chunk_bytes=chunk_bytes)
    *read, frame = [
        json.loads(bytes(piece.data).decode("utf-8", "surrogatepass")) for piece in found if isinstance(piece, Line)
    ]
    assert read == items
    assert frame == {"before": before, "items": [], "after": after}
    assert all(isinstance(piece, Line) and piece.finished for piece in found)


def test_a_list_of_that_name_further_inside_is_not_meant() -> None:
    found = pieces(b'{"a": {"items": [{"x": 1}]}, "b": "\\"items\\": [{", "items": [{"y": 2}]}')
    assert values(found)[0] == {"y": 2}
    assert len(found) == 2


def test_an_item_over_the_limit_is_skipped_and_told() -> None:
    found = pieces(json.dumps({"items": [{"x": "y" * 500}, {"z": 1}]}).encode(), max_item_bytes=100)
    assert isinstance(found[0], LongLine)
    assert found[0].size_bytes > 500
    assert values(found)[0] == {"z": 1}


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_document_cut_anywhere_gives_its_whole_items(cut: int) -> None:
    data = b'{"id": "a", "items": [{"x": [1, "}"]}, {"y": "\\"]"}], "b": {}}'[:cut]
    whole = [bytes(piece.data) for piece in pieces(data) if isinstance(piece, Line) and piece.finished]
    assert whole == [item for item in (b'{"x": [1, "}"]}', b'{"y": "\\"]"}') if item in data]


def test_of_a_document_cut_in_its_list_the_rest_is_closed() -> None:
    (*_, frame) = pieces(b'{"id": "a", "items": [{"x": 1}, {"y"')
    assert isinstance(frame, Line)
    assert not frame.finished
    assert json.loads(bytes(frame.data)) == {"id": "a", "items": []}


@pytest.mark.parametrize("data", [b"", b"]]}}", b"[[[[", b'"', b"\\\\", b"\x00\xff", b'{"items": [1, [2], "x"]}'])
def test_what_is_no_such_document_has_no_items(data: bytes) -> None:
    around = pieces(data)
    assert len(around) == (1 if data else 0)
