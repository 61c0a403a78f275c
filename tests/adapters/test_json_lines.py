"""The objects in a line of a transcript."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.adapters.disk.lines import LONG_STRING_BYTES, Objects, objects_in

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
RECORDS = st.dictionaries(st.text(min_size=1, max_size=6), VALUES, min_size=1, max_size=4)


@settings(max_examples=60)
@given(records=st.lists(RECORDS, min_size=1, max_size=4), ascii_only=st.booleans())
def test_objects_glued_together_are_all_found(records: list[dict[str, object]], ascii_only: bool) -> None:
    line = "".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    assert objects_in(line.encode("utf-8", "surrogatepass")).found[: len(records)] == tuple(records)


@settings(max_examples=100)
@given(stump=RECORDS, record=RECORDS, cut=st.integers(1, 60))
def test_a_record_after_a_stump_is_found_or_nothing_is(
    stump: dict[str, object], record: dict[str, object], cut: int
) -> None:
    whole, cut_short = json.dumps(record), json.dumps(stump)
    found = objects_in((cut_short[: min(cut, len(cut_short) - 1)] + whole).encode()).found
    assert found in ((), (record,)) or found[-1] in [record, *_nested(record)]


def _nested(value: object) -> list[object]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [*inner, *(each for item in inner for each in _nested(item))]


@settings(max_examples=150)
@given(st.binary(max_size=200))
def test_no_line_raises(line: bytes) -> None:
    assert isinstance(objects_in(line), Objects)


@pytest.mark.parametrize("line", [b"", b"  \r", b"\x00\x00", b"\xef\xbb\xbf"])
def test_a_blank_line_holds_nothing_and_is_not_broken(line: bytes) -> None:
    assert objects_in(line) == Objects()


def test_a_line_end_of_windows_and_a_byte_order_mark_do_no_harm() -> None:
    assert objects_in(b'\xef\xbb\xbf{"a": 1}\r') == Objects(({"a": 1},))


@pytest.mark.parametrize("line", [b"{" * 200_000, b"[" * 200_000, b'{"a":' * 50_000, b'{"n": ' + b"9" * 5_000 + b"}"])
def test_a_bomb_is_a_broken_line(line: bytes) -> None:
    assert objects_in(line).broken


def test_prose_of_many_megabytes_is_no_line_of_many_values() -> None:
    text = 'He said: "no, [see] it", then {"x"} left. ' * 60_000
    assert len(objects_in(json.dumps({"text": text}).encode()).found) == 1


@pytest.mark.parametrize("escape", ["\\n", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", ""])
def test_of_a_very_long_string_both_ends_are_kept(escape: str) -> None:
    """P25"""
    line = b'{"text": "HEAD' + (escape + "harbour lights ").encode() * 150_000 + b'TAIL", "after": "\\"x"}'
    objects = objects_in(line)
    assert not objects.broken
    text = objects.found[0]["text"]
    assert isinstance(text, str)
    assert text.startswith("HEAD")
    assert text.endswith("TAIL")
    assert "bytes left out" in text
    assert len(text) < LONG_STRING_BYTES * 1.1
    assert objects.found[0]["after"] == '"x'


def test_a_very_long_string_of_nothing_but_escapes_is_left_out_whole() -> None:
    objects = objects_in(b'{"text": "' + b"\\u0041" * 400_000 + b'"}')
    assert objects.found == ({"text": " [… 2400000 bytes left out …] "},)


def test_strings_in_a_short_line_are_kept_whole() -> None:
    text = "x" * (LONG_STRING_BYTES * 2)
    assert objects_in(json.dumps({"text": text}).encode()).found == ({"text": text},)
