"""P25: lines of a file of any size."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

from hypothesis import given, settings, strategies as st

from agent_memory.adapters.disk.lines import Line, LongLine, read_lines


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


def test_a_line_of_fifty_megabytes_is_skipped_in_a_fraction_of_them(tmp_path: Path) -> None:
    """P25"""
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


def test_a_line_is_held_until_the_reader_lets_it_go(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"a" * 10 + b"\n" + b"b" * 10 + b"\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        first, second = read_lines(descriptor, 22)
    finally:
        os.close(descriptor)
    assert (first, second) == (Line(b"a" * 10), Line(b"b" * 10))


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
