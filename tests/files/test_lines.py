"""Lines of a file of any size, and the JSON in them (P25)."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.files.json_lite import json_object, scan_json, scan_members
from agent_memory.files.lines import LONG_STRING_BYTES, Line, LongLine, Objects, objects_in, read_lines


def lines_of(path: Path, max_line_bytes: int = 1_000, size_bytes: int | None = None) -> list[tuple[bytes, bool] | int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size if size_bytes is None else size_bytes
        found = list(read_lines(descriptor, size, max_line_bytes))
    finally:
        os.close(descriptor)
    return [line.size_bytes if isinstance(line, LongLine) else (bytes(line.data), line.finished) for line in found]


@settings(max_examples=60)
@given(
    parts=st.lists(st.binary(max_size=40).map(lambda part: part.replace(b"\n", b".")), max_size=12),
    max_line_bytes=st.integers(1, 30),
)
def test_lines_are_those_of_the_file_whatever_the_longest(parts: list[bytes], max_line_bytes: int) -> None:
    path = Path("scratch.bin")  # in the directory of the test
    path.write_bytes(b"\n".join(parts))
    found = lines_of(path, max_line_bytes)
    finished = [True] * (len(parts) - 1) + [False]
    assert found == [
        (part, ended) if len(part) <= max_line_bytes else len(part)
        for part, ended in zip(parts, finished, strict=False)
        if part
    ]


def test_what_is_appended_meanwhile_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert lines_of(path, size_bytes=6) == [(b"one", True), (b"tw", False)]


def test_a_line_of_fifty_megabytes_is_skipped_in_a_fraction_of_them_p25(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
        file.seek(0, os.SEEK_END)
        file.write(b"\nshort\n")
    tracemalloc.start()
    try:
        found = lines_of(path, 4 * 1024 * 1024)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == [50 * 1024 * 1024, (b"short", True)]
    assert peak_bytes < 12 * 1024 * 1024


def test_empty_lines_are_kept_where_they_count(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\n\n\nb\n\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found = [line.data for line in read_lines(descriptor, 6, keep_empty=True) if isinstance(line, Line)]
        os.lseek(descriptor, 0, os.SEEK_SET)
        assert [line.data for line in read_lines(descriptor, 6) if isinstance(line, Line)] == [b"a", b"b"]
    finally:
        os.close(descriptor)
    assert found == [b"a", b"", b"", b"b"]


# -- the objects in a line of a transcript -----------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"{" * 200_000, b"[" * 200_000, b'{"a":' * 50_000, b'{"n": ' + b"9" * 5_000 + b"}"])
def test_a_bomb_is_a_broken_line(line: bytes) -> None:
    assert objects_in(line).broken


@pytest.mark.parametrize("escape", ["\\n", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", ""])
def test_of_a_very_long_string_both_ends_are_kept_p25(escape: str) -> None:
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


# -- JSON without the json module --------------------------------------------------------------------------------------


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=5)


@given(values, st.sampled_from([None, 2]))
@settings(max_examples=100)
def test_it_reads_what_json_reads(value: object, indent: int | None) -> None:
    assert scan_json(f" \n{json.dumps(value, indent=indent)}\t") == value


@pytest.mark.parametrize("text", ["", " ", "{", '{"a":1}x', '{"a":1}{"b":2}', "nul", '"\n"', "[1,]", "'a'"])
def test_it_refuses_what_json_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        scan_json(text)


def test_a_depth_bomb_is_an_error_not_a_crash() -> None:
    with pytest.raises(RecursionError):
        scan_json("[" * 200_000)
    assert scan_members('{"a": 1, "b": ' + "[" * 200_000, frozenset("ab")) == {"a": 1}


members = st.recursive(
    st.dictionaries(st.text(), st.text() | st.integers(), max_size=4),
    lambda inner: st.dictionaries(st.text(), st.text() | inner, max_size=4),
    max_leaves=4,
)


@given(members)
@settings(max_examples=100)
def test_it_writes_what_json_writes(document: dict[str, object]) -> None:
    assert json_object(document) == json.dumps(document, ensure_ascii=False)


@given(objects, st.integers(0, 200))
@settings(max_examples=100)
def test_the_members_before_a_cut_are_true_ones(document: dict[str, object], cut: int) -> None:
    text = json.dumps(document)[:cut]
    found = scan_members(text, frozenset(document))
    assert found == {key: document[key] for key in found}


def test_only_the_outermost_members_count() -> None:
    text = '{"tool": {"session_id": "wrong"}, "text": "\\"session_id\\": \\"wrong\\"", "session_id": "right", "x": "cut'
    assert scan_members(text, frozenset(["session_id"])) == {"session_id": "right"}


def test_a_line_end_of_windows_and_a_byte_order_mark_do_no_harm() -> None:
    assert objects_in(b'\xef\xbb\xbf{"a": 1}\r') == Objects(({"a": 1},))
